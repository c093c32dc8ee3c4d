import fc from 'fast-check';
import { test } from 'tap';

import { pluginRouteMs } from '../../../src/limits/plugins.ts';
import type { Endpoints, RouteEndpoint } from '../../../src/plugin/api/endpoints.ts';
import { ClientError, type RouteHandler, type RouteMethod, type RouteRequest } from '../../../src/plugin/api/plugin.ts';
import { RouteTable } from '../../../src/http/route-table.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { startEdge } from '../edge-server.ts';

const base = '/apis/example.com/v1alpha1';

function route(
  handler: RouteHandler,
  { method = 'GET', path = '/things/{name}/run' }: { method?: RouteMethod; path?: string } = {},
): RouteEndpoint {
  return { method, path: `${base}${path}`, handler };
}

function served(routes: readonly RouteEndpoint[]): Endpoints {
  return { routes, sockets: [] };
}

test('a handler gets the request decoded once, without the credentials', async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  const seen: RouteRequest[] = [];
  edge.pluginRoutes.mount(
    'example',
    served([
      route(
        (request) => {
          seen.push(request);
          return { body: { ok: true } };
        },
        { method: 'POST' },
      ),
    ]),
  );
  const response = await edge.call(`${base}/things/%2541%C3%A9/run?a=1&b=2&b=3`, {
    method: 'POST',
    body: '{"n":1}',
    headers: { 'content-type': 'application/json', 'x-mine': 'yes', cookie: 'c=1' },
  });
  t.match(
    [response.status, response.headers.get('content-type'), await response.json()],
    [200, 'application/json', { ok: true }],
  );
  const [request] = seen;
  t.match(request, {
    params: { name: '%41é' },
    query: { a: '1', b: ['2', '3'] },
    body: { n: 1 },
    user: { name: 'admin' },
    time: new Date(edge.clock.now()).toISOString(),
    headers: { 'x-mine': 'yes' },
  });
  t.notOk(Object.hasOwn(request?.headers ?? {}, 'authorization') || Object.hasOwn(request?.headers ?? {}, 'cookie'));
  t.equal(request?.signal.aborted, true, 'its signal aborts when the call is over');
});

test("a handler's answer is sent unchanged", async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  const answers: readonly (readonly [string, RouteHandler, number, string | null, string])[] = [
    ['nothing', () => undefined, 204, null, ''],
    ['no body', () => ({}), 204, null, ''],
    ['a status', async () => Promise.resolve({ status: 202, body: [1] }), 202, 'application/json', '[1]'],
    ['a string as JSON', () => ({ body: 'text' }), 200, 'application/json', '"text"'],
    [
      'a page',
      () => ({ headers: { 'Content-Type': 'text/html', 'Cache-Control': 'max-age=60' }, body: '<p>' }),
      200,
      'text/html',
      '<p>',
    ],
    ['bytes', () => ({ headers: { 'content-type': 'image/png' }, body: Buffer.from('png') }), 200, 'image/png', 'png'],
    [
      'a refusal of its own',
      () => ({ status: 418, body: { reason: 'Teapot' } }),
      418,
      'application/json',
      '{"reason":"Teapot"}',
    ],
  ];
  for (const [what, handler, status, type, text] of answers) {
    edge.pluginRoutes.mount('example', served([route(handler)]));
    const response = await edge.call(`${base}/things/x/run`);
    t.strictSame(
      [response.status, response.headers.get('content-type'), await response.text()],
      [status, type, text],
      what,
    );
    t.equal(response.headers.get('x-content-type-options'), 'nosniff', what);
  }
});

