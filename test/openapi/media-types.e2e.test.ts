/** The media types that the API documents name are those that the server reads and answers. */
import t, { test } from 'tap';

import { manifestYaml, temporaryFolder, writePlugins } from '../plugin/host/host-stage.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../support/server/start-server.ts';
import { oddModule } from './odd-types.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- documents are matched, not typed
type Members = Record<string, any>;

let server: TestServer;
const group = '/apis/shop.example/v1alpha1';
const widget = { metadata: { name: 'one' }, spec: { size: 1 } };

t.before(async () => {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, {
    shop: { 'plugin.yaml': manifestYaml('shop', { main: 'main.mjs' }), 'main.mjs': oddModule },
  });
  server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  const made = await server.call(`${group}/widgets`, { method: 'POST', body: widget });
  t.equal(made.status, 201, await made.text());
});

t.teardown(async () => server.remove());

async function documentAt(path: string): Promise<Members> {
  return (await (await server.call(path)).json()) as Members;
}

type Described = { readonly method: string; readonly path: string; readonly operation: Members };

/** Every operation but those of plugins' routes, which are plugin code, about the object `one`. */
async function operations(): Promise<readonly Described[]> {
  const { paths } = await documentAt('/v3/api-docs');
  return Object.entries(paths as Record<string, Members>)
    .filter(([path]) => !/\/apis\/(?:[a-z.]+\.)?api\.(?:content|shop)/u.test(path))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.replace('{name}', 'one'),
        operation: operation as Members,
      })),
    );
}

function typesIn(body: Members | undefined): readonly string[] {
  return Object.keys((body?.['content'] ?? {}) as object).sort();
}

test('an operation that reads is answered in each media type that it names', async (t) => {
  const reads = (await operations()).filter(({ method, path }) => method === 'GET' && !path.includes('{'));
  let answers = 0;
  for (const { path, operation } of reads) {
    const types = typesIn(operation['responses']['200']);
    for (const type of types) {
      const answer = await server.call(path, { headers: { accept: type } });
      await answer.arrayBuffer();
      // Of nothing that exists, or without a parameter that it needs.
      if (answer.status === 404 || answer.status === 400) continue;
      t.equal(answer.headers.get('content-type')?.split(';')[0], type, `${path} as ${type}`);
      answers += 1;
    }
    const inYaml = await server.call(path, { headers: { accept: 'application/yaml' } });
    await inYaml.arrayBuffer();
    const isYaml = inYaml.headers.get('content-type') === 'application/yaml';
    if (inYaml.status === 200) t.equal(types.includes('application/yaml'), isYaml, `${path}: YAML is named`);
  }
  t.ok(answers > 50, answers.toString());
});

const bodies = new Map([
  ['application/json', '{'],
  ['application/yaml', 'a: ['],
  ['application/vnd.kubernetes.protobuf', 'k8s'],
  ['application/json-patch+json', '{'],
  ['application/merge-patch+json', '['],
  ['application/strategic-merge-patch+json', '{'],
  ['application/apply-patch+yaml', 'a: ['],
  ['application/x-www-form-urlencoded', '%'],
]);

test('an operation that takes a body takes the media types that it names, and no others', async (t) => {
  const writes = (await operations()).filter(
    ({ path, operation }) =>
      operation['requestBody'] !== undefined &&
      (path.startsWith(`${group}/widgets`) || path.includes('.k8s.io/') || path.includes('/uc.api.')),
  );
  t.ok(writes.length > 15, writes.length.toString());
  for (const { method, path, operation } of writes) {
    const types = typesIn(operation['requestBody']);
    for (const [type, body] of bodies) {
      const answer = await fetch(server.url + path, {
        method,
        headers: { authorization: adminAuthorization, 'content-type': type },
        body,
      });
      if (answer.status === 404) continue;
      const what = `${method} ${path} ${type}: ${String(answer.status)}`;
      t.equal(answer.status === 415, !types.includes(type), what);
      t.ok(answer.status >= 400 && answer.status < 500, what);
    }
  }
});

test('a PATCH names exactly the served patches, and objects are in JSON and YAML, in all documents', async (t) => {
  const both = ['application/json', 'application/yaml'];
  const patches = ['application/json-patch+json', 'application/merge-patch+json'];
  for (const document of ['/v3/api-docs', `/openapi/v3${group}`]) {
    const { paths } = await documentAt(document);
    for (const path of ['', '/status', '/scale'].map((part) => `${group}/widgets/{name}${part}`)) {
      const { get, put, patch } = paths[path] as { get: Members; put: Members; patch: Members };
      t.strictSame(typesIn(patch['requestBody']), patches, `${document} ${path}`);
      t.strictSame(typesIn(put['requestBody']), both);
      for (const each of [get, put, patch]) t.strictSame(typesIn(each['responses']['200']), both);
    }
    t.match(paths[`${group}/widgets`].get.description, /as=Table;v=v1;g=meta\.k8s\.io/u);
  }
  const { paths } = await documentAt('/openapi/v2');
  const { put, patch } = paths[`${group}/widgets/{name}`] as { put: Members; patch: Members };
  t.strictSame(patch['consumes'], patches);
  t.strictSame(put['consumes'], both);
  t.strictSame([...(put['produces'] as string[])].sort(), [...both, 'application/problem+json'].sort());
});

test('the scale of a type that has one is described as autoscaling/v1 Scale, and of no other type', async (t) => {
  const { paths, components } = await documentAt(`/openapi/v3${group}`);
  const scale = paths[`${group}/widgets/{name}/scale`] as Members;
  const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  for (const method of ['get', 'put', 'patch'])
    t.strictSame(scale[method]['x-kubernetes-group-version-kind'], kind, method);
  t.equal(scale['get'].operationId, 'getWidgetScale');
  const schema = { $ref: '#/components/schemas/io.k8s.api.autoscaling.v1.Scale' };
  t.strictSame(scale['get'].responses['200'].content['application/json'].schema, schema);
  t.strictSame(scale['put'].requestBody.content['application/yaml'].schema, schema);
  const described = components.schemas['io.k8s.api.autoscaling.v1.Scale'] as Members;
  t.strictSame(described['x-kubernetes-group-version-kind'], [kind]);
  const answer = (await (await server.call(`${group}/widgets/one/scale`)).json()) as Members;
  for (const member of Object.keys(answer)) t.ok(described['properties'][member], member);
  t.notOk(paths[`${group}/odds/{name}/scale`]);
  const core = await documentAt('/openapi/v3/api/v1alpha1');
  t.notOk(core['components'].schemas['io.k8s.api.autoscaling.v1.Scale']);
  t.ok((await documentAt('/openapi/v2'))['definitions']['io.k8s.api.autoscaling.v1.Scale']);
});
