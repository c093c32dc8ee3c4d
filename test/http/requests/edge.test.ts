import { request } from 'node:http';
import { connect } from 'node:net';
import t, { test } from 'tap';

import { requestBodyBytesMax, requestHeadersBytesMax } from '../../../src/limits/requests.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(() => server.remove());

const widgets = '/apis/example.com/v1alpha1/widgets';
const { hostname, port } = new URL(server.url);

type Problem = {
  kind?: string;
  status: unknown;
  code?: number;
  reason: string;
  message?: string;
  detail: string;
  type: string;
  instance: string;
  requestId: string;
  timestamp: string;
  details?: Record<string, unknown>;
  errors?: unknown[];
};

/** By `node:http`, which sends a path as it is given. A header that is '' is not sent. */
async function raw(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const given = Object.fromEntries(
      Object.entries({ authorization: adminAuthorization, ...headers }).filter(([, value]) => value !== ''),
    );
    const req = request({ host: hostname, port, method, path, headers: given }, (res) => {
      let text = '';
      res
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('end', () => {
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text });
        });
    });
    req.on('error', reject).end(body);
  });
}

/** Bytes on a socket of their own, and all that comes back until it closes. */
async function bytes(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => {
      socket.write(text);
    });
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        answer += chunk;
      })
      .on('close', () => {
        resolve(answer);
      })
      .on('error', reject);
  });
}

test('the first failed check answers', async (t) => {
  const visitor = { authorization: '' };
  const cases: readonly (readonly [string, string, string, Record<string, string>, number])[] = [
    ['a malformed path, before credentials', 'GET', `${widgets}/a%2Fb`, { authorization: 'Basic x' }, 400],
    ['wrong credentials, before the route', 'GET', '/nowhere', { authorization: 'Basic eDp5' }, 401],
    ['no credentials, before the route', 'DELETE', '/nowhere', visitor, 401],
    ['no credentials, before the method', 'OPTIONS', widgets, visitor, 401],
    ['no such route', 'GET', '/nowhere', {}, 404],
    ['no such type', 'GET', '/apis/example.com/v1alpha1/gadgets', {}, 404],
    ['another version', 'GET', '/apis/example.com/v1/widgets', {}, 404],
    ['no such subresource', 'GET', `${widgets}/x/scale`, {}, 404],
    ['a longer path', 'GET', `${widgets}/x/status/y`, {}, 404],
    ['no such object, before the media type', 'PATCH', `${widgets}/x`, { 'content-type': 'text/plain' }, 404],
    ['the method, before the media type', 'PUT', widgets, { 'content-type': 'text/plain' }, 405],
    ['a create with a name in its path', 'POST', `${widgets}/x`, {}, 405],
    ['OPTIONS', 'OPTIONS', widgets, {}, 405],
    ['TRACE', 'TRACE', `${widgets}/x`, {}, 405],
    ['the media type, before the body', 'POST', widgets, { 'content-type': 'text/plain' }, 415],
    ['the body, before the object', 'POST', widgets, {}, 400],
  ];
  for (const [what, method, path, headers, status] of cases)
    t.equal((await raw(method, path, headers)).status, status, what);
});

test('405 lists the methods of the exact path', async (t) => {
  t.equal((await raw('PUT', widgets)).headers['allow'], 'GET, HEAD, POST, DELETE');
  t.equal((await raw('POST', `${widgets}/x`)).headers['allow'], 'GET, HEAD, PUT, PATCH, DELETE');
  t.equal((await raw('POST', '/healthz')).headers['allow'], 'GET, HEAD');
});

test('empty segments, a trailing slash and percent-encoding change nothing', async (t) => {
  for (const path of [
    `${widgets}/`,
    '//apis/example.com//v1alpha1/widgets',
    '/apis/example.com/v1alpha1/%77idgets',
    `http://any.host${widgets}`,
  ]) {
    t.equal((await raw('GET', path)).status, 200, path);
  }
});

test('a refusal under /api* is a Kubernetes Status with the members of the problem', async (t) => {
  const { status, headers, text } = await raw('GET', `${widgets}/nope`, { 'x-request-id': 'my-id.1', accept: '*/*' });
  const { timestamp, ...body } = JSON.parse(text) as Problem;
  t.equal(status, 404);
  t.equal(headers['content-type'], 'application/json');
  t.equal(headers['x-request-id'], 'my-id.1');
  t.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u);
  t.strictSame(body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'widgets.example.com "nope" not found',
    code: 404,
    type: 'https://svc.run/problems/not-found',
    title: 'Not found',
    detail: 'widgets.example.com "nope" not found',
    instance: `${widgets}/nope`,
    reason: 'NotFound',
    requestId: 'my-id.1',
    details: { name: 'nope', group: 'example.com', kind: 'widgets' },
  });
});

