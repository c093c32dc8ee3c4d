/** Over HTTP, on a real server: the whole log as one resource. */
import { test, type Test } from 'tap';

import { Administration, passwordOf } from '../../support/server/administration.ts';
import { startTestServer, testPassword, type TestServer } from '../../support/server/start-server.ts';
import { allEvents, eventsPath, listEvents, targetOf, widgetsPath, type Item } from './listed-events.ts';

async function given(t: Test, environment: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const server = await startTestServer({ environment });
  t.teardown(() => server.remove());
  return server;
}

async function write(server: TestServer, method: string, path: string, body?: unknown): Promise<string> {
  const contentType = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
  const headers = { 'x-request-id': `${method}-of-the-test`, ...contentType };
  const answer = await server.call(path, { method, body, headers });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return ((await answer.json()) as { readonly metadata: { readonly resourceVersion: string } }).metadata
    .resourceVersion;
}

/** A lamp that is made, renamed and deleted, and a bulb. */
async function someWrites(server: TestServer): Promise<void> {
  await write(server, 'POST', widgetsPath, { metadata: { name: 'lamp' }, spec: { title: 'Lamp' } });
  await write(server, 'POST', widgetsPath, { metadata: { name: 'bulb' }, spec: { title: 'Bulb' } });
  await write(server, 'PATCH', `${widgetsPath}/lamp`, { spec: { title: 'Bright lamp' } });
  await write(server, 'DELETE', `${widgetsPath}/lamp`);
}

const ofWidgets = 'type=widgets.example.com';

function summary(items: readonly Item[]): readonly string[] {
  return items.map(({ event, name }) => `${event} ${name}`);
}

test('the whole log is listed in both orders, page by page', async (t) => {
  const server = await given(t);
  await someWrites(server);
  const all = await allEvents(server, { limit: '500' });
  const positions = all.map(({ position }) => BigInt(position));
  t.ok(
    positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n)),
    'the oldest first',
  );
  t.equal(all[0]?.event, 'EpochStarted');
  t.same(summary(all.filter(({ type }) => type === 'widgets.example.com')), [
    'ObjectCreated lamp',
    'ObjectCreated bulb',
    'ObjectUpdated lamp',
    'ObjectDeletionRequested lamp',
    'ObjectDeleted lamp',
  ]);
  const newest = await allEvents(server, { limit: '7', sort: 'position,desc' });
  t.strictSame(
    newest.slice(-all.length).map(({ id }) => id),
    all.map(({ id }) => id).reverse(),
  );
  for (const { stream } of all) t.notMatch(stream, /^lease:/u);
});

test('an event has the members of a history, and its place in the log', async (t) => {
  const server = await given(t);
  await someWrites(server);
  const { kind, metadata, items } = await listEvents(server, { where: `${ofWidgets},name=lamp`, limit: '1' });
  t.equal(kind, 'EventList');
  t.match(metadata, { resourceVersion: /^\d+$/u, continue: /./u });
  const [item] = items;
  const { uid, position } = item ?? {};
  t.match(item, {
    apiVersion: 'audit.svc.run/v1alpha1',
    kind: 'Event',
    metadata: { name: position, resourceVersion: position, uid: item?.id },
    event: 'ObjectCreated',
    stream: 'object:widgets.example.com/lamp',
    type: 'widgets.example.com',
    name: 'lamp',
    version: 0,
    actor: 'admin',
    verb: 'create',
    requestId: 'POST-of-the-test',
    correlationId: 'POST-of-the-test',
    address: '127.0.0.1',
  });
  const history = (await (await server.call(`${widgetsPath}/lamp/history?limit=1`)).json()) as { items: Item[] };
  const { change, ...entry } = history.items[0] ?? {};
  t.match(item, entry);
  const parts = await listEvents(server, {
    where: `uid=${uid ?? ''},event=ObjectUpdated`,
    include: 'change,object,data',
  });
  t.match(parts.items, [
    {
      change: [{ path: '/metadata/version' }, {}, { path: '/spec/title' }],
      object: { spec: { title: 'Bright lamp' } },
    },
  ]);
  t.match(parts.items[0]?.data, { object: { metadata: { name: 'lamp' } } });
  t.equal(change?.[0]?.path, '');
  const one = await server.call(`${eventsPath}/${position ?? ''}`);
  t.match(await one.json(), { ...item, object: { metadata: { name: 'lamp' } } });
  for (const absent of ['0', '999999', 'lamp'])
    t.equal((await server.call(`${eventsPath}/${absent}`)).status, 404, absent);
  const foreign = await server.call(`${eventsPath}/${'9'.repeat(20)}`);
  t.match({ status: foreign.status, text: await foreign.text() }, { status: 410, text: /another epoch/u });
});

