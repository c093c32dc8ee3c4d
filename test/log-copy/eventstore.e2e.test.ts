/**
 * To EventStoreDB and back, by the real command and the real driver over a real socket: at rest, while the server is
 * killed, cut off and restarted, and while the copy itself is killed.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { systemClock } from '../../src/base/clock.ts';
import { eventStorePrefixDefault } from '../../src/config/eventstore-prefix.ts';
import type { EventLog } from '../../src/log/log.ts';
import { openLog } from '../../src/server/open-log.ts';
import { runCommandLine, type CommandLine } from '../support/server/command-line.ts';
import { selfSignedCertificate } from '../support/eventstore/certificate.ts';
import { startEventStore, type EventStore } from '../support/eventstore/eventstore.ts';
import { unavailable } from '../support/eventstore/faults.ts';
import { startTestServer } from '../support/server/start-server.ts';
import { drawing, killCopies } from './killed-copies.ts';
import { comparable, copiedOf, writeSource, writtenOf } from './source-log.ts';

const seed = Number(process.env['COPY_KILL_SEED'] ?? 11);

async function folder(t: Test): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-copy-'));
  t.teardown(async () => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function storeOf(t: Test, options: Parameters<typeof startEventStore>[0] = {}): Promise<EventStore> {
  const store = await startEventStore(options);
  t.teardown(async () => store.stop());
  return store;
}

async function withLog<T>(
  place: { readonly url: string } | { readonly dataDir: string },
  work: (log: EventLog) => Promise<T>,
): Promise<T> {
  const config =
    'url' in place
      ? { eventLog: { kind: 'eventstore' as const, url: place.url, prefix: eventStorePrefixDefault }, dataDir: '' }
      : { eventLog: { kind: 'embedded' as const }, dataDir: place.dataDir };
  const { log } = await openLog(config, {
    clock: systemClock,
    onFatal: (error) => {
      throw error;
    },
    onState: () => undefined,
  });
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

type Ended = { readonly code: unknown; readonly out: string; readonly err: string };

async function ended(command: CommandLine): Promise<Ended> {
  const code = await command.exited();
  return { code, out: command.stdout(), err: command.stderr() };
}

test("a log goes to EventStoreDB and back, and others' events in it are left alone", async (t) => {
  const dir = await folder(t);
  const store = await storeOf(t);
  await store.foreignAppend({ stream: 'orders-1', json: { of: 'another program' } });
  const events = await withLog({ dataDir: join(dir, 'one') }, async (log) => writeSource(log, writtenOf(2_000)));
  const there = await ended(runCommandLine(['log', 'copy', '--from', 'embedded:one', '--to', store.url], { cwd: dir }));
  t.match(
    there,
    { code: 0, out: /^esdb:\/\/\S+ is now a complete copy of embedded:\S+one: \d+ events, log \S+, epoch 1\n$/u },
    there.err,
  );
  await store.foreignAppend({ stream: 'orders-2', json: { of: 'another program' } });
  t.strictSame(comparable(await withLog({ url: store.url }, copiedOf)), comparable(events));
  t.match(await ended(runCommandLine(['log', 'info'], { cwd: dir, env: { EVENT_LOG: store.url } })), {
    code: 0,
    out: new RegExp(`epoch +1 .*\\nevents +${String(events.length + 2)}\\n`, 'u'),
  });

  const back = await ended(
    runCommandLine(['log', 'copy'], {
      cwd: dir,
      env: { LEDGERPLANE_COPY_FROM: store.url, LEDGERPLANE_COPY_TO: 'embedded:two' },
    }),
  );
  t.match(back, { code: 0, out: /epoch 2\n$/u }, back.err);
  t.strictSame(comparable(await withLog({ dataDir: join(dir, 'two') }, copiedOf)), comparable(events));

  const other = await storeOf(t);
  const across = await ended(runCommandLine(['log', 'copy', '--from', store.url, '--to', other.url], { cwd: dir }));
  t.match(across, { code: 0, out: /epoch 2\n$/u }, across.err);
  t.strictSame(comparable(await withLog({ url: other.url }, copiedOf)), comparable(events));
});

test('a server that goes away while it is copied into costs time and nothing else', async (t) => {
  const dir = await folder(t);
  const events = await withLog({ dataDir: join(dir, 'one') }, async (log) => writeSource(log, writtenOf(2_500)));
  const troubles: Readonly<Record<string, (store: EventStore) => Promise<void>>> = {
    'it is killed and restarted': async (store) => {
      await store.kill();
      await store.restart({ closedMs: 150, unavailableMs: 100, notReadyMs: 100 });
    },
    'its connections are cut': async (store) => {
      store.dropConnections();
    },
    'everything in flight is rejected': async (store) => {
      store.rejectInFlight(unavailable);
    },
  };
  for (const [what, trouble] of Object.entries(troubles)) {
    const store = await storeOf(t);
    let appends = 0;
    store.faults.append = () => {
      appends += 1;
      if (appends % 700 === 300)
        setImmediate(() => {
          void trouble(store);
        });
      return undefined;
    };
    const copied = await ended(
      runCommandLine(['log', 'copy', '--from', 'embedded:one', '--to', store.url], { cwd: dir }),
    );
    store.faults.append = undefined;
    t.match(copied, { code: 0 }, `${what}: ${copied.err}`);
    t.ok(appends > events.length, `${what}: ${appends.toString()} appends for ${events.length.toString()} events`);
    t.strictSame(comparable(await withLog({ url: store.url }, copiedOf)), comparable(events), what);
  }
});

test('a copy killed at drawn points, in both directions, is resumed and is then the same', async (t) => {
  const dir = await folder(t);
  const drawn = drawing(seed);
  const events = await withLog({ dataDir: join(dir, 'one') }, async (log) => writeSource(log, writtenOf(4_000)));
  const copyTo = (from: string, to: string): readonly string[] => ['log', 'copy', '--from', from, '--to', to];

  let store = await storeOf(t);
  const there = await killCopies(t, {
    kills: 3,
    drawn,
    cwd: dir,
    freshCopy: async () => copyTo('embedded:one', (store = await storeOf(t)).url),
  });
  const whole = await ended(runCommandLine(there, { cwd: dir }));
  t.match(whole, { code: 0 }, whole.err);
  t.strictSame(comparable(await withLog({ url: store.url }, copiedOf)), comparable(events));

  let target = 'two';
  const back = await killCopies(t, {
    kills: 3,
    drawn,
    cwd: dir,
    freshCopy: async () => copyTo(store.url, `embedded:${(target = `${target}+`)}`),
  });
  const last = await ended(runCommandLine(back, { cwd: dir }));
  t.match(last, { code: 0 }, last.err);
  t.strictSame(comparable(await withLog({ dataDir: join(dir, target) }, copiedOf)), comparable(events));
});

test('a source that a server runs on is refused or not finished, and is copied once it has stopped', async (t) => {
  const dir = await folder(t);
  const store = await storeOf(t);
  const server = await startTestServer({ environment: { EVENT_LOG: store.url } });
  const widgets = '/apis/example.com/v1alpha1/widgets';
  const write = async (name: string): Promise<void> => {
    t.equal(
      (await server.call(widgets, { method: 'POST', body: { metadata: { name }, spec: { title: name } } })).status,
      201,
    );
  };
  for (let count = 0; count < 20; count += 1) await write(`w${count.toString()}`);
  const command = runCommandLine(['log', 'copy', '--from', store.url, '--to', 'embedded:two'], { cwd: dir });
  let isOver = false;
  const hasEnded = (): boolean => isOver;
  const ending = command.exited();
  void ending.then(() => {
    isOver = true;
  });
  let written = 20;
  for (; !hasEnded(); written += 1) await write(`w${written.toString()}`);
  t.match(command.stderr(), /the source has grown, so a server is running on it/u);
  t.ok([1, 2].includes(Number(await ending)));
  await server.close();
  const copied = await ended(
    runCommandLine(['log', 'copy', '--from', store.url, '--to', 'embedded:two'], { cwd: dir }),
  );
  t.match(copied, { code: 0 }, copied.err);
  const two = await startTestServer({ dataDir: join(dir, 'two') });
  t.teardown(async () => two.close());
  t.match(await (await two.call(`${widgets}?size=1`)).json(), { total: written });
});

test('an unreachable server and a wrong password are reported without it, and nothing is written', async (t) => {
  const dir = await folder(t);
  await withLog({ dataDir: join(dir, 'one') }, async (log) => writeSource(log, writtenOf(20)));
  const nowhere = await ended(
    runCommandLine(['log', 'copy', '--from', 'embedded:one', '--to', 'esdb://admin:hunter2@127.0.0.1:1?tls=false'], {
      cwd: dir,
    }),
  );
  t.match(nowhere, { code: 1, out: '' }, nowhere.err);
  t.match(nowhere.err, /--to contains a password that other users of this machine can see: use LEDGERPLANE_COPY_TO/u);
  t.notMatch(nowhere.err, /hunter2|\n {4}at /u);
  t.match(nowhere.err, /127\.0\.0\.1:1/u, 'the address is reported');
});

test('a log that refuses ends the command with 2 on either side, and nothing is written', async (t) => {
  const dir = await folder(t);
  await withLog({ dataDir: join(dir, 'one') }, async (log) => writeSource(log, writtenOf(20)));
  const tls = selfSignedCertificate();
  await writeFile(join(dir, 'ca.crt'), tls.certificate);
  const store = await storeOf(t, { tls, credentials: 'admin:secret' });
  const before = store.log().visible;
  // Node 26 takes no address for a name of a TLS server.
  const at = `localhost:${store.port.toString()}`;
  for (const [url, err] of [
    [`esdb://admin:hunter2@${at}?tlsCAFile=${join(dir, 'ca.crt')}`, /credentials/u],
    [`esdb://admin:hunter2@${at}?tls=false`, /TLS/u],
    [`esdb://admin:hunter2@${at}`, /certificate|encrypted/u],
  ] as const) {
    for (const [from, to] of [
      ['embedded:one', url],
      [url, 'embedded:two'],
    ] as const) {
      const refused = await ended(
        runCommandLine(['log', 'copy'], { cwd: dir, env: { LEDGERPLANE_COPY_FROM: from, LEDGERPLANE_COPY_TO: to } }),
      );
      t.match(refused, { code: 2, out: '', err }, `${from} to ${to}`);
      t.notMatch(refused.err, /hunter2|\n {4}at /u);
    }
    t.match(await ended(runCommandLine(['log', 'new-epoch'], { cwd: dir, env: { EVENT_LOG: url } })), { code: 2, err });
  }
  t.equal(store.log().visible, before);
});
