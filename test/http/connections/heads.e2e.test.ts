import { request, type IncomingHttpHeaders } from 'node:http';
import { test } from 'tap';

import { manifestYaml, moduleText, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const own = '/apis/api.headed.example/v1';
const routes = [
  `{ method: 'GET', path: '${own}/plain', handler: () => ({ body: { a: 1 }, headers: { etag: '"x"' } }) }`,
  `{ method: 'GET', path: '${own}/nothing', handler: () => undefined }`,
  `{ method: 'GET', path: '${own}/fails', handler: () => { throw new Error('no'); } }`,
  `{ method: 'GET', path: '${own}/events', handler: () => ({ events: (async function* () {
    yield { data: 1 };
    await new Promise(() => undefined);
  })() }) }`,
  `{ method: 'POST', path: '${own}/written', handler: () => undefined }`,
].join(', ');
const plugin = {
  'plugin.yaml': manifestYaml('headed', { main: 'main.mjs' }),
  'main.mjs': moduleText('headeds', { group: 'headed.example', more: `routes: [${routes}]` }),
};

type Head = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly bodyBytes: number };

/** A HEAD must end by itself; of a GET, which may go on for ever, only the head is read. */
async function headOf(method: string, url: string, headers: Readonly<Record<string, string>>): Promise<Head> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method, agent: false, headers }, (res) => {
      let bodyBytes = 0;
      const answered = (): void => {
        resolve({ status: res.statusCode ?? 0, headers: res.headers, bodyBytes });
      };
      if (method === 'GET') {
        answered();
        res.on('error', () => undefined).destroy();
        return;
      }
      res
        .on('data', (chunk: Buffer) => {
          bodyBytes += chunk.length;
        })
        .on('end', answered)
        .on('error', reject);
    });
    req.on('error', reject).end();
  });
}

/** What both must agree on: all but the time, how the body is framed, and the length of what changes by itself. */
function agreed({ status, headers }: Head, path: string): object {
  const { date, 'transfer-encoding': framing, 'content-length': length, ...others } = headers;
  return { status, others, length: path === '/metrics' ? length !== undefined : length };
}

const credentials: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'as administrator': { authorization: adminAuthorization },
  'as a visitor': {},
  // Of another user: so many guesses at the administrator would refuse the administrator's own requests from here, too.
  'with a wrong password': { authorization: `Basic ${Buffer.from('nobody:wrong').toString('base64')}` },
};
type Asked = { readonly query?: string; readonly headers?: Readonly<Record<string, string>> };
const asked: Readonly<Record<string, Asked>> = {
  plainly: {},
  'as a watch': { query: '?watch=true' },
  'as a wrong watch': { query: '?watch=true&resourceVersion=x' },
  'as events': { headers: { accept: 'text/event-stream' } },
  'with a tag': { headers: { 'if-none-match': '*' } },
  'for another page': { query: '?limit=x' },
};

/** Between the two, the server may have written something of its own, so what differs is asked again. */
async function differenceAt(url: string, path: string, headers: Asked['headers'] = {}): Promise<object | undefined> {
  let difference: object | undefined;
  for (let tries = 0; tries < 3; tries += 1) {
    const [get, head] = [await headOf('GET', url, headers), await headOf('HEAD', url, headers)];
    const [wanted, got] = [agreed(get, path), agreed(head, path)];
    if (JSON.stringify(wanted) === JSON.stringify(got) && head.bodyBytes === 0) return undefined;
    difference = { wanted, got };
  }
  return difference;
}

/** Every way by every caller; a wrong password once, as guesses are limited. */
const requests = Object.entries(credentials).flatMap(([who, authorization]) =>
  Object.entries(asked)
    .filter(([how]) => who !== 'with a wrong password' || how === 'plainly')
    .map(([how, { query, headers }]) => ({
      how: `${how} ${who}`,
      query,
      headers: { ...headers, ...authorization, 'x-request-id': 'same' },
    })),
);

test('HEAD returns the head of the GET on every route', async (t) => {
  const plugged = await temporaryFolder(t);
  await writePlugins(plugged, { headed: plugin });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: plugged } });
  t.teardown(async () => server.remove());
  const widgets = '/apis/example.com/v1alpha1/widgets';
  for (let index = 0; index < 300; index += 1) {
    const metadata = { name: `w${String(index)}`, annotations: { long: 'x'.repeat(4_000) } };
    const body = { metadata, spec: { title: 'x', serial: `s${String(index)}` } };
    t.equal((await server.call(widgets, { method: 'POST', body })).status, 201);
  }
  const { headers } = await headOf('GET', server.url + widgets, credentials['as administrator'] ?? {});
  t.equal(headers['transfer-encoding'], 'chunked', 'a list that is streamed is among them');
  const patterns = new Set(server.routes().map(({ pattern }) => pattern.replaceAll(/\{\w+\}/gu, 'w1')));
  for (const path of ['/metrics', '/login', widgets, `${widgets}/w1`, `${own}/events`]) t.ok(patterns.has(path), path);
  const unlike: unknown[] = [];
  for (const path of [...patterns, '/nowhere', `${widgets}/a%2Fb`]) {
    for (const { how, query = '', headers } of requests) {
      const url = server.url + path + query;
      const difference = await differenceAt(url, path, headers);
      if (difference !== undefined) unlike.push({ path, how, ...difference });
    }
  }
  t.strictSame(unlike, [], `${String(patterns.size)} paths`);
  t.match(await (await server.call('/metrics')).text(), /^ledgerplane_watchers 0$/mu, 'no HEAD holds a watch');
});
