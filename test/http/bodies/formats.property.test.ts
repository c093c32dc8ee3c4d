/** Bodies, subprotocols and Accept headers as Kubernetes' clients send them, valid and broken, over a whole server. */
import { randomInt } from 'node:crypto';
import { request } from 'node:http';

import fc from 'fast-check';
import t, { test } from 'tap';

import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';
import { accept, freshWidget, include, offer, protobufBody, yamlBody } from './format-arbitraries.ts';

/** `PBT_RUNS` and `PBT_SEED` make it longer, and repeat a failure. */
const numRuns = Number(process.env['PBT_RUNS'] ?? 200);
const seed = Number(process.env['PBT_SEED'] ?? randomInt(2 ** 31));
t.comment(`PBT_SEED=${String(seed)}`);

const lines: string[] = [];
const server = await startTestServer({
  logLines: {
    write: (line) => {
      if (/"level":[56]0/u.test(line)) lines.push(line);
    },
  },
});
t.teardown(() => server.remove());
const { hostname, port } = new URL(server.url);
const widgets = '/apis/example.com/v1alpha1/widgets';
for (const name of ['a', 'b'])
  await server.call(widgets, { method: 'POST', body: { metadata: { name }, spec: { title: name } } });

type Asked = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Empty for a visitor; an administrator's by default. */
  readonly authorization?: string;
  readonly body?: string | Uint8Array;
};
type Answered = { readonly status: number; readonly type: string; readonly text: string };

/** `opened`: the head of a stream or of a WebSocket is the whole answer. */
async function send(asked: Asked, opened = false): Promise<Answered> {
  const { method = 'GET', path, headers = {}, authorization = adminAuthorization, body = '' } = asked;
  return new Promise((resolve, reject) => {
    const req = request({
      ...{ host: hostname, port, method, path },
      headers: {
        ...(authorization === '' ? {} : { authorization }),
        'content-length': Buffer.byteLength(body),
        ...headers,
      },
    });
    req.on('response', (res) => {
      const type = res.headers['content-type'] ?? '';
      const chunks: Buffer[] = [];
      const settle = (): void => {
        resolve({ status: res.statusCode ?? 0, type, text: Buffer.concat(chunks).toString('utf8') });
      };
      res.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', settle);
      if (!opened || res.statusCode !== 200) return;
      settle();
      req.destroy();
    });
    req.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve({ status: 101, type: '', text: '' });
    });
    req.on('error', reject).end(body);
  });
}

/** Each request gets one of the statuses, and its refusal has a reason. */
async function holds(
  asked: fc.Arbitrary<Asked>,
  statuses: readonly number[],
  check: (answered: Answered, asked: Asked) => boolean = () => true,
  opened = false,
): Promise<void> {
  const property = fc.asyncProperty(asked, async (one) => {
    const answered = await send(one, opened);
    const shown = `${String(answered.status)} ${answered.text.slice(0, 500)} to ${JSON.stringify(one).slice(0, 500)}`;
    if (!statuses.includes(answered.status)) throw new Error(shown);
    if (answered.status >= 400 && !/"message":"[^"]/u.test(answered.text) && answered.type === 'application/json')
      throw new Error(`no reason: ${shown}`);
    if (!check(answered, one)) throw new Error(shown);
  });
  await fc.assert(property, { numRuns, seed });
}

test('no body of YAML is a 500 or stays without an answer', async () => {
  const asked = fc.record({
    method: fc.constantFrom('POST', 'PUT', 'DELETE'),
    body: yamlBody,
    type: fc.constantFrom('application/yaml', 'application/yaml; charset=utf-8', 'Application/YAML'),
  });
  await holds(
    asked.map(({ method, body, type }) => ({
      method,
      path: `${widgets}${method === 'POST' ? '' : '/a'}?dryRun=All`,
      headers: { 'content-type': type },
      body,
    })),
    [200, 201, 400, 409, 413, 422],
  );
});

test('no body of protobuf is a 500 or stays without an answer', async () => {
  const paths = [
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    '/apis/authentication.k8s.io/v1/tokenreviews',
  ];
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' };
  await holds(
    fc.record({ path: fc.constantFrom(...paths), body: protobufBody }).map(({ path, body }) => ({
      ...{ method: 'POST', path, headers, body },
    })),
    [201, 400, 404, 413, 422],
  );
  await holds(
    protobufBody.map((body) => ({ method: 'DELETE', path: `${widgets}/a?dryRun=All`, headers, body })),
    [200, 400, 409, 413, 422],
  );
});

test('a kind without protobuf, and a media type that is not known, are refused with 415', async () => {
  const types = fc.oneof(
    fc.constantFrom(
      'application/vnd.kubernetes.protobuf',
      'text/yaml',
      'application/cbor',
      'application/json5',
      'x',
      '',
    ),
    fc.string({ unit: fc.constantFrom(...Array.from('abz09/;=+-.* "')), maxLength: 24 }),
  );
  const known = /^\s*(?:application\/(?:json|yaml))\s*(?:;|$)/iu;
  await holds(
    types
      .filter((type) => !known.test(type) && type.trim() !== '')
      .map((type) => ({ method: 'POST', path: widgets, headers: { 'content-type': type }, body: 'metadata: {}' })),
    [415],
  );
});

test('no offer of subprotocols opens a socket without a token that is right', async () => {
  await holds(
    fc
      .record({ offers: fc.array(offer, { minLength: 1, maxLength: 4 }), separator: fc.constantFrom(',', ', ', ',,') })
      .map(({ offers, separator }) => ({
        path: `${widgets}?watch=true`,
        authorization: '',
        headers: {
          ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          'sec-websocket-protocol': offers.join(separator),
        },
      })),
    [400, 401, 403],
    // The token is never repeated.
    ({ text }) => !text.includes('YWFhYWFh'),
    true,
  );
});

function withQuery(path: string, query: string): string {
  if (query === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

test('every Accept header is answered, with a type that the answer is in', async () => {
  const paths = [widgets, `${widgets}?limit=1`, `${widgets}/a`, `${widgets}/none`, '/apis', '/api', '/version'];
  const isIn = ({ type, text }: Answered): boolean => {
    if (/^application\/(?:problem\+)?json(?:;|$)/u.test(type)) return JSON.parse(text) !== null;
    return type === 'application/yaml' && /^[a-zA-Z]+:/u.test(text);
  };
  await holds(
    fc.record({ path: fc.constantFrom(...paths), query: include, accept }).map((asked) => ({
      path: asked.path.startsWith(widgets) ? withQuery(asked.path, asked.query) : asked.path,
      headers: { accept: asked.accept },
    })),
    [200, 400, 404],
    isIn,
  );
});

test('every Accept header opens a watch, or is refused for its includeObject', async () => {
  await holds(
    fc.record({ query: include, accept }).map((asked) => ({
      path: withQuery(`${widgets}?watch=true`, asked.query),
      headers: { accept: asked.accept },
    })),
    [200, 400],
    ({ status, type, text }) => (status === 200 ? type === 'application/json' : /includeObject/u.test(text)),
    true,
  );
});

test('the server has logged no error, and works after all of it', async (t) => {
  t.strictSame(lines, []);
  const made = await send({
    method: 'POST',
    path: widgets,
    headers: { 'content-type': 'application/yaml', accept: 'application/yaml' },
    body: freshWidget,
  });
  t.match(made, { status: 201, type: 'application/yaml', text: /name: fresh/u });
  t.equal((await send({ path: '/healthz' })).status, 200);
});
