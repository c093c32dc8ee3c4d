/**
 * What a node does with a log that it must not serve from, or that is not there: it says so in one line, and writes
 * nothing.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test } from 'tap';
import type { Test } from 'tap';

import { eventSchema, type EventMetadata, type PlatformEvent } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { FoundedLog, platformStream } from '../../src/log/founded-log.ts';
import { streamName, type ProposedEvent } from '../../src/log/log.ts';
import { startEventStore, type EventStore, type EventStoreOptions } from '../support/eventstore/eventstore.ts';
import { withLog, type LogAt } from '../support/memory/event-log.ts';
import { selfSigned } from '../support/server/self-signed.ts';
import { freePort, NodeProcess } from './support/node-process.ts';
import { widgetsPath } from './support/widget-model.ts';

t.setTimeout(240_000);

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'write',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};
const password = 'hunter2-of-the-test';

async function given(t: Test, options: EventStoreOptions = {}): Promise<EventStore> {
  const store = await startEventStore(options);
  t.teardown(async () => store.stop());
  return store;
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-bad-starts-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

async function found(at: LogAt, domain = 'svc.run'): Promise<void> {
  await withLog(at, async (log) => new FoundedLog(log).found({ domain, now: Date.now(), uuid: randomUUID }));
}

function encoded(event: PlatformEvent): ProposedEvent {
  return encodeEvent(randomUUID(), event, metadata);
}

/** It ends with 2, and all it has to say is one line that matches. */
async function refuses(
  t: Test,
  eventLog: LogAt,
  { says, env = {} }: { readonly says: RegExp; readonly env?: Readonly<Record<string, string>> },
): Promise<void> {
  const node = await NodeProcess.launch({
    eventLog,
    folder: folderOf(t),
    name: 'data',
    env: { LOG_LEVEL: 'error', ...env },
  });
  t.teardown(async () => node.kill());
  t.equal(await node.exited, 2, node.stderr());
  t.equal(node.stdout(), '');
  t.match(node.stderr(), /^ledgerplane: [^\n]+\n$/u, 'one line');
  t.match(node.stderr(), says);
  t.notMatch(node.stderr(), new RegExp(password, 'u'), 'without the password');
  t.notMatch(node.stderr(), /^ {4}at /mu, 'without a stack');
}

test('an unknown scheme is reported without the rest of the address', async (t) => {
  for (const scheme of ['mysql', 'http', 'esdbs', 'kurrentdb'])
    await refuses(t, { url: `${scheme}://admin:${password}@localhost:2113` }, { says: /EVENT_LOG/u });
  await refuses(t, { url: `esdb://admin:${password}@localhost:2113?tls=maybe` }, { says: /EVENT_LOG .*tls/u });
});

test('a wrong password, or a missing one', async (t) => {
  const { key, certificate } = selfSigned();
  const folder = folderOf(t);
  writeFileSync(join(folder, 'ca.pem'), certificate);
  const store = await given(t, { tls: { key, certificate }, credentials: 'admin:the right one' });
  const before = store.log().visible;
  const at = `localhost:${store.port.toString()}?tls=true&tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`;
  await refuses(t, { url: `esdb://admin:${password}@${at}` }, { says: /password/u });
  await refuses(t, { url: `esdb://${at}` }, { says: /password/u });
  t.equal(store.log().visible, before, 'nothing was written');
  const node = await NodeProcess.start({
    eventLog: { url: `esdb://admin:the%20right%20one@${at}` },
    folder,
    name: 'right',
  });
  t.match(
    node.stdout(),
    /^ledgerplane ready on http:\S+ \(EventStoreDB, \d+ events, \d+ types\)\n$/u,
    'and with the right one it serves',
  );
  t.notMatch(node.stderr(), /the right one|the%20right/u);
  await node.stop();
});

test('encryption against a plain server, none against an encrypted one, and an untrusted certificate', async (t) => {
  const plain = await given(t);
  const encrypted = await given(t, { tls: selfSigned() });
  const before = [plain.log().visible, encrypted.log().visible];
  await refuses(t, { url: `esdb://admin:${password}@localhost:${plain.port.toString()}` }, { says: /tls=/u });
  await refuses(t, { url: `esdb://127.0.0.1:${encrypted.port.toString()}?tls=false` }, { says: /tls=/u });
  await refuses(
    t,
    { url: `esdb://admin:${password}@localhost:${encrypted.port.toString()}?tls=true` },
    { says: /certificate/u },
  );
  t.strictSame([plain.log().visible, encrypted.log().visible], before, 'nothing was written');
});

