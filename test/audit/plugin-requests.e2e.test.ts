/** Writes of a plugin on behalf of a user: the record names both, and a plugin cannot choose the user. */
import { test, type Test } from 'tap';

import { commentServer, startLogServer } from '../nodes/support/log-server.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../plugin/host/host-stage.ts';
import { ask, type Answered } from '../support/ask.ts';
import { logSettings } from '../support/memory/event-log.ts';
import { Administration, as } from '../support/server/administration.ts';
import { runCommand } from '../support/server/command-run.ts';
import { adminAuthorization, startTestServer, testPassword, type TestServer } from '../support/server/start-server.ts';
import { Watching } from '../support/watching.ts';
import { allEvents, targetOf, type Item } from './stream/listed-events.ts';

/** Keeps the clients of its first request, and writes with them when a later one asks for it. */
const moduleOfDepot = `
const type = { group: 'depot.example', version: 'v1', plural: 'boxes' };
const at = '/apis/api.depot.example/v1';
const kept = [];
const box = ({ name }) => ({ metadata: { name }, spec: {} });
const made = (object) => ({ body: object.metadata });
export default {
  types: [{ group: 'depot.example', version: 'v1', kind: 'Box', singular: 'box', plural: 'boxes',
    schema: { type: 'object', properties: { spec: { type: 'object' } } } }],
  routes: [
    { method: 'PUT', path: at + '/boxes/{name}', handler: async (request) => {
      kept.push(request);
      request.user.name = 'eve';
      request.headers['user-agent'] = 'eve';
      return made(await request.pluginClient.create(type, box(request.params)));
    } },
    { method: 'PUT', path: at + '/boxes/{name}/own', handler: async ({ client, params }) =>
      made(await client.create(type, box(params))) },
    { method: 'PUT', path: at + '/boxes/{name}/late', handler: async ({ params }) =>
      made(await kept[0].pluginClient.create(type, box(params))) },
    { method: 'GET', path: at + '/boxes/{name}/events', handler: ({ params, pluginClient }) => ({
      events: (async function* () {
        yield { data: (await pluginClient.create(type, box(params))).metadata };
      })() }) },
  ],
};
`;

const boxes = '/apis/api.depot.example/v1/boxes';
const posts = '/apis/uc.api.content.svc.run/v1alpha1/posts';
const tokens = '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens';
const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

type Asker = {
  readonly server: TestServer;
  /** A request with a body, a trace and a user agent; its id is `id`. */
  readonly write: (method: string, path: string, id: string, asked?: Asked) => Promise<Answered>;
};
type Asked = { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown };

async function given(t: Test, environment: Readonly<Record<string, string>> = {}): Promise<Asker> {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    depot: { 'plugin.yaml': manifestYaml('depot', { main: 'main.mjs' }), 'main.mjs': moduleOfDepot },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root, ...environment } });
  t.teardown(() => server.remove());
  const administration = new Administration(server.url);
  const rules = [{ apiGroups: ['*'], resources: ['*', '*/*'], verbs: ['*'] }];
  await administration.role('author', { rules });
  for (const name of ['jane', 'joe']) await administration.user(name);
  await administration.bind('authors', 'author', 'jane', 'joe');
  await administration.merge('roles', 'anonymous', {
    rules: [{ apiGroups: ['api.depot.example'], resources: ['*'], verbs: ['*'] }],
  });
  const write: Asker['write'] = async (method, path, id, { headers = {}, body = {} } = {}) => {
    const answered = await ask(server.url, path, {
      method,
      headers: {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        'user-agent': 'a browser',
        traceparent: trace,
        'x-request-id': id,
        ...headers,
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    });
    if (answered.status >= 300) throw new Error(`${path}: ${String(answered.status)} ${answered.text}`);
    return answered;
  };
  return { server, write };
}

/** The first event of an object by its name. */
async function firstOf({ server }: Asker, type: string, name: string): Promise<Item> {
  const [first] = await allEvents(server, { where: `type=${type},name=${name}` });
  if (first === undefined) throw new Error(`${name} has no event`);
  return first;
}

const janes = { onBehalfOf: 'jane', address: '127.0.0.1', userAgent: 'a browser', traceParent: trace };
const boxType = 'boxes.depot.example';
const postType = 'posts.content.svc.run';

