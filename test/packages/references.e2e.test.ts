/** Packages with objects that name each other. */
import { test, type Test } from 'tap';

import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { packageOf } from './archives.ts';
import { install, upgrade } from './package-requests.ts';

const group = 'boxes.example.com';
const main = `
  const type = (kind, references) => ({ group: '${group}', version: 'v1', kind, singular: kind.toLowerCase(),
    plural: kind.toLowerCase() + 's', references, schema: { type: 'object', properties: { spec: {
      type: 'object', properties: { box: { type: 'string' }, inside: { type: 'string' } } } } } });
  const to = 'boxs.${group}';
  export default { types: [
    type('Thing', [{ field: 'spec.box', to, onMissing: 'refuse', onDelete: 'cascade' }]),
    type('Box', [{ field: 'spec.inside', to, onMissing: 'refuse', onDelete: 'cascade' }]) ] };`;

const shipped = (kind: string, name: string, spec: string): string =>
  `apiVersion: ${group}/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`;

function boxes(files: Readonly<Record<string, string>>): Buffer {
  const all = { 'main.js': main, 'package.json': '{"type":"module"}', ...files };
  return packageOf('boxes', { files: all, more: '  main: main.js\n' });
}

async function started(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  return server;
}

test('objects of a package may name each other, in any order of the files', async (t) => {
  const server = await started(t);
  const installed = await install(
    server,
    boxes({
      'extensions/a.yaml': shipped('Thing', 'lamp', 'box: small'),
      'extensions/b.yaml': shipped('Box', 'small', 'inside: large'),
      'extensions/c.yaml': shipped('Box', 'large', ''),
    }),
  );
  t.match(installed, { status: 201, body: { status: { phase: 'started' } } }, JSON.stringify(installed.body));
  t.match(await (await server.call(`/apis/${group}/v1/things/lamp`)).json(), { spec: { box: 'small' } });
});

test('an object that names no object of the package or the server refuses the package', async (t) => {
  const server = await started(t);
  const files = { 'extensions/a.yaml': shipped('Thing', 'lamp', 'box: none') };
  t.match(await install(server, boxes(files)), {
    status: 422,
    body: {
      message:
        'the package is refused: extensions/a.yaml: Thing lamp: spec.box must name an existing object: ' +
        `boxs.${group} "none" does not exist`,
    },
  });
});

test('objects that name each other in a circle are reported when the plugin starts', async (t) => {
  const server = await started(t);
  const files = {
    'extensions/a.yaml': shipped('Box', 'first', 'inside: second'),
    'extensions/b.yaml': shipped('Box', 'second', 'inside: first'),
  };
  t.match(await install(server, boxes(files)), {
    status: 201,
    body: {
      status: {
        phase: 'failed',
        conditions: [
          {
            reason: 'ObjectsRefused',
            message:
              'extensions/b.yaml: Box second: Box.boxes.example.com "second" is invalid: spec.inside: must name an ' +
              `existing object: boxs.${group} "first" does not exist`,
          },
        ],
      },
    },
  });
});

test('an object that the next version ships in another version of its type is the same object', async (t) => {
  const server = await started(t);
  const shipping = (version: string, served: string): Buffer =>
    packageOf('boxes', {
      files: {
        'main.js': main.replaceAll("version: 'v1'", `version: '${served}'`),
        'package.json': '{"type":"module"}',
        'extensions/a.yaml': shipped('Box', 'kept', '').replace('/v1', `/${served}`),
        'extensions/b.yaml': shipped('Box', 'starter', '')
          .replace('/v1', `/${served}`)
          .replace('starter }', "starter, annotations: { plugin.${domain}/create-once: 'true' } }"),
      },
      more: '  main: main.js\n',
      version,
    });
  const path = (version: string, name: string): string => `/apis/${group}/${version}/boxs/${name}`;
  t.equal((await install(server, shipping('1.0.0', 'v1'))).status, 201);
  const { metadata } = (await (await server.call(path('v1', 'kept'))).json()) as {
    readonly metadata: { readonly uid: string };
  };
  t.equal((await server.call(path('v1', 'starter'), { method: 'DELETE' })).status, 200);
  t.match(await upgrade(server, 'boxes', shipping('2.0.0', 'v2')), {
    status: 200,
    body: { status: { phase: 'started', applied: [{ apiVersion: `${group}/v2`, names: ['kept', 'starter'] }] } },
  });
  t.match(await (await server.call(path('v2', 'kept'))).json(), { metadata: { uid: metadata.uid } });
  t.equal((await server.call(path('v2', 'starter'))).status, 404, 'as the user left it');
});