test('the log of another platform', async (t) => {
  const store = await given(t);
  await found(store, 'other.example');
  const before = store.log().visible;
  await refuses(t, store, { says: /other\.example.*svc\.run/u });
  t.equal(store.log().visible, before, 'nothing was written');
  const node = await NodeProcess.start({
    eventLog: store,
    folder: folderOf(t),
    name: 'data',
    env: { PLATFORM_DOMAIN: 'other.example' },
  });
  await node.stop();
});

test('an unfinished copy', async (t) => {
  const store = await given(t);
  const copied: PlatformEvent = {
    type: 'EpochStarted',
    logId: randomUUID(),
    domain: 'svc.run',
    epoch: 1,
    reason: 'copied',
    copyOf: { logId: randomUUID(), epoch: 0 },
  };
  await withLog(store, async (log) => log.append(platformStream, [encoded(copied)], 'absent'));
  const before = store.log().visible;
  await refuses(t, store, { says: /copy/u });
  t.equal(store.log().visible, before, 'nothing was written');
});

test('an event of a later version, of the log itself and of an object', async (t) => {
  const later = Buffer.from(JSON.stringify({ ...metadata, schema: eventSchema + 1 }));
  const unknown = {
    id: randomUUID(),
    type: 'EpochMerged',
    data: Buffer.from('{}'),
    metadata: Buffer.from(JSON.stringify(metadata)),
  };
  const own = await given(t);
  await found(own);
  await withLog(own, async (log) =>
    log.append(platformStream, [unknown], (await log.readLast(platformStream))!.revision),
  );
  const about = await given(t);
  await found(about);
  await withLog(about, async (log) =>
    log.append(
      streamName('object:widgets.example.com/w'),
      [{ id: randomUUID(), type: 'ObjectCreated', data: Buffer.from('{"object":{}}'), metadata: later }],
      'absent',
    ),
  );
  for (const store of [own, about]) {
    const before = store.log().visible;
    await refuses(t, store, { says: /later version|wrote it/u });
    t.equal(store.log().visible, before, 'nothing was written');
  }
});

test('foreign events in the same EventStoreDB are ignored', async (t) => {
  const store = await given(t);
  const write = async (): Promise<void> => {
    for (const stream of [
      'object:widgets.example.com/theirs',
      'platform:log',
      'ledgerplane',
      'Ledgerplane-object:widgets.example.com/theirs',
      'orders-1',
      'ledger',
    ]) {
      await store.foreignAppend({ stream, type: 'ObjectCreated', json: { object: { metadata: { name: 'theirs' } } } });
      await store.foreignAppend({ stream, data: Buffer.from([0, 255, 1]) });
    }
  };
  await write();
  const node = await NodeProcess.start({ eventLog: store, folder: folderOf(t), name: 'data' });
  t.teardown(async () => node.kill());
  await write();
  const created = await node.ask(widgetsPath, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'ours' }, spec: { title: 'ours' } }),
  });
  t.equal(created.status, 201);
  const { items } = JSON.parse((await node.ask(widgetsPath)).text) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  t.strictSame(
    items.map(({ metadata: { name } }) => name),
    ['ours'],
  );
  await node.stop();
});

test('a start waits for an unavailable log', async (t) => {
  const port = await freePort();
  const node = await NodeProcess.launch({
    eventLog: { url: `esdb://admin:${password}@127.0.0.1:${port.toString()}?tls=false` },
    folder: folderOf(t),
    name: 'data',
  });
  t.teardown(async () => node.kill());
  const answer = await node.until('/readyz', ({ status, text }) => status === 503 && text.includes('is unreachable'));
  t.match(answer.text, /the event log is unreachable: \S/u);
  t.notMatch(answer.text, new RegExp(password, 'u'));
  t.equal((await node.ask('/healthz')).status, 200);
  const refused = await node.ask(widgetsPath);
  t.equal(refused.status, 503);
  t.ok(refused.headers['retry-after'] !== undefined);
  t.equal(node.stdout(), '', 'it is not ready');
  const store = await given(t, { port });
  await node.ready();
  t.equal((await node.ask('/readyz')).status, 200);
  t.equal((await node.ask(widgetsPath)).status, 200);
  t.ok(store.log().visible > 0);
  t.notMatch(node.stderr(), new RegExp(password, 'u'));
  await node.stop();
});
