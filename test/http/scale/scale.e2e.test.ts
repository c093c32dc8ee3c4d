/** The subresource `scale`: an object's number of replicas as `autoscaling/v1 Scale`. */
import t, { test } from 'tap';

import { Administration, as } from '../../support/server/administration.ts';
import { startTestServer } from '../../support/server/start-server.ts';
import { scaledPlugins } from './scaled-plugin.ts';

const server = await startTestServer({ environment: { PLUGINS_DIRS: await scaledPlugins(t) } });
t.teardown(() => server.remove());
const farm = '/apis/farm.example/v1';
const merge = { 'content-type': 'application/merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };

type Answered = { readonly status: number; readonly headers: Headers; readonly body: Shown };
type Shown = {
  readonly metadata: { readonly [member: string]: unknown; readonly resourceVersion: string; readonly uid: string };
  readonly spec: { readonly replicas?: number };
  readonly [member: string]: unknown;
};

async function call(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await server.call(`${farm}/${path}`, { method, body, headers });
  const text = await response.text();
  const shown = (text === '' ? {} : JSON.parse(text)) as Shown;
  return { status: response.status, headers: response.headers, body: shown } satisfies Answered;
}

async function given(path: string, members: object): Promise<Shown> {
  const [plural = '', name] = path.split('/');
  const made = await call('POST', plural, { metadata: { name }, ...members });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body;
}

test('a scale shows the numbers, the selector and the version of its object', async (t) => {
  await given('flocks/shown', { metadata: { name: 'shown', labels: { a: 'b' } }, spec: { replicas: 3, color: 'red' } });
  await call('PATCH', 'flocks/shown/status', { status: { ready: 2, selector: 'a=b' } }, merge);
  const object = (await call('GET', 'flocks/shown')).body;
  const { name, uid, version, resourceVersion, creationTimestamp } = object.metadata;
  const { status, headers, body } = await call('GET', 'flocks/shown/scale');
  t.equal(status, 200);
  t.strictSame(body, {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, uid, version, creationTimestamp, resourceVersion },
    spec: { replicas: 3 },
    status: { replicas: 2, selector: 'a=b' },
  });
  t.match(headers.get('etag'), new RegExp(`^"${String(version)}-`, 'u'));
  const again = { 'if-none-match': headers.get('etag') ?? '' };
  t.equal((await call('GET', 'flocks/shown/scale', undefined, again)).status, 304);
  const inYaml = await server.call(`${farm}/flocks/shown/scale`, { headers: { ...again, accept: 'application/yaml' } });
  t.equal(inYaml.status, 200, 'the tag is that of the JSON');
  t.equal((await call('GET', 'flocks/shown/scale', undefined, { 'if-match': '"999"' })).status, 412);
  t.equal((await call('HEAD', 'flocks/shown/scale')).status, 200);
  t.equal((await call('GET', 'flocks/shown/scale?resourceVersion=99999999')).status, 504);
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
  t.match((await call('GET', 'flocks/shown/scale', undefined, table)).body, { kind: 'Scale' });
});

test('numbers that are absent, or no numbers, are shown as 0', async (t) => {
  await given('nests/bare', { spec: { pool: { 'a/b': { replicas: 'many' } } }, status: { ready: 1 } });
  await given('nests/bald', {});
  t.match((await call('GET', 'nests/bare/scale')).body, { spec: { replicas: 0 }, status: { replicas: 1 } });
  const bald = (await call('GET', 'nests/bald/scale')).body;
  t.strictSame([bald['spec'], bald['status']], [{ replicas: 0 }, { replicas: 0 }]);
});

test('a patch of a scale changes that number of the object, and nothing else', async (t) => {
  const before = await given('flocks/patched', { spec: { replicas: 1, color: 'red' } });
  const merged = await call('PATCH', 'flocks/patched/scale', { spec: { replicas: 5 } }, merge);
  t.match([merged.status, merged.body], [200, { kind: 'Scale', spec: { replicas: 5 } }]);
  const after = (await call('GET', 'flocks/patched')).body;
  t.strictSame(after.spec, { replicas: 5, color: 'red' });
  t.equal(after.metadata['generation'], 2);
  t.equal(after.metadata.resourceVersion, merged.body.metadata.resourceVersion);
  t.not(after.metadata.resourceVersion, before.metadata.resourceVersion);
  const operations = [
    { op: 'test', path: '/spec/replicas', value: 5 },
    { op: 'replace', path: '/spec/replicas', value: 6 },
  ];
  t.match((await call('PATCH', 'flocks/patched/scale', operations, jsonPatch)).body, { spec: { replicas: 6 } });
  t.equal((await call('PATCH', 'flocks/patched/scale', operations, jsonPatch)).status, 422, 'the test fails now');
  const same = await call('PATCH', 'flocks/patched/scale', { spec: { replicas: 6 }, status: { replicas: 9 } }, merge);
  const unchanged = (await call('GET', 'flocks/patched')).body;
  t.equal(same.body.metadata.resourceVersion, unchanged.metadata.resourceVersion, 'no event without a change');
  t.equal(unchanged['status'], undefined, 'the status of a scale is not written');
});