test('a write that a plugin makes for a user names the plugin and the user', async (t) => {
  const asker = await given(t);
  const { server, write } = asker;
  const issued = await write('POST', tokens, 'issue', { headers: as('jane'), body: { metadata: { name: 'laptop' } } });
  const { status } = JSON.parse(issued.text) as { readonly status: { readonly token: string } };
  const headers = { authorization: `Bearer ${status.token}` };
  const identity = { apiVersion: 'content.svc.run/v1alpha1', kind: 'Post' };
  const body = { ...identity, metadata: { name: 'news' }, spec: { title: 'News', slug: 'news', content: '' } };
  await write('POST', posts, 'the-create', { headers, body });
  await write('PATCH', `${posts}/news`, 'the-patch', { headers, body: { spec: { title: 'Other news' } } });

  const wanted = { actor: 'plugin:content', plugin: 'content', token: 'laptop', ...janes };
  const history = await server.call(`/apis/content.svc.run/v1alpha1/posts/news/history`);
  const { items } = (await history.json()) as { readonly items: readonly Item[] };
  t.match(items[0], { ...wanted, verb: 'create', requestId: 'the-create' });
  const renamed = items.find(({ change = [] }) => change.some(({ path }) => path === '/spec/title'));
  t.match(renamed, { ...wanted, verb: 'patch', requestId: 'the-patch' });

  const events = await allEvents(server, { where: `type=${postType},name=news` });
  t.match(events[0], { ...wanted, requestId: 'the-create', correlationId: 'the-create' });
  const steps = events.filter(({ cause }) => cause !== undefined);
  t.not(steps.length, 0, 'a reconciler has written');
  for (const step of steps) {
    t.equal(step.actor, 'plugin:content');
    for (const member of ['onBehalfOf', 'token', 'address', 'userAgent']) t.notHas(step, member, 'a reconciler');
  }
  const claimed = await allEvents(server, { where: 'type=claim,onBehalfOf=jane' });
  t.not(claimed.length, 0, 'the claims of its unique values name her as well');
});

test('the events of a user are found, by the user and by plugins', async (t) => {
  const asker = await given(t);
  const { server, write } = asker;
  await write('PUT', `${boxes}/a`, 'r-1', { headers: as('jane') });
  await write('PUT', `${boxes}/b/own`, 'r-2', { headers: as('jane') });
  await write('PUT', `${boxes}/c`, 'r-3', { headers: as('joe') });
  const found = async (where: string): Promise<readonly string[]> =>
    (await allEvents(server, { where: `type=${boxType},${where}` })).map(({ name }) => name);
  t.strictSame(await found('user=jane'), ['a', 'b']);
  t.strictSame(await found('actor=jane'), ['b']);
  t.strictSame(await found('onBehalfOf=jane'), ['a']);
  t.strictSame(await found('onBehalfOf in (jane, joe)'), ['a', 'c']);
  t.strictSame(await found('user!=jane'), ['c']);
  t.strictSame(await found('user^=ja,!onBehalfOf'), ['b']);
  t.strictSame(await found('actor=plugin:depot'), ['a', 'c']);
  const watching = await Watching.open(server.url, targetOf({ where: `type=${boxType},user=jane` }), {
    transport: 'json',
    headers: { authorization: adminAuthorization },
  });
  t.teardown(() => {
    watching.leave();
  });
  await watching.until(({ events }) => events.length === 2);
  await write('PUT', `${boxes}/d`, 'r-4', { headers: as('joe') });
  await write('PUT', `${boxes}/e`, 'r-5', { headers: as('jane') });
  await watching.until(({ events }) => events.length === 3);
  t.match(
    watching.events.map(({ object }) => object),
    [
      { name: 'a', ...janes },
      { name: 'b', actor: 'jane' },
      { name: 'e', ...janes },
    ],
  );
});