test("any fault of a handler is 500 for its caller, and a log line with the plugin's name", async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const wrong: readonly (readonly [string, unknown])[] = [
    [
      'throws',
      () => {
        throw new Error('secret detail');
      },
    ],
    [
      'throws no error',
      () => {
        throw null; // eslint-disable-line @typescript-eslint/only-throw-error
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret detail'))],
    ['answers a string', () => 'text'],
    ['answers a list', () => []],
    ['a status out of range', () => ({ status: 99 })],
    ['an informational status', () => ({ status: 100 })],
    ['a status in words', () => ({ status: '200' })],
    ['a body that is a circle', () => ({ body: circular })],
    ['a body that is a function', () => ({ body: () => undefined })],
    ['a big integer', () => ({ body: 1n })],
    ['a header that splits', () => ({ headers: { 'x-a': 'b\r\nx-c: d' }, body: 1 })],
    ['a header of the connection', () => ({ headers: { 'Content-Length': '1' }, body: 1 })],
    ['a header that is no string', () => ({ headers: { 'x-a': 1 }, body: 1 })],
    ['is no function', 'handler'],
    [
      'throws what only looks like a refusal',
      () => {
        throw Object.assign(new Error('secret'), { name: 'ClientError', reason: 'NotFound', status: 404 });
      },
    ],
    [
      'refuses in words of its own',
      () => {
        throw new ClientError('secret', { reason: 'Teapot', status: 418 });
      },
    ],
    [
      "refuses with another status than the word's",
      () => {
        throw new ClientError('secret', { reason: 'NotFound', status: 400 });
      },
    ],
    [
      'refuses as if the platform were broken',
      () => {
        throw new ClientError('secret', { reason: 'InternalError', status: 500 });
      },
    ],
    [
      'refuses with rubbish',
      () => {
        throw new ClientError('secret', { reason: 'Invalid', status: 422, errors: [{ pointer: 1 }] as never });
      },
    ],
  ];
  for (const [what, handler] of wrong) {
    edge.pluginRoutes.mount('example', served([route(handler as RouteHandler)]));
    const before = edge.lines.length;
    const response = await edge.call(`${base}/things/x/run`);
    const text = await response.text();
    t.match([response.status, JSON.parse(text)], [500, { reason: 'InternalError', code: 500 }], what);
    t.notOk(text.includes('secret'), what);
    t.match(
      edge.lines.slice(before),
      [{ level: 'error', fields: { plugin: 'example', requestId: response.headers.get('x-request-id') } }],
      what,
    );
  }
  edge.pluginRoutes.mount('example', served([route(() => ({ body: 1 }))]));
  t.equal((await edge.call(`${base}/things/x/run`)).status, 200, 'and the next call is as good as ever');
});

test('a handler that never settles times out, and its signal aborts', async (t) => {
  const clock = new FakeClock();
  const edge = await startEdge({ clock });
  t.teardown(() => edge.stop());
  let called: (request: RouteRequest) => void = () => undefined;
  const calling = new Promise<RouteRequest>((resolve) => {
    called = resolve;
  });
  edge.pluginRoutes.mount(
    'example',
    served([
      route(async (request) => {
        called(request);
        return new Promise(() => undefined);
      }),
    ]),
  );
  const response = edge.call(`${base}/things/x/run`);
  const { signal } = await calling;
  clock.advance(pluginRouteMs - 1);
  t.equal(signal.aborted, false);
  clock.advance(1);
  t.match([(await response).status, await (await response).json()], [504, { reason: 'Timeout' }]);
  t.equal(signal.aborted, true);
});

test("a caller's disconnect aborts the handler's signal", async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  const leaving = new AbortController();
  let aborted: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    aborted = resolve;
  });
  edge.pluginRoutes.mount(
    'example',
    served([
      route(async ({ signal }) => {
        signal.addEventListener('abort', aborted);
        leaving.abort();
        return new Promise(() => undefined);
      }),
    ]),
  );
  await t.rejects(edge.call(`${base}/things/x/run`, { signal: leaving.signal }));
  await closed;
  t.pass();
});