test('clients that accept problem+json, and all paths outside /api*, get problem+json', async (t) => {
  for (const [path, accept] of [
    [`${widgets}/nope`, 'application/json;q=0.1, application/problem+json'],
    ['/nowhere', 'application/json'],
    ['/apiserver', '*/*'],
  ] as const) {
    const { headers, text } = await raw('GET', path, { accept });
    t.equal(headers['content-type'], 'application/problem+json', path);
    t.match(JSON.parse(text), { status: 404, reason: 'NotFound', instance: path }, path);
    t.notOk(text.includes('"kind"'), path);
  }
  t.equal(
    (await raw('GET', `${widgets}/nope`, { accept: 'application/problem+json;q=0, */*' })).headers['content-type'],
    'application/json',
  );
});

test('an invalid object lists each violation by its pointer, in both forms', async (t) => {
  const body = JSON.stringify({ metadata: { name: 'bad' }, spec: { size: -1 } });
  const status = JSON.parse((await raw('POST', widgets, {}, body)).text) as Problem;
  t.match(status, {
    reason: 'Invalid',
    code: 422,
    status: 'Failure',
    details: { name: 'bad', kind: 'Widget', group: 'example.com' },
  });
  t.strictSame(
    new Set(status.errors?.map((error) => (error as { pointer: string }).pointer)),
    new Set(['/spec/title', '/spec/size']),
  );
  t.match(status.details?.['causes'], [{ field: /^spec\./u }, { field: /^spec\./u }]);
  const problem = JSON.parse(
    (await raw('POST', widgets, { accept: 'application/problem+json' }, body)).text,
  ) as Problem;
  t.match(problem, { status: 422, reason: 'Invalid' });
  t.strictSame(problem.errors, status.errors);
});

test('a visitor gets a challenge with the requested permission, never a hint at existing objects', async (t) => {
  const { status, headers, text } = await raw('GET', `${widgets}/secret-name`, { authorization: '' });
  t.equal(status, 401);
  t.equal(headers['www-authenticate'], 'Basic realm="ledgerplane", charset="UTF-8"');
  t.match(text, /cannot get resource \\"widgets\\" in API group \\"example.com\\"/u);
});

test('only health, version and discovery are open to visitors', async (t) => {
  const open = { authorization: '' };
  for (const path of ['/healthz', '/livez', '/readyz'])
    t.match(await raw('GET', path, open), { status: 200, text: 'ok' }, path);
  t.match(JSON.parse((await raw('GET', '/version', open)).text), {
    major: '1',
    minor: '35',
    gitVersion: /^v1\.35\.0\+ledgerplane\.\d/u,
  });
  t.match(JSON.parse((await raw('GET', '/api', open)).text), { kind: 'APIVersions' });
  const groups = JSON.parse((await raw('GET', '/apis', open)).text) as { kind: string; groups: { name: string }[] };
  t.equal(groups.kind, 'APIGroupList');
  t.match(
    groups.groups.find(({ name }) => name === 'example.com'),
    { preferredVersion: { groupVersion: 'example.com/v1alpha1', version: 'v1alpha1' } },
  );
  t.match(JSON.parse((await raw('GET', '/apis/example.com', open)).text), { kind: 'APIGroup', name: 'example.com' });
  t.match(JSON.parse((await raw('GET', '/apis/example.com/v1alpha1', open)).text), {
    kind: 'APIResourceList',
    groupVersion: 'example.com/v1alpha1',
    resources: [
      { name: 'widgets', singularName: 'widget', kind: 'Widget', namespaced: false },
      { name: 'widgets/history', kind: 'ObjectHistory', verbs: ['get'] },
      { name: 'widgets/restore', kind: 'Widget', verbs: ['create'] },
      { name: 'widgets/status' },
    ],
  });
  t.equal((await raw('GET', '/apis/nobody.example', open)).status, 404);
  t.equal((await raw('HEAD', '/apis', open)).status, 200);
  for (const path of [widgets, '/apis/nobody/v1/x', '/', '/login', '/openapi/v2', '/healthz/log'])
    t.equal((await raw('GET', path, open)).status, 401, path);
});

