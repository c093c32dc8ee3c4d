import { Validator } from '@seriousme/openapi-schema-validator';
import t, { test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../plugin/host/host-stage.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { decodeDocument, schemasOf } from './gnostic.ts';
import { oddModule } from './odd-types.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- documents are matched, not typed
type Members = Record<string, any>;

const plugins = { shop: { 'plugin.yaml': manifestYaml('shop', { main: 'main.mjs' }), 'main.mjs': oddModule } };

let server: TestServer;

t.before(async () => {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, plugins);
  server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
});

t.teardown(async () => server.remove());

async function jsonOf(path: string): Promise<Members> {
  const answer = await server.call(path);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status.toString()} ${await answer.text()}`);
  return (await answer.json()) as Members;
}

/** Problems found by the validator, and references that lead nowhere. */
async function problemsOf(document: Members): Promise<readonly unknown[]> {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  return [...(valid ? [] : [errors]), ...danglingIn(document)];
}

function danglingIn(document: Members): readonly string[] {
  const dangling: string[] = [];
  const visit = (value: unknown, isSample: boolean): void => {
    if (Array.isArray(value)) {
      for (const one of value) visit(one, isSample);
    } else if (typeof value === 'object' && value !== null) {
      const { $ref } = value as Members;
      if (typeof $ref === 'string' && !isSample && resolved(document, $ref) === undefined) dangling.push($ref);
      for (const [member, inner] of Object.entries(value)) visit(inner, isSample || member === 'default');
    }
  };
  visit(document, false);
  return dangling;
}

function resolved(document: Members, ref: string): unknown {
  return decodeURIComponent(ref)
    .split('/')
    .slice(1)
    .reduce<Members | undefined>(
      (value, part) => value?.[part.replaceAll('~1', '/').replaceAll('~0', '~')] as Members | undefined,
      document,
    );
}

function operationsIn({ paths }: Members): readonly Members[] {
  return Object.values(paths as Members).flatMap((item: Members) => Object.values(item)) as Members[];
}

test('every document passes the validator, with odd types beside ordinary ones', async (t) => {
  const index = await jsonOf('/openapi/v3');
  const keys = Object.keys(index['paths'] as object);
  for (const key of ['apis/shop.example/v1alpha1', 'api/v1alpha1', 'version', 'apis/authorization.k8s.io/v1'])
    t.ok(keys.includes(key), key);
  for (const key of keys) {
    const document = await jsonOf(`/openapi/v3/${key}`);
    t.equal(document['openapi'], '3.0.3', key);
    t.strictSame(await problemsOf(document), [], key);
  }
  for (const path of ['/openapi/v2', '/v3/api-docs']) t.strictSame(await problemsOf(await jsonOf(path)), [], path);
});

test('a group’s document has its operations as kubectl reads them', async (t) => {
  const { paths, components } = await jsonOf('/openapi/v3/apis/shop.example/v1alpha1');
  const item = paths['/apis/shop.example/v1alpha1/widgets/{name}'] as Members;
  const { patch } = item as { patch: Members };
  t.strictSame(Object.keys(patch['requestBody'].content as object).sort(), [
    'application/json-patch+json',
    'application/merge-patch+json',
  ]);
  t.strictSame(patch['x-kubernetes-group-version-kind'], {
    group: 'shop.example',
    version: 'v1alpha1',
    kind: 'Widget',
  });
  t.equal(patch['x-kubernetes-action'], 'patch');
  t.strictSame(
    (patch['parameters'] as Members[]).map(({ name }) => name),
    ['name', 'dryRun', 'fieldManager', 'fieldValidation'],
  );
  t.ok(paths['/apis/shop.example/v1alpha1/widgets/{name}/status']);
  t.notOk(paths['/apis/shop.example/v1alpha1/odds/{name}/status']);
  const widget = components.schemas['example.shop.v1alpha1.Widget'] as Members;
  t.strictSame(widget['x-kubernetes-group-version-kind'], [
    { group: 'shop.example', version: 'v1alpha1', kind: 'Widget' },
  ]);
  const { size, color, mode, parent, pair } = widget['properties'].spec.properties as Members;
  t.match(size, { minimum: 0, exclusiveMinimum: true });
  t.match(color, { type: 'string', nullable: true, enum: ['red', 'blue', null] });
  t.strictSame(mode, { enum: ['fixed'] });
  t.match(parent, { allOf: [{ $ref: '#/components/schemas/example.shop.v1alpha1.Widget.part' }] });
  t.strictSame(pair, { type: 'array', items: {}, minItems: 2 });
  const { metadata } = widget['properties'] as Members;
  const meta = resolved({ components }, metadata.allOf[0].$ref as string) as Members;
  const object = (await (
    await server.call('/apis/shop.example/v1alpha1/widgets', {
      method: 'POST',
      body: { metadata: { name: 'one', labels: { a: 'b' }, finalizers: ['a.example/b'] }, spec: { size: 1 } },
    })
  ).json()) as Members;
  for (const member of Object.keys(object['metadata'] as object)) t.ok(meta['properties'][member], member);
});

test('operation ids are unique, and the plain one belongs to one of two kinds with one name', async (t) => {
  const document = await jsonOf('/v3/api-docs');
  t.equal(document['openapi'], '3.1.0');
  const ids = operationsIn(document).map(({ operationId }) => operationId as string);
  t.equal(new Set(ids).size, ids.length);
  for (const id of ['listWidget', 'createWidget', 'getWidget', 'updateWidget', 'patchWidget', 'deleteWidget'])
    t.ok(ids.includes(id), id);
  t.ok(ids.includes('listWidgetTwinExampleV1alpha1'));
  t.strictSame(document['paths']['/apis/shop.example/v1alpha1/widgets'].get.tags, ['WidgetV1alpha1']);
});

test('the whole document has every route that is served', async (t) => {
  const document = await jsonOf('/v3/api-docs');
  const described = new Set(
    Object.entries(document['paths'] as Record<string, Members>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/gu, '{}')}`),
    ),
  );
  const served = server.routes().filter(({ method }) => method !== 'HEAD');
  for (const { method, pattern } of served)
    t.ok(described.has(`${method} ${pattern.replaceAll(/\{\w+\}/gu, '{}')}`), `${method} ${pattern}`);
  const paint = document['paths']['/apis/api.shop.example/v1alpha1/widgets/{name}/paint'].post as Members;
  t.equal(paint['summary'], 'Paint a widget');
  t.equal(paint['operationId'], 'postWidgetsByNamePaint');
  t.match(paint['parameters'], [
    { name: 'name', in: 'path' },
    { name: 'times', in: 'query' },
  ]);
  t.ok(paint['responses']['202']);
});