test('fields are selected with =, !=, sets, prefixes and ranges', async (t) => {
  const server = await given(t);
  await someWrites(server);
  const all = await allEvents(server, { limit: '500' });
  const lamp = all.filter(({ name }) => name === 'lamp');
  const [first, last] = [lamp[0], lamp.at(-1)];
  const { position: from = '', time: begin = '' } = first ?? {};
  const cases: readonly (readonly [string, (item: Item) => boolean])[] = [
    ['name=lamp', ({ name }) => name === 'lamp'],
    ['name in (lamp, bulb),verb!=create', ({ name, verb }) => ['lamp', 'bulb'].includes(name) && verb !== 'create'],
    ['actor!=admin,type=roles', ({ actor, type }) => actor !== 'admin' && type === 'roles'],
    [
      'actor^=system:,event=ObjectCreated',
      ({ actor, event }) => actor.startsWith('system:') && event === 'ObjectCreated',
    ],
    ['type=secret', ({ stream }) => stream.startsWith('secret:')],
    ['type in (platform, type),!address', ({ type }) => ['platform', 'type'].includes(type)],
    [`position>=${from},position<${last?.position ?? ''}`, ({ position }) => isIn(position, from, last?.position)],
    [`position=${from}`, ({ position }) => position === from],
    [`time>=${begin}`, ({ time }) => time >= begin],
    [`time<=${begin},actor=admin`, ({ time, actor }) => time <= begin && actor === 'admin'],
    [`requestId=PATCH-of-the-test`, ({ requestId }) => requestId === 'PATCH-of-the-test'],
    [`correlationId=DELETE-of-the-test`, ({ correlationId }) => correlationId === 'DELETE-of-the-test'],
    [`uid=${first?.uid ?? ''}`, ({ uid }) => uid === first?.uid],
    ['address=127.0.0.1,name=bulb', ({ address, name }) => address === '127.0.0.1' && name === 'bulb'],
    ['name=nobody', () => false],
  ];
  for (const [where, holds] of cases) {
    const wanted = all.filter(holds).map(({ id }) => id);
    if (where !== 'name=nobody') t.not(wanted.length, 0, where);
    const found = await allEvents(server, { where, limit: '3' });
    t.strictSame(
      found.map(({ id }) => id).filter((id) => all.some((item) => item.id === id)),
      wanted,
      where,
    );
    const backwards = await allEvents(server, { where, limit: '2', sort: 'position,desc' });
    t.strictSame(
      backwards
        .map(({ id }) => id)
        .reverse()
        .slice(0, wanted.length),
      wanted,
      `${where}, the newest first`,
    );
  }
});

function isIn(position: string, from: string, until = ''): boolean {
  return BigInt(position) >= BigInt(from) && BigInt(position) < BigInt(until);
}

test('of secrets nothing is shown but the SHA-256 of the data', async (t) => {
  const server = await given(t);
  const administration = new Administration(server.url);
  await administration.user('jane');
  const secrets = await allEvents(server, { where: 'type=secret', include: 'data,object,change' });
  t.ok(secrets.length >= 2);
  for (const { event, data, dataSha256, uid, name } of secrets) {
    t.equal(event, 'PasswordSet');
    t.equal(data, undefined);
    t.match(dataSha256, /^[0-9a-f]{64}$/u);
    t.equal(uid, name);
  }
  const text = JSON.stringify(await allEvents(server, { include: 'data,object,change', limit: '500' }));
  t.match(text, /"name":"jane"/u);
  for (const secret of [passwordOf('jane'), testPassword, '$argon2', '$scrypt', '"hash":"$'])
    t.notOk(text.includes(secret), secret);
});

test('log-ins and refusals are events with their data', async (t) => {
  const server = await given(t, { ACCESS_EVENTS: 'on' });
  await server.call(widgetsPath, { headers: { authorization: 'Basic bm9ib2R5Ondyb25n' } });
  for (;;) {
    const { items } = await listEvents(server, { where: 'type=access' });
    if (items.length === 0) continue;
    t.match(items[0], { event: 'AccessRecorded', data: { counts: { 'login-failed': 1 } } });
    break;
  }
});

