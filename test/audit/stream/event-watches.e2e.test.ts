/** Watches of the audit stream, by all transports, and the rights that decide what it shows. */
import { test, type Test } from 'tap';

import { Administration, as } from '../../support/server/administration.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { transports, Watching, type Transport } from '../../support/watching.ts';
import { allEvents, eventsPath, listEvents, targetOf, widgetsPath, type Item } from './listed-events.ts';

const admin = { authorization: adminAuthorization };

async function given(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  return server;
}

async function make(server: TestServer, name: string): Promise<void> {
  const body = { metadata: { name }, spec: { title: name } };
  const answer = await server.call(widgetsPath, { method: 'POST', body });
  if (answer.status !== 201) throw new Error(await answer.text());
}

type Open = { readonly transport?: Transport; readonly headers?: Readonly<Record<string, string>> };

async function watch(
  t: Test,
  server: TestServer,
  wanted: Readonly<Record<string, string>>,
  { transport = 'json', headers = admin }: Open = {},
): Promise<Watching> {
  const watching = await Watching.open(server.url, targetOf(wanted), { transport, headers });
  t.teardown(() => {
    watching.leave();
  });
  return watching;
}

function itemsOf(watching: Watching): readonly Item[] {
  return watching.events.filter(({ type }) => type === 'ADDED').map(({ object }) => object as unknown as Item);
}

for (const transport of transports) {
  test(`a watch by ${transport} shows exactly the events after its position, as the list does`, async (t) => {
    const server = await given(t);
    const { metadata } = await listEvents(server, { limit: '1' });
    const { resourceVersion } = metadata;
    await make(server, 'a');
    const watching = await watch(t, server, { resourceVersion }, { transport });
    await watching.until(() => itemsOf(watching).some(({ name }) => name === 'a'));
    for (const name of ['b', 'c', 'd']) await make(server, name);
    await watching.until(() => itemsOf(watching).some(({ name }) => name === 'd'));
    const after = await allEvents(server, { where: `position>${resourceVersion}` });
    const shown = itemsOf(watching);
    t.strictSame(shown, after.slice(0, shown.length));
  });
}

test('a watch without a position begins with all events', async (t) => {
  const server = await given(t);
  await make(server, 'a');
  const all = await allEvents(server, { where: 'type=widgets.example.com', limit: '500' });
  const watching = await watch(t, server, { where: 'type=widgets.example.com' });
  await watching.until(() => itemsOf(watching).length >= all.length);
  await make(server, 'b');
  await watching.until(() => itemsOf(watching).length > all.length);
  t.strictSame(itemsOf(watching).slice(0, all.length), all);
  t.match(itemsOf(watching).at(-1), { event: 'ObjectCreated', name: 'b' });
});

test('a list and a watch can begin with a marked state, and a watch only with what is new', async (t) => {
  const server = await given(t);
  await make(server, 'a');
  const options = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
  const marked = await watch(t, server, { ...options, where: 'name=a' });
  await marked.until(() => marked.events.some(({ type }) => type === 'BOOKMARK'));
  t.match(marked.events, [
    { type: 'ADDED', object: { event: 'ObjectCreated', name: 'a' } },
    { type: 'BOOKMARK', object: { kind: 'Event', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } },
  ]);
  const news = await watch(t, server, { ...options, sendInitialEvents: 'false', where: 'verb=create' });
  await make(server, 'b');
  await news.until(() => news.events.length > 0);
  t.match(news.events[0], { type: 'ADDED', object: { name: 'b' } });
});

test('a position that the log never reached ends the watch with 410', async (t) => {
  const server = await given(t);
  const watching = await watch(t, server, { resourceVersion: '9'.repeat(20) });
  await watching.ended();
  t.match(watching.events, [{ type: 'ERROR', object: { code: 410 } }]);
});

test('who may read the history of some types sees the events of their objects alone', async (t) => {
  const server = await given(t);
  const administration = new Administration(server.url);
  for (const user of ['nobody', 'auditor', 'confined', 'blind']) await administration.user(user);
  await administration.bind('auditors', 'role-template-audit-viewer', 'auditor');
  const events = { apiGroups: ['audit.svc.run'], resources: ['events'], verbs: ['list', 'watch'] };
  const history = { apiGroups: ['example.com'], resources: ['widgets/history'], verbs: ['get'] };
  await administration.role('widget-auditor', { rules: [events, history] });
  await administration.bind('widget-auditors', 'widget-auditor', 'confined');
  await administration.role('blind-auditor', { rules: [events] });
  await administration.bind('blind-auditors', 'blind-auditor', 'blind');
  await make(server, 'a');
  const typesOf = async (user: string, where = ''): Promise<readonly string[] | number> => {
    const answer = await server.call(targetOf({ where, limit: '1' }), { headers: as(user) });
    if (answer.status !== 200) return answer.status;
    const items = await allEvents(server, { where, limit: '500' }, { headers: as(user) });
    return [...new Set(items.map(({ type }) => type))].sort();
  };
  const all = await allEvents(server, { limit: '500' });
  t.strictSame(await typesOf('auditor'), [...new Set(all.map(({ type }) => type))].sort());
  t.strictSame(await typesOf('confined'), ['widgets.example.com']);
  t.strictSame(await typesOf('confined', 'type in (users, widgets.example.com)'), ['widgets.example.com']);
  t.strictSame(await typesOf('confined', 'actor=admin'), ['widgets.example.com']);
  for (const where of ['type=users', 'type=secret', 'type=platform', 'verb!=create'])
    t.strictSame(await typesOf('confined', where), [], where);
  t.strictSame(await typesOf('blind'), []);
  t.strictSame(await typesOf('nobody'), 403);
  const position = all[0]?.position ?? '';
  const get = async (user: string): Promise<number> =>
    (await server.call(`${eventsPath}/${position}`, { headers: as(user) })).status;
  t.strictSame([await get('auditor'), await get('confined'), await get('nobody')], [200, 403, 403]);
});

test('a watch ends when it would show other events, and one that begins again shows them', async (t) => {
  const server = await given(t);
  const administration = new Administration(server.url);
  await administration.user('jane');
  const rules = [
    { apiGroups: ['audit.svc.run'], resources: ['events'], verbs: ['list', 'watch'] },
    { apiGroups: ['example.com'], resources: ['*/history'], verbs: ['get'] },
  ];
  await administration.role('auditor', { rules });
  await administration.bind('auditors', 'auditor', 'jane');
  const { metadata } = await listEvents(server, { limit: '1' });
  const from = { resourceVersion: metadata.resourceVersion };
  const early = await watch(t, server, from, { headers: as('jane') });
  await make(server, 'a');
  await early.ended();
  t.match(early.events.at(-1), { type: 'ERROR', object: { code: 503, message: /first events/u } });
  const watching = await watch(t, server, from, { headers: as('jane'), transport: 'websocket' });
  await watching.until(() => itemsOf(watching).length > 0);
  t.match(itemsOf(watching), [{ event: 'ObjectCreated', type: 'widgets.example.com', name: 'a' }]);
  await administration.merge('roles', 'auditor', { rules: rules.slice(0, 1) });
  t.equal(await watching.ended(), 4403);
  t.match(watching.events.at(-1), { type: 'ERROR', object: { code: 403 } });
  const narrow = await watch(t, server, from, { headers: as('jane'), transport: 'websocket' });
  await administration.remove('rolebindings', 'auditors');
  t.equal(await narrow.ended(), 4403);
  t.strictSame(itemsOf(narrow), []);
});
