import fc from 'fast-check';
import { request } from 'node:http';
import t, { test } from 'tap';

import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

/** `PBT_RUNS` and `PBT_SEED` make it longer, and repeat a failure. */
const numRuns = Number(process.env['PBT_RUNS'] ?? 300);
const seed = process.env['PBT_SEED'] === undefined ? {} : { seed: Number(process.env['PBT_SEED']) };

const lines: string[] = [];
const server = await startTestServer({
  logLines: {
    write: (line) => {
      lines.push(line);
    },
  },
});
t.teardown(() => server.remove());
const { hostname, port } = new URL(server.url);

async function send(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const req = request(
      {
        host: hostname,
        port,
        method,
        path,
        headers: { authorization: adminAuthorization, 'content-length': Buffer.byteLength(body), ...headers },
      },
      (res) => {
        let text = '';
        res
          .setEncoding('utf8')
          .on('data', (chunk: string) => {
            text += chunk;
          })
          .on('end', () => {
            resolve({ status: res.statusCode ?? 0, text });
          });
      },
    );
    req.on('error', reject).end(body);
  });
}

const member = fc.constantFrom(
  'apiVersion',
  'kind',
  'metadata',
  'spec',
  'status',
  'name',
  'generateName',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'version',
  'resourceVersion',
  'uid',
  'title',
  'size',
  'serial',
  'tags',
  'op',
  'path',
  'value',
  'from',
  'preconditions',
  'constructor',
  'toString',
  '',
  'a/b~c',
);
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    'w1',
    'Widget',
    'example.com/v1alpha1',
    'add',
    'copy',
    'test',
    '/spec',
    '/metadata/name',
    '/',
    '',
    '-',
    0,
    1,
    -1,
    1e21,
    null,
    true,
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.dictionary(member, tie('tree'), { maxKeys: 6 }),
    fc.array(tie('tree'), { maxLength: 4 }),
  ),
}));
/** Mostly objects that get as far as the rules, and some bytes that are nothing. */
const body = fc.oneof(
  { weight: 6, arbitrary: tree.map((value) => JSON.stringify(value)) },
  {
    weight: 4,
    arbitrary: fc.record({ metadata: tree, spec: tree, more: tree }).map(({ metadata, spec, more }) =>
      JSON.stringify({
        apiVersion: 'example.com/v1alpha1',
        kind: 'Widget',
        metadata: { name: 'w1', ...(typeof metadata === 'object' ? metadata : {}) },
        spec: { title: 'x', ...(typeof spec === 'object' ? spec : {}) },
        ...(typeof more === 'object' ? more : {}),
      }),
    ),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.constant('') },
);
const segment = fc.oneof(
  fc.constantFrom(
    'w1',
    '-',
    'status',
    'widgets',
    'example.com',
    'v1alpha1',
    'apis',
    'api',
    '%20',
    '%2F',
    '%C3%A9',
    '%',
    '..',
    'a'.repeat(400),
  ),
  fc.string({ unit: 'binary', maxLength: 6 }).map(encodeURIComponent),
);
const path = fc.oneof(
  fc.constantFrom('', '/w1', '/w1/status', '/w2', '/-').map((rest) => `/apis/example.com/v1alpha1/widgets${rest}`),
  fc.array(segment, { maxLength: 7 }).map((segments) => `/${segments.join('/')}`),
);
const parameter = fc.constantFrom(
  'labelSelector',
  'fieldSelector',
  'sort',
  'page',
  'size',
  'limit',
  'continue',
  'resourceVersionMatch',
  'dryRun',
  'fieldValidation',
  'propagationPolicy',
  'pretty',
);
const value = fc.oneof(
  fc.constantFrom(
    'a=b',
    'spec.size>1',
    'spec.tags=(a,b)',
    'metadata.name=w1',
    'spec.size,desc',
    '0',
    '1',
    '2',
    'All',
    'Strict',
    'Warn',
    'Exact',
    'e30',
    '!',
    '(',
    '=',
    ',',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const query = fc
  .array(fc.tuple(parameter, value), { maxLength: 4 })
  .map((pairs) =>
    pairs.length === 0 ? '' : `?${pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join('&')}`,
  );
const headers = fc.dictionary(
  fc.constantFrom(
    'content-type',
    'accept',
    'if-match',
    'if-none-match',
    'x-request-id',
    'content-encoding',
    'user-agent',
    'traceparent',
    'sec-fetch-site',
  ),
  fc.oneof(
    fc.constantFrom(
      'application/json',
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/problem+json',
      '*',
      '"0"',
      'W/"1"',
      '*/*',
      'identity',
    ),
    fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 16 }),
  ),
  { maxKeys: 3 },
);
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');

test('no request is answered with 500 or ends the server', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.record({ method, path, query, headers, body }), async (asked) => {
      const { status, text } = await send(asked.method, asked.path + asked.query, asked.headers, asked.body);
      if (status >= 500) throw new Error(`${String(status)} ${text}\n${lines.slice(-3).join('\n')}`);
      if (status >= 400 && asked.method !== 'HEAD') JSON.parse(text);
    }),
    { numRuns, ...seed },
  );
  t.equal((await server.call('/healthz')).status, 200);
});