test('routes are announced, mounted and unmounted at run time, and never before their authorization', async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  const path = `${base}/things/x/run`;
  const status = async (init?: Parameters<typeof edge.call>[1]): Promise<number> =>
    (await edge.call(path, init)).status;
  t.equal(await status(), 404);
  edge.pluginRoutes.announce('example', served([route(() => ({}))]));
  const waiting = await edge.call(path);
  t.match([waiting.status, waiting.headers.get('retry-after')], [503, '1']);
  edge.pluginRoutes.mount('example', served([route(() => ({}))]));
  t.equal(await status(), 204);
  t.equal(await status({ headers: { authorization: '' } }), 401);
  const other = await edge.call(path, { method: 'DELETE' });
  t.match([other.status, other.headers.get('allow')], [405, 'GET, HEAD']);
  edge.pluginRoutes.mount(
    'second',
    served([route(() => ({ status: 201 })), route(() => ({ status: 202 }), { method: 'DELETE' })]),
  );
  t.equal(await status(), 204, 'the first to mount a route keeps it');
  t.equal(await status({ method: 'DELETE' }), 202);
  edge.pluginRoutes.unmount('example');
  t.equal(await status(), 201);
  edge.pluginRoutes.unmount('second');
  t.equal(await status(), 404);
});

test("mounting a path outside the plugin's own is refused, and nothing changes", async (t) => {
  const { pluginRoutes, stop } = await startEdge();
  t.teardown(() => stop());
  pluginRoutes.mount('example', served([route(() => ({}))]));
  for (const path of [
    '/api/v1/x',
    '/apis',
    '/apis/g/v1',
    '/apis/g/v1/',
    '/apis/{group}/v1/x',
    '/healthz',
    'apis/g/v1/x',
    '/apis/g/v1/x*',
    '/apis/g/v1/:x',
    '/apis/g/v1/{a}/{a}',
    '/apis/g/v1//x',
    '/apis/g/v1/{1}',
    '/apis/g/v1/(.*)',
    '/apis/g/v1/a%2Fb',
  ]) {
    t.throws(
      () => {
        pluginRoutes.mount('example', served([{ method: 'GET', path, handler: () => ({}) }]));
      },
      RangeError,
      path,
    );
  }
  t.equal(pluginRoutes.find('GET', ['apis', 'example.com', 'v1alpha1', 'things', 'x', 'run']).kind, 'found');
});

test('a refusal that a handler does not catch goes to its caller, in the words of the generated API', async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  const table: readonly (readonly [ConstructorParameters<typeof ClientError>[1], object])[] = [
    [
      { reason: 'NotFound', status: 404 },
      { kind: 'Status', code: 404, reason: 'NotFound', detail: 'so it is', instance: `${base}/things/x/run` },
    ],
    [
      { reason: 'Forbidden', status: 403 },
      { code: 403, reason: 'Forbidden' },
    ],
    [
      { reason: 'Conflict', status: 409 },
      { code: 409, reason: 'Conflict' },
    ],
    [
      { reason: 'Invalid', status: 422, errors: [{ pointer: '/spec/title', detail: 'must not be empty' }] },
      {
        code: 422,
        errors: [{ pointer: '/spec/title', detail: 'must not be empty' }],
        details: { causes: [{ field: 'spec.title' }] },
      },
    ],
    [
      { reason: 'ServiceUnavailable', status: 503, retryAfterSeconds: 3 },
      { code: 503, details: { retryAfterSeconds: 3 } },
    ],
  ];
  for (const [members, body] of table) {
    edge.pluginRoutes.mount(
      'example',
      served([route(async () => Promise.reject(new ClientError('so it is', members)))]),
    );
    const before = edge.lines.length;
    const response = await edge.call(`${base}/things/x/run`);
    t.match([response.status, await response.json()], [members.status, body], members.reason);
    t.equal(
      response.headers.get('retry-after'),
      members.retryAfterSeconds === undefined ? null : String(members.retryAfterSeconds),
    );
    t.equal(edge.lines.length, before, 'nothing failed');
  }
  const open = await startEdge({ authorize: () => ({ allowed: true }) });
  t.teardown(() => open.stop());
  open.pluginRoutes.mount(
    'example',
    served([route(async () => Promise.reject(new ClientError('log in', { reason: 'Forbidden', status: 403 })))]),
  );
  const visited = await open.call(`${base}/things/x/run`, { headers: { authorization: '' } });
  t.match(
    [visited.status, visited.headers.get('www-authenticate'), await visited.json()],
    [401, String, { reason: 'Unauthorized', detail: 'log in' }],
    'a visitor may log in',
  );
});