test('the hash of a document addresses it for good, and 304 answers a client that has it', async (t) => {
  const { paths } = await jsonOf('/openapi/v3');
  const url = paths['apis/shop.example/v1alpha1'].serverRelativeURL as string;
  const hashed = await server.call(url);
  t.match(hashed.headers.get('cache-control'), /immutable/u);
  const plain = await server.call('/openapi/v3/apis/shop.example/v1alpha1');
  t.match(plain.headers.get('cache-control'), /no-cache/u);
  const etag = plain.headers.get('etag') ?? '';
  t.equal(hashed.headers.get('etag'), etag);
  t.ok(url.endsWith(`?hash=${etag.slice(1, -1)}`));
  t.match((await server.call(`${url}0`)).headers.get('cache-control'), /no-cache/u);
  const all = ['/openapi/v3', '/openapi/v2', '/v3/api-docs', url, '/openapi/v3/version'];
  for (const path of all) {
    const tag = (await server.call(path)).headers.get('etag') ?? '';
    const known = await server.call(path, { headers: { 'if-none-match': `"other", W/${tag}` } });
    t.equal(known.status, 304, path);
    t.equal(known.headers.get('etag'), tag);
    const inYaml = { 'if-none-match': tag, accept: 'application/yaml' };
    t.equal((await server.call(path, { headers: inYaml })).status, 200, `${path}: the tag is that of the JSON`);
    t.equal((await server.call(path, { headers: { 'if-none-match': '"other"' } })).status, 200);
  }
  t.equal((await server.call('/openapi/v3/apis/none.example/v1')).status, 404);
});