test('events after the newest one are an empty list, and later the next events', async (t) => {
  const server = await given(t);
  const { metadata } = await listEvents(server, { limit: '1' });
  const where = `position>${metadata.resourceVersion}`;
  t.strictSame((await listEvents(server, { where })).items, []);
  await server.call(widgetsPath, { method: 'POST', body: { metadata: { name: 'late' }, spec: { title: 'late' } } });
  t.match(await listEvents(server, { where }), { items: [{ event: 'ObjectCreated', name: 'late' }] });
});

test('what cannot be is refused with its reason', async (t) => {
  const server = await given(t);
  await someWrites(server);
  const { metadata } = await listEvents(server, { limit: '1' });
  const refused: readonly (readonly [Readonly<Record<string, string>>, number, RegExp])[] = [
    [{ where: 'colour=red' }, 400, /field label not supported: colour; the fields are .*actor.*time, position/u],
    [{ where: 'time>=yesterday' }, 400, /time: must be an RFC 3339 time.*yesterday/u],
    [{ where: 'time^=2026' }, 400, /time: accepts =, <, <=, > and >=, each with one value/u],
    [{ where: 'time>=2999-01-01T00:00:00Z' }, 400, /2999-01-01T00:00:00.000Z is in the future/u],
    [{ where: 'time<1999-01-01T00:00:00Z' }, 400, /1998-12-31T23:59:59.999Z is before the log’s first event/u],
    [{ where: 'position>=first' }, 400, /position: must be a log position/u],
    [{ where: 'position>=999999' }, 400, /position 999999 is beyond the head of the log, \d+/u],
    [{ where: `position<=${'9'.repeat(20)}` }, 410, /belongs to another epoch/u],
    [{ where: `position>1${'0'.repeat(19)}5` }, 410, /position 100000000000000000005 belongs to another epoch/u],
    [{ where: 'position>999999' }, 400, /position 999999 is beyond the head of the log, \d+/u],
    [{ where: 'position>5,position<5' }, 400, /position: the range of the conditions is empty/u],
    [
      { where: 'time>2026-01-02T00:00:00Z,time<2026-01-01T00:00:00Z' },
      400,
      /time: the range of the conditions is empty/u,
    ],
    [{ labelSelector: 'a=b' }, 400, /events have no labels/u],
    [{ fieldselector: 'actor=admin' }, 400, /no query parameter "fieldselector"; did you mean "fieldSelector"/u],
    [{ inclde: 'object' }, 400, /no query parameter "inclde"; did you mean "include"/u],
    [{ actor: 'joe' }, 400, /there is no query parameter "actor"/u],
    [{ watch: 'true', actor: 'joe' }, 400, /there is no query parameter "actor"/u],
    [{ ['n'.repeat(300)]: '' }, 400, /there is no query parameter "n{100}…"/u],
    [{ include: 'secrets' }, 422, /must be object, change or data/u],
    [{ sort: 'actor' }, 400, /sort: must be "position"/u],
    [{ page: '2' }, 400, /page: is not a parameter of lists of events/u],
    [{ continue: 'abc' }, 400, /is not a token of this query/u],
    [{ continue: metadata.continue ?? '', sort: 'position,desc' }, 400, /is not a token of this query/u],
    [{ continue: metadata.continue ?? '', where: 'verb=get' }, 400, /is not a token of this query/u],
    [{ resourceVersion: '9'.repeat(20) }, 410, /belongs to another epoch/u],
    [{ watch: 'true', where: 'time>=2026-01-01T00:00:00Z' }, 400, /time is supported for lists only/u],
    [{ watch: 'true', where: 'colour=red' }, 400, /field label not supported/u],
    [
      { watch: 'true', at: '5' },
      400,
      /at: a watch does not support this parameter; to start the watch after a position, set/u,
    ],
    [{ watch: 'true', include: 'object' }, 400, /include: is not a parameter of a watch/u],
  ];
  for (const [wanted, status, detail] of refused) {
    const answer = await server.call(targetOf(wanted));
    const text = await answer.text();
    t.equal(answer.status, status, `${JSON.stringify(wanted)}: ${text}`);
    t.match(text.replaceAll('\\"', '"'), detail);
  }
  const tools = 'pretty=true&timeout=5s&fieldManager=a&_=1';
  t.equal((await server.call(`${eventsPath}?${tools}`)).status, 200, 'parameters of tools are ignored');
  t.equal((await server.call(eventsPath, { method: 'POST', body: {} })).status, 405);
});