test('missing objects on the way to the number are made', async (t) => {
  await given('nests/deep', { spec: { color: 'blue' } });
  t.match((await call('PATCH', 'nests/deep/scale', { spec: { replicas: 2 } }, merge)).body, { spec: { replicas: 2 } });
  t.strictSame((await call('GET', 'nests/deep')).body.spec, { color: 'blue', pool: { 'a/b': { replicas: 2 } } });
  await given('nests/blocked', { spec: { pool: { 'a/b': 'full' } } });
  const blocked = await call('PATCH', 'nests/blocked/scale', { spec: { replicas: 2 } }, merge);
  t.match([blocked.status, blocked.body['message']], [422, /the path leads through a value that is not an object/]);
});

test('a PUT of a scale honours the version and the uid that it names', async (t) => {
  const { metadata } = await given('flocks/put', { spec: { replicas: 1 } });
  const scale = (await call('GET', 'flocks/put/scale')).body;
  t.match((await call('PUT', 'flocks/put/scale', { ...scale, spec: { replicas: 4 } })).body, { spec: { replicas: 4 } });
  const stale = await call('PUT', 'flocks/put/scale', { ...scale, spec: { replicas: 5 } });
  t.match([stale.status, stale.body['reason']], [409, 'Conflict']);
  const bare = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'put' } };
  const foreign = { ...bare, metadata: { name: 'put', uid: '00000000-0000-4000-8000-000000000000' } };
  t.equal((await call('PUT', 'flocks/put/scale', { ...foreign, spec: { replicas: 5 } })).status, 409);
  t.equal(
    (await call('PUT', 'flocks/put/scale', { ...bare, spec: { replicas: 5 } }, { 'if-match': '"0"' })).status,
    412,
  );
  const stalePatch = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { replicas: 5 } };
  t.equal((await call('PATCH', 'flocks/put/scale', stalePatch, merge)).status, 409);
  t.match((await call('GET', 'flocks/put')).body.spec, { replicas: 4 });
  t.match((await call('PUT', 'flocks/put/scale', { ...bare, spec: {} })).body, { spec: { replicas: 0 } }, 'Go omits 0');
});

test('a malformed scale is refused, and nothing is written', async (t) => {
  const { metadata } = await given('flocks/kept', { spec: { replicas: 1 } });
  const scale = (await call('GET', 'flocks/kept/scale')).body;
  const cases: readonly (readonly [title: string, change: object, status: number, message: RegExp])[] = [
    ['a negative number', { spec: { replicas: -1 } }, 422, /spec\.replicas/],
    ['a fraction', { spec: { replicas: 1.5 } }, 422, /spec\.replicas/],
    ['a text', { spec: { replicas: '3' } }, 422, /spec\.replicas/],
    ['null', { spec: { replicas: null } }, 422, /spec\.replicas/],
    ['more than 32 bits', { spec: { replicas: 2_147_483_648 } }, 422, /spec\.replicas/],
    ['more than the type allows', { spec: { replicas: 101 } }, 422, /spec\.replicas/],
    ['an unknown member', { spec: { replica: 3 } }, 422, /replica/],
    ['no object', { spec: 3 }, 422, /spec/],
    ['another kind', { kind: 'Flock' }, 400, /kind/],
    ['another version', { apiVersion: 'autoscaling/v2' }, 400, /apiVersion/],
    ['another name', { metadata: { name: 'other' } }, 400, /metadata\.name/],
  ];
  for (const [title, change, status, message] of cases) {
    const refused = await call('PUT', 'flocks/kept/scale', { ...scale, ...change });
    t.match([refused.status, refused.body['message']], [status, message], title);
  }
  for (const body of [{ spec: { replicas: -1 } }, { spec: { replicas: 101 } }, { spec: { replica: 3 } }, { spec: 3 }])
    t.equal((await call('PATCH', 'flocks/kept/scale', body, merge)).status, 422, JSON.stringify(body));
  t.equal((await call('PATCH', 'flocks/kept/scale', [], merge)).status, 400);
  t.equal((await call('PATCH', 'flocks/kept/scale', {}, { 'content-type': 'text/plain' })).status, 415);
  t.equal((await call('PATCH', 'flocks/kept/scale?dryRun=Some', { spec: {} }, merge)).status, 422);
  const strict = await call('PATCH', 'flocks/kept/scale?fieldValidation=Strict', { spec: { replica: 3 } }, merge);
  t.match([strict.status, strict.body['message']], [400, /unknown field "spec\.replica"/]);
  const warned = await call('PATCH', 'flocks/kept/scale?fieldValidation=Warn', { spec: { replica: 3 } }, merge);
  t.match([warned.status, warned.headers.get('warning')], [200, /unknown field/]);
  t.match((await call('GET', 'flocks/kept')).body, { spec: { replicas: 1 }, metadata });
});

