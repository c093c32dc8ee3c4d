/** Upgrades that bring a new version of a type with functions that convert, and a migration. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';

import { runCommandLine } from '../support/server/command-line.ts';
import { startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { packageOf } from './archives.ts';
import { conditionOf, dryRun, install, pluginWhere, upgrade } from './package-requests.ts';

t.setTimeout(240_000);

const group = 'links.example.com';
const key = `links.${group}`;
const [alpha, beta] = [`/apis/${group}/v1alpha1/links`, `/apis/${group}/v1beta1/links`];

const schemaOf = (member: string, more = ''): string => `{ type: 'object', required: ['spec'], properties: { spec: {
  type: 'object', required: ['${member}', ${more}], additionalProperties: false, properties: {
    ${member}: { type: 'string' }, tag: { type: 'string' }, note: { type: 'string' } } } } }`;
const names = `group: '${group}', kind: 'Link', singular: 'link', plural: 'links'`;

function packed(version: string, main: string, more: Readonly<Record<string, string>>): Buffer {
  const files = { 'main.js': main, 'package.json': '{"type":"module"}', ...more };
  return packageOf('links', { files, more: '  main: main.js\n', version });
}

/** The file with a link that a package ships. */
function docs(version: string, spec: object): Readonly<Record<string, string>> {
  const object = { apiVersion: `${group}/${version}`, kind: 'Link', metadata: { name: 'docs' }, spec };
  return { 'extensions/docs.yaml': JSON.stringify(object) };
}

function first(more: Readonly<Record<string, string>> = {}): Buffer {
  return packed(
    '1.0.0',
    `export default { types: [{ ${names}, version: 'v1alpha1', schema: ${schemaOf('url')} }] };`,
    more,
  );
}

type Second = {
  readonly version: string;
  /** Lines of the function that converts up, before it renames. The first one is line 3. */
  readonly up?: string;
  /** Further required members of v1beta1. */
  readonly required?: string;
  /** Further files. */
  readonly more?: Readonly<Record<string, string>>;
};

/** `url` becomes `target`, and a migration writes tags in lower case. */
function second({ version, up = '', required = '', more = {} }: Second): Buffer {
  return packed(
    version,
    `const urlToTarget = { from: 'v1alpha1', to: 'v1beta1',
up({ spec: { url, ...spec }, ...link }) {
${up}
return { ...link, spec: { ...spec, target: url } };
},
down: ({ spec: { target, ...spec }, ...link }) => ({ ...link, spec: { ...spec, url: target } }) };
const link = { ${names}, version: 'v1beta1', schema: ${schemaOf('target', required)},
  indexes: [{ name: 'spec.target' }], convert: [urlToTarget], versions: [
    { name: 'v1alpha1', schema: ${schemaOf('url', required)},
      examples: [{ spec: { url: 'https://example.com', tag: 'a' , note: 'b' } }] },
    { name: 'v1beta1', examples: [{ spec: { target: 'https://example.com', tag: 'a', note: 'b' } }] } ] };
const lowerTag = { id: 'lower-tag', type: link, up: ({ spec, ...rest }) =>
  ({ ...rest, spec: { ...spec, tag: spec.tag.toLowerCase(), note: spec.note ?? 'none' } }) };
export default { types: [link], migrations: [lowerTag] };`,
    more,
  );
}

const strict = "if (url.startsWith('odd')) throw new Error(`no address: ${url}`);";

async function filled(t: Test, more: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  t.equal((await install(server, first(more))).status, 201);
  for (const name of ['a', 'b', 'odd']) {
    const body = { metadata: { name }, spec: { url: `${name}.example`, tag: 'News' } };
    t.equal((await server.call(alpha, { method: 'POST', body })).status, 201);
  }
  return server;
}

async function shown(server: TestServer, path: string): Promise<unknown> {
  return (await server.call(path)).json();
}

const problem =
  `the conversion from ${group}/v1alpha1 to ${group}/v1beta1 threw: ` + 'no address: odd.example (at main.js:3)';

test('a check names the object whose conversion throws, with the place, and no member that it converts', async (t) => {
  const server = await filled(t);
  const dry = await dryRun(server, second({ version: '2.0.0', up: strict }), 'links');
  t.equal(dry.status, 200, JSON.stringify(dry.body));
  t.match(dry.body['status'].upgrade, {
    required: [],
    migrations: [{ id: 'lower-tag', changes: 2 }],
    objects: [{ type: key, stored: 3, checked: 3, invalid: 0, failing: 1 }],
    invalid: [{ name: 'odd', errors: [{ pointer: '', detail: problem }] }],
  });
  t.same(dry.body['status'].upgrade.required, []);
  t.equal(dry.body['status'].upgrade.invalid.length, 1);

  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-conversions-'));
  t.teardown(async () => rm(folder, { recursive: true }));
  const file = join(folder, 'links-2.0.0.tgz');
  await writeFile(file, second({ version: '2.0.0', up: strict }));
  const line = runCommandLine(['plugin', 'upgrade', 'links', file, '--check'], {
    cwd: server.dataDir,
    env: { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword },
  });
  t.equal(await line.exited(), 1);
  t.equal(
    line.stdout(),
    [
      `new index to build: spec.target of ${key}`,
      `migration: lower-tag changes 2 objects of ${key}`,
      `failing: 1 of 3 objects of ${key}: the conversion or a migration fails`,
      `  odd: ${problem}`,
      '',
    ].join('\n'),
  );
  t.equal(line.stderr(), 'ledgerplane: 1 stored object fails in a conversion or a migration\n');
});