test('the commands show the user and find what is written for the user', async (t) => {
  const asker = await given(t);
  const { server, write } = asker;
  await write('PUT', `${boxes}/a`, 'r-1', { headers: as('jane') });
  await write('PUT', `${boxes}/b`, 'r-2', { headers: as('joe') });
  const run = async (...args: readonly string[]): Promise<string> => {
    const variables = { LEDGERPLANE_SERVER: server.url, LEDGERPLANE_PASSWORD: testPassword };
    const { code, out, err } = await runCommand([...args, '--user', 'admin'], { variables });
    t.strictSame([code, err], [0, '']);
    return out;
  };
  const line =
    /^\S+ {2}\d+ {2}ObjectCreated {2}boxes.depot.example\/a {2}plugin:depot \(create\) {2}for jane, .* r-1\n$/u;
  t.match(await run('audit', 'list', '--by-user', 'jane', '--type', boxType), line);
  const { position } = await firstOf(asker, boxType, 'a');
  const since = String(BigInt(position) - 1n);
  const following = run('audit', 'follow', '--by-user', 'jane', '--type', boxType, '--since', since, '--limit', '1');
  t.match(await following, line);
  t.match(await run('history', 'boxes', 'a'), /plugin:depot \(create\)\n {2}for jane, request r-1, from .*\n/u);
});

test('an export has the user as it is stored', async (t) => {
  const asker = await given(t);
  const { server, write } = asker;
  await write('PUT', `${boxes}/a`, 'r-1', { headers: as('jane') });
  const exported = await server.call('/apis/audit.svc.run/v1alpha1/export');
  const lines = (await exported.text()).split('\n').filter((line) => line.includes(`${boxType}/a`));
  const leaves = lines.map((line) => JSON.parse(line) as { readonly metadata: string });
  const stored = leaves.map(({ metadata }) => JSON.parse(metadata) as object);
  t.match(stored[0], { actor: 'plugin:depot', requestId: 'r-1', ...janes });
});

test('over EventStoreDB another node shows and finds the user', async (t) => {
  commentServer(t);
  const log = await startLogServer(t);
  const { server: first, write } = await given(t, logSettings(log));
  const second = await startTestServer({ environment: { ...logSettings(log) } });
  t.teardown(() => second.remove());
  const { text } = await write('PUT', `${boxes}/a`, 'r-1', { headers: as('jane') });
  const { resourceVersion } = JSON.parse(text) as { readonly resourceVersion: string };
  const wanted = { where: `type=${boxType},user=jane`, resourceVersion };
  const shown = await allEvents(second, wanted);
  t.match(shown, [{ actor: 'plugin:depot', requestId: 'r-1', ...janes }]);
  t.strictSame(shown, await allEvents(first, wanted));
});

test('a plugin cannot name another user than the one of its request', async (t) => {
  const asker = await given(t);
  const { write } = asker;
  await write('PUT', `${boxes}/a`, 'r-1', { headers: as('jane') });
  t.match(await firstOf(asker, boxType, 'a'), { actor: 'plugin:depot', requestId: 'r-1', ...janes });
  await write('PUT', `${boxes}/b/late`, 'r-2', { headers: as('joe') });
  const late = await firstOf(asker, boxType, 'b');
  t.match(
    late,
    { actor: 'plugin:depot', plugin: 'depot', requestId: 'r-1' },
    'by the client of a request that is over',
  );
  for (const member of Object.keys(janes)) t.notHas(late, member);
  await write('PUT', `${boxes}/c`, 'r-3');
  t.match(await firstOf(asker, boxType, 'c'), { actor: 'plugin:depot', onBehalfOf: 'system:anonymous' });
  await write('GET', `${boxes}/d/events`, 'r-4', { headers: { ...as('jane'), accept: 'text/event-stream' } });
  t.match(
    await firstOf(asker, boxType, 'd'),
    { actor: 'plugin:depot', requestId: 'r-4', ...janes },
    'while it streams',
  );
});

test("a write with the caller's rights names the caller alone, with the caller's token", async (t) => {
  const asker = await given(t);
  const { write } = asker;
  const issued = await write('POST', tokens, 'issue', { headers: as('jane'), body: { metadata: { name: 'laptop' } } });
  const { status } = JSON.parse(issued.text) as { readonly status: { readonly token: string } };
  await write('PUT', `${boxes}/a/own`, 'r-1', { headers: { authorization: `Bearer ${status.token}` } });
  const { onBehalfOf: _none, ...others } = janes;
  const own = await firstOf(asker, boxType, 'a');
  t.match(own, { actor: 'jane', plugin: 'depot', token: 'laptop', requestId: 'r-1', ...others });
  t.notHas(own, 'onBehalfOf');
});