test('the document of version 2 is the same in protobuf and in JSON', async (t) => {
  const json = await jsonOf('/openapi/v2');
  for (const accept of [
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf, application/json;q=0.5',
  ]) {
    const answer = await server.call('/openapi/v2', { headers: { accept } });
    t.equal(answer.headers.get('content-type'), 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    t.equal(answer.headers.get('vary'), 'Accept');
    const decoded = decodeDocument(Buffer.from(await answer.arrayBuffer())) as Members;
    t.equal(decoded['swagger'], '2.0');
    t.strictSame(schemasOf(decoded['definitions']), json['definitions']);
    const items = decoded['paths'].path as { readonly name: string; readonly value: Members }[];
    t.strictSame(
      items.map(({ name }) => name),
      Object.keys(json['paths'] as object),
    );
    const place = '/apis/shop.example/v1alpha1/widgets/{name}';
    const patch = items.find(({ name }) => name === place)?.value['patch'] as Members;
    t.strictSame(JSON.parse(patch['vendorExtension'][1].value.yaml as string), {
      group: 'shop.example',
      version: 'v1alpha1',
      kind: 'Widget',
    });
    t.strictSame(patch['consumes'], ['application/json-patch+json', 'application/merge-patch+json']);
    const parameters = (patch['parameters'] as Members[]).map(({ parameter }) => parameter as Members);
    t.match(parameters[0]?.['nonBodyParameter'].pathParameterSubSchema, { name: 'name', in: 'path', required: true });
    t.match(parameters[1]?.['nonBodyParameter'].queryParameterSubSchema, { name: 'dryRun', in: 'query' });
    t.match(parameters.at(-1)?.['bodyParameter'], { name: 'body', in: 'body' });
    t.equal(
      patch['responses'].responseCode[0].value.response.schema.schema.ref,
      '#/definitions/example.shop.v1alpha1.Widget',
    );
  }
  for (const accept of ['application/json', '*/*', 'application/json, application/com.github.x+protobuf'])
    t.equal(
      (await server.call('/openapi/v2', { headers: { accept } })).headers.get('content-type'),
      'application/json',
    );
});

test('a visitor is asked to log in, and any user reads the documents', async (t) => {
  for (const path of ['/openapi/v3', '/openapi/v2', '/openapi/v3/apis/shop.example/v1alpha1', '/v3/api-docs']) {
    const visitor = await fetch(`${server.url}${path}`);
    t.equal(visitor.status, 401, path);
    t.ok(visitor.headers.get('www-authenticate'));
  }
  const password = 'the password of ada';
  const body = { metadata: { name: 'ada' }, spec: { password } };
  t.equal((await server.call('/api/v1alpha1/users', { method: 'POST', body })).status, 201);
  const authorization = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
  for (const path of ['/openapi/v3', '/openapi/v2', '/openapi/v3/apis/shop.example/v1alpha1', '/v3/api-docs'])
    t.equal((await fetch(`${server.url}${path}`, { headers: { authorization } })).status, 200, path);
});

test('a stopped plugin’s types leave the documents, and other groups keep their hashes', async (t) => {
  const before = (await jsonOf('/openapi/v3'))['paths'] as Members;
  const stopped = await server.call('/apis/plugin.svc.run/v1alpha1/plugins/shop', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { enabled: false } },
  });
  t.equal(stopped.status, 200);
  await t.resolves(
    (async () => {
      while (server.routes().some(({ pattern }) => pattern.includes('shop.example')))
        await new Promise((resolve) => setImmediate(resolve));
    })(),
  );
  const after = (await jsonOf('/openapi/v3'))['paths'] as Members;
  t.notOk(after['apis/shop.example/v1alpha1']);
  t.strictSame(after['api/v1alpha1'], before['api/v1alpha1']);
  const { paths } = await jsonOf('/v3/api-docs');
  t.notOk(Object.keys(paths as object).some((path) => path.includes('shop.example')));
});