test('a check lists required members that stored objects lack, and those that only requests must add', async (t) => {
  const server = await filled(t);
  const lacking = second({ version: '2.0.0', required: "'tag', 'label'" }).toString('base64');
  t.match(await dryRun(server, Buffer.from(lacking, 'base64'), 'links'), {
    status: 422,
    body: { message: /examples of v1alpha1\[0\]: \/spec\/label is required/u },
  });
  t.match(await dryRun(server, second({ version: '2.0.0', up: "throw new Error('never');" }), 'links'), {
    status: 422,
    body: {
      message: /examples of v1alpha1\[0\]: the conversion .* threw: never; .* every valid object \(at main\.js:3\)/u,
    },
  });
  const next = second({ version: '2.0.0', required: "'note'" });
  t.same((await dryRun(server, next, 'links')).body['status'].upgrade.required, [], 'the migration supplies it');
  t.equal((await upgrade(server, 'links', second({ version: '2.0.0' }))).status, 200);
  await pluginWhere(server, 'links', (plugin) => plugin.status?.migrations?.[0]?.phase === 'done');
  const later = await dryRun(server, second({ version: '2.1.0', required: "'note'" }), 'links');
  t.same(later.body['status'].upgrade.required, [{ type: key, pointer: '/spec/note', lacking: 0 }]);
});

test('an object that cannot be converted stays as it is until a corrected package, and all others go on', async (t) => {
  const server = await filled(t);
  t.match(await upgrade(server, 'links', second({ version: '2.0.0', up: strict })), {
    status: 200,
    body: { status: { phase: 'started', version: '2.0.0' } },
  });
  const failing = await pluginWhere(
    server,
    'links',
    (plugin) =>
      conditionOf(plugin, 'MigrationFailing') !== undefined && conditionOf(plugin, 'ObjectsInvalid') !== undefined,
  );
  t.match(conditionOf(failing, 'MigrationFailing'), {
    message: `lower-tag: 1 object fails in ${key}, the first is "odd": cannot run: ${problem}`,
  });
  t.equal(
    conditionOf(failing, 'ObjectsUnconverted')?.message,
    `objects that cannot be converted are shown in their stored version, until a new version of the plugin converts ` +
      `them: ${key}: the first of the objects is "odd": ` +
      problem,
  );
  t.match(
    conditionOf(failing, 'ObjectsInvalid')?.message,
    /1 object breaks the schema, the first is "odd": the conversion/u,
  );
  const migrated = { target: 'a.example', tag: 'news', note: 'none' };
  t.match(await shown(server, `${beta}/a`), { apiVersion: `${group}/v1beta1`, spec: migrated });
  t.match(await shown(server, `${alpha}/a`), { spec: { url: 'a.example', tag: 'news' } }, 'older clients are served');
  const stored = { apiVersion: `${group}/v1alpha1`, spec: { url: 'odd.example', tag: 'News' } };
  t.match(await shown(server, `${beta}/odd`), stored);
  t.match(await shown(server, `${beta}?sort=metadata.name`), {
    items: [{ spec: migrated }, { spec: { ...migrated, target: 'b.example' } }, stored],
  });
  t.equal((await server.call(beta, { method: 'POST', body: newLink })).status, 201, 'writes are served');

  const again = await server.restart();
  t.teardown(async () => again.remove());
  t.match(await shown(again, `${beta}/odd`), stored, 'nothing is lost');
  t.match(await upgrade(again, 'links', second({ version: '2.0.1' })), { status: 200 });
  const healed = await pluginWhere(
    again,
    'links',
    (plugin) =>
      plugin.status?.migrations?.[0]?.phase === 'done' &&
      ['MigrationFailing', 'ObjectsUnconverted', 'ObjectsInvalid'].every(
        (type) => conditionOf(plugin, type) === undefined,
      ),
  );
  t.match(healed, { status: { version: '2.0.1', migrations: [{ id: 'lower-tag', failed: 0 }] } });
  t.match(await shown(again, `${beta}/odd`), {
    apiVersion: `${group}/v1beta1`,
    spec: { target: 'odd.example', tag: 'news', note: 'none' },
  });
});

const newLink = { metadata: { name: 'new' }, spec: { target: 'new.example', tag: 'New' } };

test('an upgrade applies a shipped object in the new version, and keeps the change of a user', async (t) => {
  const server = await filled(t, docs('v1alpha1', { url: 'old.example', tag: 'docs', note: 'a' }));
  const merge = { 'content-type': 'application/merge-patch+json' };
  const changed = await server.call(`${alpha}/docs`, {
    method: 'PATCH',
    headers: merge,
    body: { spec: { note: 'mine' } },
  });
  t.equal(changed.status, 200);
  const next = docs('v1beta1', { target: 'new.example', tag: 'docs', note: 'a' });
  const dry = await dryRun(server, second({ version: '2.0.0', more: next }), 'links');
  t.match(dry, { status: 200, body: { status: { upgrade: { objects: [{ stored: 4, invalid: 0, failing: 0 }] } } } });
  t.match(await upgrade(server, 'links', second({ version: '2.0.0', more: next })), {
    status: 200,
    body: { status: { phase: 'started' } },
  });
  t.match(await shown(server, `${beta}/docs`), { spec: { target: 'new.example', tag: 'docs', note: 'mine' } });
  const plugin = await pluginWhere(server, 'links', ({ status }) => status?.migrations?.[0]?.phase === 'done');
  t.equal(conditionOf(plugin, 'ChangesKept'), undefined);
});
