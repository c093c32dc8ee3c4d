/** Over HTTP, on a real server: an object as it was at a position or a time. */
import t, { test, type Test } from 'tap';

import { systemClock } from '../../src/base/clock.ts';
import { startRestoredEpoch } from '../../src/log-tools/log-epoch.ts';
import { openLog } from '../../src/server/open-log.ts';
import { Administration, as, core } from '../support/server/administration.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { startStalledNodes } from '../nodes/support/stalled-nodes.ts';

t.setTimeout(280_000);

const widgets = '/apis/example.com/v1alpha1/widgets';
const lamp = `${widgets}/lamp`;
const merge = { 'content-type': 'application/merge-patch+json' };

type Shown = {
  readonly metadata: { readonly resourceVersion: string; readonly version: number; readonly uid: string };
};
type State = { readonly position: bigint; readonly text: string; readonly etag: string | null };

async function given(t: Test): Promise<TestServer> {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  return server;
}

async function write(server: TestServer, method: string, path: string, body?: unknown): Promise<Shown> {
  const answer = await server.call(path, { method, body, ...(method === 'PATCH' ? { headers: merge } : {}) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as Shown;
}

async function stateOf(server: TestServer, path = lamp): Promise<State> {
  const answer = await server.call(path);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${String(answer.status)} ${text}`);
  const { metadata } = JSON.parse(text) as Shown;
  return { position: BigInt(metadata.resourceVersion), text, etag: answer.headers.get('etag') };
}

/** A lamp in three states, deleted, and made again. */
async function statesOf(server: TestServer): Promise<{ readonly states: readonly State[]; readonly deleted: bigint }> {
  const made = (title: string) => ({ metadata: { name: 'lamp', labels: { title } }, spec: { title } });
  await write(server, 'POST', widgets, made('one'));
  const states = [await stateOf(server)];
  for (const title of ['two', 'three']) {
    await write(server, 'PATCH', lamp, { spec: { title } });
    await write(server, 'POST', widgets, { metadata: { name: `beside-${title}` }, spec: { title } });
    states.push(await stateOf(server));
  }
  const { metadata } = await write(server, 'DELETE', lamp);
  await write(server, 'POST', widgets, made('again'));
  states.push(await stateOf(server));
  return { states, deleted: BigInt(metadata.resourceVersion) };
}

test('the state at each position is the answer of that moment', async (t) => {
  const server = await given(t);
  const { states, deleted } = await statesOf(server);
  const [first, , , last] = states;
  for (let at = (first?.position ?? 0n) - 1n; at <= (last?.position ?? 0n); at += 1n) {
    const answer = await server.call(`${lamp}?at=${at.toString()}`);
    const text = await answer.text();
    const expected = states.findLast(({ position }) => position <= at);
    const isGone = at >= deleted && at < (last?.position ?? 0n);
    // The two events of the deletion are one append; the first of them shows the mark.
    if (at === deleted - 1n) continue;
    if (expected === undefined || isGone) {
      t.equal(answer.status, 404, at.toString());
      t.match(text, new RegExp(`lamp.* not found at position ${at.toString()}`, 'u'));
    } else {
      t.strictSame(
        [answer.status, text, answer.headers.get('etag')],
        [200, expected.text, expected.etag],
        at.toString(),
      );
    }
  }
  const never = await server.call(`${widgets}/never?at=${String(last?.position)}`);
  t.equal(never.status, 404);
});

test('a time leads to the state of that time', async (t) => {
  const server = await given(t);
  const { states } = await statesOf(server);
  const history = await server.call(`${lamp}/history`);
  const { items } = (await history.json()) as {
    readonly items: readonly { readonly time: string; readonly position: string }[];
  };
  const [created] = items;
  const before = Date.parse(created?.time ?? '') - 1;
  t.equal((await server.call(`${lamp}?at=${new Date(before).toISOString()}`)).status, 404, 'before its creation');
  const last = items.at(-1)?.time ?? '';
  const shown = await server.call(`${lamp}?at=${encodeURIComponent(last.replace('Z', '+00:00'))}`);
  t.equal(await shown.text(), states.at(-1)?.text);
});

test('conditions, forms and HEAD are those of a GET', async (t) => {
  const server = await given(t);
  const { states } = await statesOf(server);
  const [, second] = states;
  const path = `${lamp}?at=${String(second?.position)}`;
  const headers = { 'if-none-match': second?.etag ?? '' };
  t.equal((await server.call(path, { headers })).status, 304);
  t.equal((await server.call(path, { headers: { 'if-match': '"77"' } })).status, 412);
  const head = await server.call(path, { method: 'HEAD' });
  t.strictSame([head.status, head.headers.get('etag'), await head.text()], [200, second?.etag, '']);
  const table = await server.call(path, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
  t.match(await table.json(), { kind: 'Table', rows: [{ object: { metadata: { name: 'lamp' } } }] });
  const bare = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
  t.match(await (await server.call(path, { headers: bare })).json(), { kind: 'PartialObjectMetadata' });
  const yaml = await server.call(path, { headers: { accept: 'application/yaml' } });
  t.match(await yaml.text(), /^ {2}title: two$/mu);
});

test('moments that the log does not have are refused', async (t) => {
  const server = await given(t);
  const { states } = await statesOf(server);
  const position = String(states[1]?.position);
  const refusals: readonly (readonly [query: string, status: number, detail: RegExp])[] = [
    ['at=', 400, /must be one position of the log or one time/u],
    ['at=yesterday', 400, /must be one position of the log or one time/u],
    ['at=-1', 400, /must be one position/u],
    [`at=${position}&at=${position}`, 400, /must be one position/u],
    [`at=${position}&resourceVersion=${position}`, 400, /cannot be combined with resourceVersion/u],
    [
      `at=${position}&watch=true`,
      400,
      /a watch does not support this parameter; to start the watch after a position, set resourceVersion/u,
    ],
    [`At=${position}`, 400, /did you mean|does not support past states/u],
    [`at=${position}&fieldselector=a`, 400, /did you mean .{1,2}fieldSelector/u],
    ['at=0', 400, /before the log’s first event/u],
    ['at=1999-01-01T00:00:00Z', 400, /before the log’s first event/u],
    ['at=2999-01-01T00:00:00Z', 400, /in the future/u],
    ['at=999999999', 400, /beyond the end of the log/u],
    ['at=9999999999999999999999999', 410, /another epoch/u],
  ];
  for (const [query, status, detail] of refusals) {
    const answer = await server.call(`${lamp}?${query}`);
    t.equal(answer.status, status, query);
    t.match(await answer.text(), detail, query);
  }
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const body = method === 'DELETE' ? undefined : {};
    const answer = await server.call(`${lamp}?at=${position}`, {
      method,
      body,
      ...(method === 'PATCH' ? { headers: merge } : {}),
    });
    t.equal(answer.status, 400, method);
  }
  t.equal((await server.call(`${lamp}/status?at=${position}`)).status, 400);
});

test('in a new epoch the positions of the last one are gone, and its events have new ones', async (t) => {
  const server = await startTestServer();
  const { states } = await statesOf(server);
  const [first] = states;
  await server.close();
  const options = { clock: systemClock, onFatal: () => undefined, onState: () => undefined };
  const { log } = await openLog({ eventLog: { kind: 'embedded' }, dataDir: server.dataDir }, options);
  const { signal } = new AbortController();
  await startRestoredEpoch(log, { clock: systemClock, uuid: () => crypto.randomUUID(), signal });
  await log.close();
  const again = await server.restart();
  t.teardown(() => again.remove());
  const expired = await again.call(`${lamp}?at=${String(first?.position)}`);
  t.equal(expired.status, 410);
  const history = await again.call(`${lamp}/history`);
  const { items } = (await history.json()) as { readonly items: readonly { readonly position: string }[] };
  const shown = await again.call(`${lamp}?at=${items[0]?.position ?? ''}`);
  t.match(await shown.json(), { metadata: { version: 0 }, spec: { title: 'one' } });
});

test('a type that is not served any more still shows its past, and its right is get', async (t) => {
  const server = await given(t);
  const { states } = await statesOf(server);
  const path = `${lamp}?at=${String(states[2]?.position)}`;
  const administration = new Administration(server.url);
  await administration.user('joe');
  const rule = (resources: readonly string[]) => ({
    rules: [{ apiGroups: ['example.com'], resources, verbs: ['get'] }],
  });
  await administration.call('POST', core('roles'), { metadata: { name: 'looks' }, ...rule(['widgets/history']) });
  await administration.bind('joe-looks', 'looks', 'joe');
  t.equal((await server.call(path, { headers: as('joe') })).status, 403);
  await administration.merge('roles', 'looks', rule(['widgets']));
  t.equal((await server.call(path, { headers: as('joe') })).status, 200);
  await write(server, 'PATCH', '/apis/plugin.svc.run/v1alpha1/plugins/example', { spec: { enabled: false } });
  while ((await server.call(lamp)).status !== 404) await new Promise(setImmediate);
  t.equal(await (await server.call(path)).text(), states[2]?.text);
  t.equal((await server.call(`${widgets}/never?at=${String(states[2]?.position)}`)).status, 404);
});

test('a user of the past has no password', async (t) => {
  const server = await given(t);
  const made = await write(server, 'POST', core('users'), {
    metadata: { name: 'jane' },
    spec: { displayName: 'Jane', password: 'a long passphrase of jane' },
  });
  await write(server, 'PATCH', core('users', 'jane'), { spec: { displayName: 'Jane Doe' } });
  const answer = await server.call(`${core('users', 'jane')}?at=${made.metadata.resourceVersion}`);
  const text = await answer.text();
  t.match(JSON.parse(text), { spec: { displayName: 'Jane' } });
  t.notMatch(text, /scrypt|passphrase/u);
});

test('a node that is behind waits for the position', async (t) => {
  const { first, second, stall } = await startStalledNodes(t);
  const made = await write(first, 'POST', widgets, { metadata: { name: 'lamp' }, spec: { title: 'one' } });
  stall.hold();
  const changed = await write(first, 'PATCH', lamp, { spec: { title: 'two' } });
  const waiting = second.call(`${lamp}?at=${changed.metadata.resourceVersion}`);
  stall.release();
  t.match(await (await waiting).json(), { spec: { title: 'two' } });
  for (const node of [first, second])
    t.match(await (await node.call(`${lamp}?at=${made.metadata.resourceVersion}`)).json(), { spec: { title: 'one' } });
});

test('a node refuses a position that only its audit indexes have folded', async (t) => {
  const { first, second, stall } = await startStalledNodes(t);
  const begun = await write(first, 'POST', widgets, { metadata: { name: 'begun' }, spec: { title: 'one' } });
  const listAt = (position: string): string => `${widgets}?at=${position}&fieldSelector=metadata.name=lamp`;
  // The second node has columns from now on.
  while ((await second.call(listAt(begun.metadata.resourceVersion))).status !== 200) await new Promise(setImmediate);
  stall.hold(({ categories }) => categories?.includes('access') !== true);
  const made = await write(first, 'POST', widgets, { metadata: { name: 'lamp' }, spec: { title: 'one' } });
  const paths = [`${lamp}?at=${made.metadata.resourceVersion}`, listAt(made.metadata.resourceVersion)];
  for (const path of paths) {
    let answer = await second.call(path);
    while (answer.status === 400) answer = await second.call(path);
    t.equal(answer.status, 503, path);
    t.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  stall.release();
  for (const path of paths) {
    let answer = await second.call(path);
    while (answer.status === 503) answer = await second.call(path);
    t.match(await answer.text(), /"name":"lamp"/u);
  }
});
