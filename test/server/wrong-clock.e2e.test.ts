/**
 * A node with a wrong clock: over EventStoreDB it writes nothing and reports the reason, on the embedded log nothing
 * later follows it.
 */
import { setTimeout as pause } from 'node:timers/promises';

import { test, type Test } from 'tap';

import { systemClock, type Clock } from '../../src/base/clock.ts';
import { startEventStore } from '../support/eventstore/eventstore.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
const hour = 3_600_000;

type Skewed = Clock & { skewMs: number };

function skewed(skewMs = 0): Skewed {
  const clock: Skewed = {
    skewMs,
    now: () => systemClock.now() + clock.skewMs,
    monotonic: () => systemClock.monotonic(),
    after: (ms, task) => systemClock.after(ms, task),
  };
  return clock;
}

type Made = { readonly metadata: { readonly creationTimestamp: string } };

async function create(
  server: TestServer,
  name: string,
): Promise<{ readonly status: number; readonly body: Made & { readonly message?: string } }> {
  const response = await server.call(widgets, { method: 'POST', body: { metadata: { name }, spec: { title: name } } });
  return { status: response.status, body: (await response.json()) as Made };
}

async function onEventStore(t: Test, clock: Clock, onListening?: (url: string) => void): Promise<TestServer> {
  const store = await startEventStore();
  const server = await startTestServer({
    clock,
    environment: { EVENT_LOG: store.url },
    ...(onListening && { onListening }),
  });
  t.teardown(async () => {
    await server.remove();
    await store.stop();
  });
  return server;
}

test("a node more than a minute off the log's clock refuses writes with the reason, until it is right", async (t) => {
  const clock = skewed();
  const server = await onEventStore(t, clock);
  t.equal((await create(server, 'right')).status, 201);
  for (const [skewMs, words] of [
    [hour, 'ahead of'],
    [-hour, 'behind'],
    [10 * 365 * 24 * hour, 'ahead of'],
  ] as const) {
    clock.skewMs = skewMs;
    const { status, body } = await create(server, 'wrong');
    t.equal(status, 503);
    const line = new RegExp(`the clock of this server is \\d+ s ${words} the event log's`, 'u');
    t.match(body.message, line);
    const ready = await server.call('/readyz');
    t.equal(ready.status, 503);
    t.match(await ready.text(), line);
    for (const [method, path] of [
      ['DELETE', `${widgets}/right`],
      ['PUT', `${widgets}/right`],
      ['DELETE', widgets],
    ] as const) {
      const refused = await server.call(path, {
        method,
        ...(method === 'PUT' ? { body: { metadata: { name: 'right' }, spec: { title: 'x' } } } : {}),
      });
      t.equal(refused.status, 503, `${method} ${path}`);
    }
    t.equal((await server.call(`${widgets}/right`)).status, 200, 'it is read');
  }
  clock.skewMs = 50_000;
  t.equal((await create(server, 'within')).status, 201);
  clock.skewMs = 0;
  t.equal((await server.call('/readyz')).status, 200);
  const { status, body } = await create(server, 'again');
  t.equal(status, 201);
  t.ok(Date.parse(body.metadata.creationTimestamp) < Date.now() + 60_000);
});

test('a node that starts with a wrong clock reports it, writes nothing, and is ready once it is right', async (t) => {
  const clock = skewed(-hour);
  let listening: (url: string) => void = () => undefined;
  const url = new Promise<string>((resolve) => {
    listening = resolve;
  });
  const starting = onEventStore(t, clock, listening);
  const readyz = `${await url}/readyz`;
  const reasons = async (): Promise<string> => (await fetch(readyz)).text();
  for (let tries = 0; tries < 400 && !(await reasons()).includes('3600 s behind'); tries += 1) await pause(20);
  t.match(await reasons(), /the clock of this server is 3600 s behind the event log's/u);
  clock.skewMs = 0;
  const server = await starting;
  t.equal((await create(server, 'right')).status, 201);
});

test('a node without the lease detects its wrong clock before its first write', async (t) => {
  const store = await startEventStore();
  t.teardown(async () => store.stop());
  const environment = { EVENT_LOG: store.url };
  const leader = await startTestServer({ environment });
  t.teardown(async () => leader.remove());
  const clock = skewed(hour);
  let listening: (url: string) => void = () => undefined;
  const url = new Promise<string>((resolve) => {
    listening = resolve;
  });
  const starting = startTestServer({
    clock,
    environment,
    onListening: (at) => {
      listening(at);
    },
  });
  t.teardown(async () => (await starting).remove());
  const readyz = `${await url}/readyz`;
  const reasons = async (): Promise<string> => (await fetch(readyz)).text();
  while (!(await reasons()).includes("the clock of this server is 3600 s ahead of the event log's")) await pause(20);
  t.equal(await (await leader.call('/readyz')).text(), 'ok', 'the other node is not affected');
  clock.skewMs = 0;
  t.equal((await create(await starting, 'right')).status, 201);
});

test('on the embedded log later times do not follow a clock that was years ahead, and it warns', async (t) => {
  const clock = skewed(10 * 365 * 24 * hour);
  const lines: string[] = [];
  const server = await startTestServer({
    clock,
    logLines: {
      write: (line) => {
        lines.push(line);
      },
    },
  });
  t.teardown(async () => server.remove());
  t.ok(Date.parse((await create(server, 'wrong')).body.metadata.creationTimestamp) > Date.now() + hour);
  clock.skewMs = 0;
  const { body } = await create(server, 'right');
  t.ok(Math.abs(Date.parse(body.metadata.creationTimestamp) - Date.now()) < 60_000, body.metadata.creationTimestamp);
  const token = {
    metadata: { name: 'short' },
    spec: { description: 'd', expiresAt: new Date(Date.now() + hour).toISOString() },
  };
  const issued = await server.call('/apis/uc.api.svc.run/v1alpha1/personalaccesstokens', {
    method: 'POST',
    body: token,
  });
  t.equal(issued.status, 201, await issued.text());
  t.ok(lines.some((line) => line.includes('the clock of this node or of another node is wrong')));
});
