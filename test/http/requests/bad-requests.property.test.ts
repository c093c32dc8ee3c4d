import { randomInt } from 'node:crypto';
import { setTimeout as passes } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import fc from 'fast-check';
import t, { test } from 'tap';

import { startTestServer } from '../../support/server/start-server.ts';
import { badRequest, hugeRequests } from './bad-request-arbitraries.ts';
import { widgets } from './bad-request-parts.ts';
import { answersIn, closeCodeIn, exchange, lackOf, type BadRequest } from './bad-request.ts';
import { badFrames, badHandshake, type BadFrames } from './bad-sockets.ts';

/** `PBT_RUNS` (requests) and `PBT_SEED` make it longer, and repeat a failure. */
const requests = Number(process.env['PBT_RUNS'] ?? 10_000);
const seed = Number(process.env['PBT_SEED'] ?? randomInt(2 ** 31));
t.comment(`PBT_SEED=${String(seed)}`);

/** Sent side by side, so that they meet in the server. */
const batch = 20;
const heapGrowthBytesMax = 8 * 1_048_576;

const lines: string[] = [];
const server = await startTestServer({
  logLines: {
    write: (line) => {
      if (/"level":[56]0/u.test(line)) lines.push(line);
    },
  },
});
t.teardown(() => server.remove());
const port = Number(new URL(server.url).port);
await server.call(widgets, { method: 'POST', body: { metadata: { name: 'held' }, spec: { title: 'Held' } } });

async function refusedAsItShould(bad: BadRequest): Promise<void> {
  const received = await exchange(port, bad);
  const answers = answersIn(received);
  const shown = (): string =>
    `${bad.what}: ${received.subarray(0, 500).toString('latin1')}\n` +
    `to: ${Buffer.concat(bad.chunks).subarray(0, 500).toString('latin1')}`;
  if (answers === undefined) throw new Error(`no HTTP answers ${shown()}`);
  if (answers.length === 0 && !bad.statuses.includes('cut')) throw new Error(`nothing answers ${shown()}`);
  for (const answer of answers) {
    if (!bad.statuses.includes(answer.status))
      throw new Error(`${String(answer.status)} and not ${bad.statuses.join(' or ')} answers ${shown()}`);
    const lack = lackOf(answer);
    if (lack !== undefined) throw new Error(`${lack}: ${shown()}`);
  }
}

async function closedAsItShould(bad: BadFrames): Promise<void> {
  const received = await exchange(port, bad);
  if (bad.closeCodes === 'any') return;
  const code = closeCodeIn(received);
  if (code === undefined || !bad.closeCodes.includes(code))
    throw new Error(
      `${String(code)} and not ${bad.closeCodes.join(' or ')} closes ${bad.what}: ` +
        Buffer.concat(bad.chunks.slice(1)).subarray(0, 100).toString('hex'),
    );
}

async function allOf<Bad>(bad: fc.Arbitrary<Bad>, share: number, holds: (bad: Bad) => Promise<void>): Promise<void> {
  const property = fc.asyncProperty(
    fc.array(bad, { minLength: batch, maxLength: batch, size: 'max' }),
    async (some) => {
      await Promise.all(some.map(holds));
    },
  );
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns: Math.ceil((requests * share) / batch) });
  // Not the library's report: it holds every byte of every request of the batch.
  if (failed)
    throw new Error(
      `PBT_SEED=${String(seed)}: ${errorInstance instanceof Error ? errorInstance.message : 'interrupted'}`,
    );
}

/** The position of the log's last event. */
async function logHead(): Promise<string> {
  const { metadata } = (await (await server.call(widgets)).json()) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  return metadata.resourceVersion;
}

/** The events after a position, except those that the platform records by itself: refusals, and its tree each hour. */
async function writesAfter(position: string): Promise<readonly unknown[]> {
  const where = encodeURIComponent(`position>=${position},type!=access,type!=platform`);
  const answer = await server.call(`/apis/audit.svc.run/v1alpha1/events?fieldSelector=${where}`);
  if (answer.status !== 200) throw new Error(await answer.text());
  const { items } = (await answer.json()) as { readonly items: readonly { readonly position: string }[] };
  return items.filter((item) => BigInt(item.position) > BigInt(position));
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function heapBytes(): Promise<number> {
  await passes(50);
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** The client's connections end first, and the server's soon after. */
async function connectionsAre(count: number): Promise<number> {
  for (let tries = 0; tries < 200 && connections() > count; tries += 1) await passes(20);
  return connections();
}

function connections(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

const before = { log: await logHead(), connections: connections() };

test('bad requests are refused with the words of their problem', async () => {
  await allOf(badRequest, 0.8, refusedAsItShould);
});

test('bad handshakes are refused like any other request', async () => {
  await allOf(badHandshake, 0.05, refusedAsItShould);
});

test('sockets that violate the protocol are closed with the matching code', async () => {
  await allOf(badFrames, 0.15, closedAsItShould);
});

test('bodies beyond a limit are refused', async () => {
  for (const bad of hugeRequests) await refusedAsItShould(bad);
});

test('refused requests leave no growth', async (t) => {
  await connectionsAre(before.connections);
  const heap = await heapBytes();
  await allOf(badRequest, 0.1, refusedAsItShould);
  await allOf(badFrames, 0.05, closedAsItShould);
  for (const bad of hugeRequests) await refusedAsItShould(bad);
  t.ok((await connectionsAre(before.connections)) <= before.connections, 'connections');
  const growth = (await heapBytes()) - heap;
  t.ok(growth < heapGrowthBytesMax, `the heap grew by ${String(growth)} bytes`);
});

test('wrong passwords are 401 until there are too many', async () => {
  const wrong = Array.from({ length: 40 }, (_, index): BadRequest => ({
    what: 'a wrong password',
    statuses: [401, 429],
    ending: 'none',
    chunks: [
      Buffer.from(
        `GET ${widgets} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
          `Authorization: Basic ${Buffer.from(`user${String(index)}:wrong`).toString('base64')}\r\n\r\n`,
      ),
    ],
  }));
  await Promise.all(wrong.map(refusedAsItShould));
});

test('the log is unchanged, and the server is healthy', async (t) => {
  t.strictSame(await writesAfter(before.log), [], 'nothing was appended');
  const write = { metadata: { name: 'counted' }, spec: { title: 'Counted' } };
  t.equal((await server.call(widgets, { method: 'POST', body: write })).status, 201);
  t.match(await writesAfter(before.log), [{ event: 'ObjectCreated', name: 'counted' }], 'a write would be noticed');
  t.equal((await server.call('/readyz')).status, 200);
  t.strictSame(lines, [], "nothing is broken in the log's words");
});