test('a dry run of a scale answers with the number and writes nothing', async (t) => {
  const before = await given('flocks/tried', { spec: { replicas: 1 } });
  const tried = await call('PATCH', 'flocks/tried/scale?dryRun=All', { spec: { replicas: 7 } }, merge);
  t.match([tried.status, tried.body], [200, { kind: 'Scale', spec: { replicas: 7 } }]);
  t.strictSame((await call('GET', 'flocks/tried')).body, before);
});

test('a type without a scale has no such path, and neither has a missing object', async (t) => {
  await given('eggs/one', { spec: { replicas: 1 } });
  for (const path of ['eggs/one/scale', 'flocks/none/scale'])
    for (const [method, headers] of [
      ['GET', {}],
      ['PUT', {}],
      ['PATCH', merge],
    ] as const)
      // prettier-ignore
      t.equal((await call(method, path, method === 'GET' ? undefined : {}, headers)).status, 404, `${method} ${path}`);
  for (const method of ['POST', 'DELETE']) {
    const refused = await call(method, 'flocks/none/scale');
    t.match([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, PUT, PATCH'], method);
  }
});

test('concurrent changes of one number and another member lose nothing', async (t) => {
  await given('flocks/busy', { spec: { replicas: 0, color: 'c0' } });
  const increment = async (): Promise<void> => {
    for (;;) {
      const scale = (await call('GET', 'flocks/busy/scale')).body;
      const next = { ...scale, spec: { replicas: (scale.spec.replicas ?? 0) + 1 } };
      if ((await call('PUT', 'flocks/busy/scale', next)).status === 200) return;
    }
  };
  const paint = async (n: number): Promise<unknown> =>
    call('PATCH', 'flocks/busy', { spec: { color: `c${String(n)}` } }, merge);
  await Promise.all(Array.from({ length: 8 }, async (_, n) => Promise.all([increment(), paint(n)])));
  t.match((await call('GET', 'flocks/busy')).body.spec, { replicas: 8, color: /^c[0-7]$/u });
});

test('a right to the scale is one of its own', async (t) => {
  await given('flocks/guarded', { spec: { replicas: 1 } });
  const administration = new Administration(server.url);
  await administration.user('scaler');
  await administration.role('scaling', {
    rules: [{ apiGroups: ['farm.example'], resources: ['flocks/scale'], verbs: ['get', 'patch'] }],
  });
  await administration.bind('scaler-scaling', 'scaling', 'scaler');
  const path = 'flocks/guarded/scale';
  const patch = { spec: { replicas: 2 } };
  t.equal((await call('GET', path, undefined, as('scaler'))).status, 200);
  t.equal((await call('PATCH', path, patch, { ...merge, ...as('scaler') })).status, 200);
  t.equal((await call('PUT', path, {}, as('scaler'))).status, 403, 'that is update');
  t.equal((await call('GET', 'flocks/guarded', undefined, as('scaler'))).status, 403);
  t.equal((await call('PATCH', 'flocks/guarded', patch, { ...merge, ...as('scaler') })).status, 403);
  t.equal((await call('GET', 'nests/bare/scale', undefined, as('scaler'))).status, 403);
});

test('discovery lists short names, categories and scales', async (t) => {
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] };
  const list = (await call('GET', '')).body['resources'] as { name: string }[];
  const names = list.map(({ name }) => name);
  t.strictSame(names, [
    'eggs',
    'eggs/history',
    'eggs/restore',
    'flocks',
    'flocks/history',
    'flocks/restore',
    'flocks/scale',
    'flocks/status',
    'nests',
    'nests/history',
    'nests/restore',
    'nests/scale',
  ]);
  t.match(list[3], { shortNames: ['fl', 'flk'], categories: ['birds'] });
  t.strictSame(Object.keys(list[0] ?? {}), ['name', 'singularName', 'namespaced', 'kind', 'verbs']);
  t.strictSame(list[6], { name: 'flocks/scale', singularName: '', namespaced: false, ...scale });
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const response = await server.call('/apis', { headers: { accept } });
  const { items } = (await response.json()) as { items: { metadata: { name: string }; versions: unknown[] }[] };
  const { verbs, ...responseKind } = scale;
  const history = { subresource: 'history', verbs: ['get'] };
  const restore = { subresource: 'restore', verbs: ['create'] };
  t.match(
    items.find(({ metadata }) => metadata.name === 'farm.example'),
    {
      versions: [
        {
          resources: [
            { resource: 'eggs', shortNames: undefined, subresources: [history, restore] },
            {
              resource: 'flocks',
              shortNames: ['fl', 'flk'],
              categories: ['birds'],
              subresources: [
                history,
                restore,
                { subresource: 'scale', responseKind, verbs },
                { subresource: 'status' },
              ],
            },
            { resource: 'nests', subresources: [history, restore, { subresource: 'scale', responseKind, verbs }] },
          ],
        },
      ],
    },
  );
});
