/** The same history on every node and log, also of a new epoch, and of types and rights that are no longer there. */

import t, { test } from 'tap';

import { systemClock } from '../../src/base/clock.ts';
import { startRestoredEpoch } from '../../src/log-tools/log-epoch.ts';
import { epochShift } from '../../src/log/log.ts';
import { openLog } from '../../src/server/open-log.ts';
import { ask, basic } from '../support/ask.ts';
import { Administration, core } from '../support/server/administration.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { startStalledNodes } from '../nodes/support/stalled-nodes.ts';

t.setTimeout(100_000);

const widgets = '/apis/example.com/v1alpha1/widgets';
const lampHistory = `${widgets}/lamp/history`;
const merge = { 'content-type': 'application/merge-patch+json' };

type History = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly { readonly id: string; readonly version: number; readonly position: string }[];
};

async function write(server: TestServer, method: string, path: string, body?: unknown): Promise<string> {
  const answer = await server.call(path, { method, body, ...(method === 'PATCH' ? { headers: merge } : {}) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  const { metadata } = (await answer.json()) as { readonly metadata: { readonly resourceVersion: string } };
  return metadata.resourceVersion;
}

async function read(server: TestServer, path = lampHistory): Promise<History> {
  const answer = await server.call(path);
  if (answer.status !== 200) throw new Error(`${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as History;
}

async function makeLamp(server: TestServer): Promise<string> {
  await write(server, 'POST', widgets, { metadata: { name: 'lamp' }, spec: { title: 'one' } });
  await write(server, 'PATCH', `${widgets}/lamp`, { spec: { title: 'two' } });
  return write(server, 'PATCH', `${widgets}/lamp`, { spec: { title: 'three' } });
}

test('two nodes over EventStoreDB show the same history; one that is behind shows what it has folded', async (t) => {
  const { first, second, stall } = await startStalledNodes(t);
  const made = await write(first, 'POST', widgets, { metadata: { name: 'lamp' }, spec: { title: 'one' } });
  await read(second, `${lampHistory}?resourceVersion=${made}`);
  stall.hold();
  const last = await write(first, 'PATCH', `${widgets}/lamp`, { spec: { title: 'two' } });
  for (const sort of ['position', 'position,desc'])
    t.same(
      (await read(second, `${lampHistory}?sort=${sort}`)).items.map(({ version }) => version),
      [0],
    );
  const { continue: token = '' } = (await read(first, `${lampHistory}?limit=1`)).metadata;
  const continued = read(second, `${lampHistory}?limit=1&continue=${token}`);
  const waiting = read(second, `${lampHistory}?resourceVersion=${last}`);
  stall.release();
  t.same(
    (await continued).items.map(({ version }) => version),
    [1],
    'a page waits for the first page’s position',
  );
  t.same((await waiting).items, (await read(first)).items);
  const newest = `${lampHistory}?sort=position,desc&include=object`;
  t.same((await read(second, newest)).items, (await read(first, newest)).items);
});

test('in a new epoch positions are those of the epoch, and tokens of earlier ones are expired', async (t) => {
  const server = await startTestServer();
  await makeLamp(server);
  const before = await read(server, `${lampHistory}?limit=2`);
  const token = before.metadata.continue ?? '';
  await server.close();
  const options = { clock: systemClock, onFatal: () => undefined, onState: () => undefined };
  const { log } = await openLog({ eventLog: { kind: 'embedded' }, dataDir: server.dataDir }, options);
  await startRestoredEpoch(log, {
    clock: systemClock,
    uuid: () => crypto.randomUUID(),
    signal: new AbortController().signal,
  });
  await log.close();
  const again = await server.restart();
  t.teardown(() => again.remove());
  const after = await read(again, `${lampHistory}?limit=2`);
  t.same(
    after.items.map(({ id, position }) => [id, BigInt(position)]),
    before.items.map(({ id, position }) => [id, BigInt(position) + epochShift(1)]),
  );
  t.equal((await again.call(`${lampHistory}?limit=2&continue=${token}`)).status, 410);
});

test('the history of a type that is not served any more is still there, under any version', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  await makeLamp(server);
  const before = await read(server);
  await write(server, 'PATCH', '/apis/plugin.svc.run/v1alpha1/plugins/example', { spec: { enabled: false } });
  while ((await server.call(`${widgets}/lamp`)).status !== 404) await new Promise(setImmediate);
  t.same((await read(server)).items, before.items);
  t.same((await read(server, '/apis/example.com/v7/widgets/lamp/history')).items, before.items);
  for (const path of [`${widgets}/never/history`, '/apis/example.com/v1/nothings/lamp/history', `${widgets}/lamp/x`])
    t.equal((await server.call(path)).status, 404, path);
  t.equal((await server.call(lampHistory, { method: 'DELETE' })).status, 405);
});

test('get on <plural>/history decides, and it alone', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  await makeLamp(server);
  const administration = new Administration(server.url);
  const password = 'a long passphrase of joe';
  await administration.call('POST', core('users'), { metadata: { name: 'joe' }, spec: { password } });
  const rule = (resources: readonly string[], verbs: readonly string[]) => ({
    rules: [{ apiGroups: ['example.com'], resources, verbs }],
  });
  await administration.call('POST', core('roles'), { metadata: { name: 'looks' }, ...rule(['widgets'], ['*']) });
  await administration.bind('joe-looks', 'looks', 'joe');
  const statuses = async (): Promise<readonly number[]> =>
    Promise.all(
      [`${widgets}/lamp`, lampHistory].map(
        async (path) => (await ask(server.url, path, { headers: { authorization: basic('joe', password) } })).status,
      ),
    );
  t.same(await statuses(), [200, 403]);
  await administration.merge('roles', 'looks', rule(['widgets/history'], ['get']));
  t.same(await statuses(), [403, 200]);
  await administration.merge('roles', 'looks', rule(['widgets/*'], ['list']));
  t.same(await statuses(), [403, 403]);
});