test('a body is read up to the limit, and refused beyond it with or without a length', async (t) => {
  const body = (length: number): string => JSON.stringify({ pad: 'x'.repeat(length - 10) });
  t.equal((await raw('POST', widgets, {}, body(requestBodyBytesMax))).status, 422);
  t.equal((await raw('POST', widgets, {}, body(requestBodyBytesMax + 1))).status, 413);
  t.equal((await raw('POST', widgets, { 'transfer-encoding': 'chunked' }, body(requestBodyBytesMax))).status, 422);
  t.equal((await raw('POST', widgets, { 'transfer-encoding': 'chunked' }, body(requestBodyBytesMax + 1))).status, 413);
  t.equal((await raw('POST', widgets, {}, body(8 * requestBodyBytesMax))).status, 413);
});

test('too long headers, a too long target and bytes that are not HTTP are refused in the same words', async (t) => {
  const long = await bytes(`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(requestHeadersBytesMax)}\r\n\r\n`);
  t.match(long, /^HTTP\/1\.1 431 .*"reason":"RequestHeaderFieldsTooLarge"/su);
  const garbage = await bytes('HELLO\r\n\r\n');
  t.match(garbage, /^HTTP\/1\.1 400 .*application\/problem\+json.*"reason":"BadRequest"/su);
  t.equal((await raw('GET', `/healthz?${'a'.repeat(70_000)}`)).status, 400);
  t.equal((await raw('GET', '/healthz')).status, 200, 'and the server goes on');
});

test('a valid request id of the caller is kept, another one is replaced', async (t) => {
  t.equal((await raw('GET', '/healthz', { 'x-request-id': 'a-1.b:2' })).headers['x-request-id'], 'a-1.b:2');
  for (const id of ['a b', 'x'.repeat(129), '"><script>']) {
    t.match((await raw('GET', '/healthz', { 'x-request-id': id })).headers['x-request-id'], /^[0-9a-f]{12}-\w+$/u);
  }
});

test('cross-site writes from a browser are refused', async (t) => {
  for (const site of ['cross-site', 'same-site']) {
    t.equal((await raw('POST', widgets, { 'sec-fetch-site': site }, '{}')).status, 403, site);
    t.equal((await raw('GET', widgets, { 'sec-fetch-site': site })).status, 200, site);
  }
  t.equal((await raw('POST', widgets, { 'sec-fetch-site': 'same-origin' }, '{}')).status, 422);
});

test('impersonation is refused rather than ignored, except where all callers read the same', async (t) => {
  for (const path of [widgets, '/apis/example.com/v1alpha1', '/openapi', '/v3/api-docs', '/metrics', '/'])
    t.equal((await raw('GET', path, { 'impersonate-user': 'jane' })).status, 403, path);
  t.equal((await raw('POST', '/apis', { 'impersonate-user': 'jane' }, '{}')).status, 403);
  for (const path of ['/api', '/apis', '/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1alpha1']) {
    const [as, plain] = [await raw('GET', path, { 'impersonate-user': 'jane' }), await raw('GET', path)];
    t.strictSame([as.status, as.text], [200, plain.text], path);
    const unknown = { 'impersonate-user': 'jane', authorization: 'Bearer x' };
    t.equal((await raw('GET', path, unknown)).status, 401, path);
  }
});

test('an upgrade to anything but WebSocket is served as a plain request', async (t) => {
  const answer = await bytes(
    'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n' +
      'HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
  );
  t.match(answer, /^HTTP\/1\.1 200 OK.*\r\n\r\nok$/su);
});

test('an upgrade without rights is refused before the handshake', async (t) => {
  const answer = await bytes(
    `GET ${widgets} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  t.match(answer, /^HTTP\/1\.1 401 .*"reason":"Unauthorized"/su);
});

test('many requests on one connection are answered in order', async (t) => {
  const get = `GET ${widgets}/nope HTTP/1.1\r\nHost: x\r\nAuthorization: ${adminAuthorization}\r\n\r\n`;
  const answer = await bytes(`${get.repeat(20)}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  t.equal(answer.match(/HTTP\/1\.1 404 /gu)?.length, 20);
  t.match(answer, /ok$/u);
});