test('a PATCH route receives merge patches under their own media type', async (t) => {
  const edge = await startEdge();
  t.teardown(() => edge.stop());
  edge.pluginRoutes.mount(
    'example',
    served([route(({ body }) => ({ body }), { method: 'PATCH' }), route(({ body }) => ({ body }), { method: 'PUT' })]),
  );
  const send = async (method: string, type: string): Promise<number> =>
    (await edge.call(`${base}/things/x/run`, { method, body: '{}', headers: { 'content-type': type } })).status;
  t.same(
    [
      await send('PATCH', 'application/merge-patch+json'),
      await send('PATCH', 'application/json'),
      await send('PATCH', 'application/json-patch+json'),
      await send('PUT', 'application/merge-patch+json'),
    ],
    [200, 200, 415, 415],
  );
});

test('the list of routes, and the owner of each path', async (t) => {
  const { pluginRoutes, stop } = await startEdge();
  t.teardown(() => stop());
  const segments = (path: string): readonly string[] => path.slice(1).split('/');
  pluginRoutes.announce('second', served([route(() => ({}), { path: '/others' })]));
  pluginRoutes.mount(
    'example',
    served([route(() => ({})), route(() => ({}), { method: 'DELETE', path: '/others/{name}' })]),
  );
  t.same(pluginRoutes.all(), [
    { plugin: 'second', method: 'GET', pattern: `${base}/others` },
    { plugin: 'example', method: 'GET', pattern: `${base}/things/{name}/run` },
    { plugin: 'example', method: 'DELETE', pattern: `${base}/others/{name}` },
  ]);
  for (const [path, plugin] of [
    ['/others', 'second'],
    ['/others/a', 'example'],
    ['/things/a/run', 'example'],
    ['/things/a', undefined],
    ['/things/a/RUN', undefined],
    ['/others/a/b', undefined],
  ] as const) {
    t.equal(pluginRoutes.pluginOf(segments(base + path)), plugin, path);
  }
  pluginRoutes.unmount('second');
  t.equal(pluginRoutes.pluginOf(segments(`${base}/others`)), undefined);
});

test('a table covers exactly the paths at which it finds a route', (t) => {
  const plain = fc.constantFrom('a', 'b', 'A', 'a.b', 'run');
  const pattern = fc
    .array(fc.oneof(plain, fc.constantFrom('{x}', '{y}')), { minLength: 1, maxLength: 4 })
    .filter(
      (parts) =>
        new Set(parts.filter((part) => part.startsWith('{'))).size ===
        parts.filter((part) => part.startsWith('{')).length,
    );
  const segments = fc.array(fc.oneof(plain, fc.constantFrom('é', '%41', '{x}', ':x', ' ')), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 5 }), segments, (patterns, path) => {
      const table = new RouteTable<number>();
      for (const [index, parts] of patterns.entries())
        table.add(index % 2 === 0 ? 'GET' : 'PUT', `/${parts.join('/')}`, index);
      const found = table.find('GET', path);
      return (
        table.covers(path) === (found.kind === 'found' || found.allow.length > 0) &&
        table.all().length === patterns.length
      );
    }),
    { numRuns: Number(process.env['PBT_RUNS'] ?? 1_000) },
  );
  t.end();
});
