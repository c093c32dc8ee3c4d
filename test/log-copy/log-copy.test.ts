import { setImmediate as nextTurn } from 'node:timers/promises';

import { test, type Test } from 'tap';

import { isLeafStream } from '../../src/audit/proof/leaf-entry.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { startRestoredEpoch } from '../../src/log-tools/log-epoch.ts';
import { treeOf } from '../../src/log-tools/log-tree.ts';
import { LogCopyError } from '../../src/log-tools/log-copy-cursor.ts';
import { platformStream, readFounding } from '../../src/log/founded-log.ts';
import {
  LogCorruptError,
  logStart,
  streamName,
  streamRevision,
  type EventLog,
  type RecordedEvent,
} from '../../src/log/log.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { idOf } from '../support/id-of.ts';
import { appended, collect, proposed } from '../support/memory/log-events.ts';
import { MemoryLog, memoryDisk, type MemoryDisk } from '../support/memory/memory-log.ts';
import { altered } from '../support/writing.ts';
import {
  comparable,
  copiedOf,
  domain,
  founding,
  platformEvent,
  runCopy,
  sourceId,
  writeSource,
  writtenOf,
} from './source-log.ts';

const opening = (disk: MemoryDisk) => async (): Promise<EventLog> => new MemoryLog(disk);

async function sourceOf(
  count: number,
): Promise<{ readonly source: EventLog; readonly events: readonly RecordedEvent[] }> {
  const source = new MemoryLog();
  return { source, events: await writeSource(source, writtenOf(count)) };
}

/** Refused: nothing was written. */
async function refused(
  t: Test,
  { source, target, message }: { readonly source: EventLog; readonly target: MemoryDisk; readonly message: RegExp },
): Promise<void> {
  const before = target.appends.length;
  await t.rejects(runCopy(source, opening(target)), { name: 'LogCopyError', kind: 'refused', message });
  t.equal(target.appends.length, before, 'nothing was written');
}

test('a copy holds the same events, ids, revisions, bytes and order, and no lease', async (t) => {
  const { source, events } = await sourceOf(500);
  const disk = memoryDisk();
  const { copied, lines } = await runCopy(source, opening(disk));
  t.match(copied, { epoch: 1, events: events.length, written: true });
  const target = new MemoryLog(disk);
  t.strictSame(comparable(await copiedOf(target)), comparable(events));
  t.same(
    (await collect(target.readAll({ after: logStart, categories: ['platform', 'lease'] }))).map(({ type }) => type),
    ['EpochStarted', 'CopyFinished'],
  );
  t.match(await readFounding(target), {
    logId: copied.logId,
    domain,
    epoch: 1,
    reason: 'copied',
    finished: true,
    copied: events.length,
    copyOf: { logId: sourceId, epoch: 0 },
  });
  t.not(copied.logId, sourceId, 'a copy is a log of its own');
  t.match(lines.at(-1), /^verifying: \d+ events in /u);
});

test('a copy continues the tree of its source, also as the copy of a copy, and states its size and root', async (t) => {
  const { source, events } = await sourceOf(300);
  const [first, second] = [memoryDisk(), memoryDisk()];
  await runCopy(source, opening(first));
  await runCopy(new MemoryLog(first), opening(second));
  const { signal } = new AbortController();
  const tree = await treeOf(source, { signal });
  t.equal(tree.size, events.filter(({ stream }) => isLeafStream(stream)).length);
  const id = (await readFounding(source))?.tree;
  for (const disk of [first, second]) {
    const copy = new MemoryLog(disk);
    t.equal((await readFounding(copy))?.tree, id);
    t.strictSame(await treeOf(copy, { signal }), tree);
    const last = (await collect(copy.readAll({ after: logStart }))).at(-1)!;
    t.match(decodeEvent(last).event, { type: 'CopyFinished', tree });
  }
});

test('a new epoch begins a tree, and states the one before it', async (t) => {
  const { source } = await sourceOf(50);
  const { signal } = new AbortController();
  const [before, tree] = [(await readFounding(source))!, await treeOf(source, { signal })];
  const after = await startRestoredEpoch(source, { clock: new FakeClock(), uuid: () => idOf('restored'), signal });
  t.match(after, { epoch: 1, reason: 'restored', tree: idOf('restored') });
  t.not(after.tree, before.tree);
  const last = (await collect(source.readAll({ after: logStart }))).at(-1)!;
  t.match(decodeEvent(last).event, { type: 'EpochStarted', before: { tree: before.tree, ...tree } });
  t.strictSame(await treeOf(source, { signal }), tree, 'the event is no leaf');
});

test('a log without objects is copied, too', async (t) => {
  const { source } = await sourceOf(0);
  t.match((await runCopy(source, opening(memoryDisk()))).copied, { events: 0, written: true });
});

test('a finished copy is left as it is', async (t) => {
  const { source, events } = await sourceOf(20);
  const disk = memoryDisk();
  const { copied } = await runCopy(source, opening(disk));
  const before = disk.appends.length;
  t.strictSame((await runCopy(source, opening(disk))).copied, { ...copied, written: false });
  t.equal(disk.appends.length, before);
  await source.append(streamName('object:widgets/new'), [proposed('one more')], 'absent');
  await refused(t, {
    source,
    target: disk,
    message: new RegExp(
      `finished copy of the source with ${String(events.length)} events, but the source has ` +
        `${String(events.length + 1)} events now`,
      'u',
    ),
  });
});

test('the copy of a copy is an epoch later', async (t) => {
  const { source, events } = await sourceOf(20);
  const first = memoryDisk();
  const second = memoryDisk();
  await runCopy(source, opening(first));
  t.match((await runCopy(new MemoryLog(first), opening(second))).copied, { epoch: 2, events: events.length });
  t.strictSame(comparable(await copiedOf(new MemoryLog(second))), comparable(events));
});

test('what must not be copied is refused, and nothing is written', async (t) => {
  const { source } = await sourceOf(20);
  const other = new MemoryLog();
  await other.append(
    platformStream,
    [platformEvent({ type: 'EpochStarted', logId: idOf('other'), domain: 'example.org', epoch: 0, reason: 'founded' })],
    'absent',
  );

  t.test('an empty source', async (t) =>
    refused(t, { source: new MemoryLog(), target: memoryDisk(), message: /source is empty/u }),
  );
  t.test('a source that does not say which log it is', async (t) => {
    const unfounded = new MemoryLog();
    await unfounded.append(streamName('object:widgets/a'), [proposed('a')], 'absent');
    await refused(t, { source: unfounded, target: memoryDisk(), message: /has no identity/u });
  });
  t.test('the same log on both sides', async (t) => {
    const disk = memoryDisk();
    const log = new MemoryLog(disk);
    await writeSource(log, writtenOf(3));
    await refused(t, { source: log, target: disk, message: /the same log/u });
  });
  t.test('a target that holds another log', async (t) => {
    const disk = memoryDisk();
    await new MemoryLog(disk).append(
      platformStream,
      [platformEvent({ ...founding, logId: idOf('another') } as typeof founding)],
      'absent',
    );
    await refused(t, { source, target: disk, message: /the target is not empty: it is the log/u });
  });
  t.test('a target that holds events of no log', async (t) => {
    const disk = memoryDisk();
    await new MemoryLog(disk).append(streamName('object:widgets/a'), [proposed('a')], 'absent');
    await refused(t, { source, target: disk, message: /not empty: it has events/u });
  });
  t.test('a target of another domain', async (t) => {
    const disk = memoryDisk();
    await runCopy(other, opening(disk));
    await refused(t, {
      source,
      target: disk,
      message: /belongs to the platform domain example\.org, but the source belongs to svc\.run/u,
    });
  });
  t.test('a target that is a copy of another log', async (t) => {
    const disk = memoryDisk();
    const third = new MemoryLog();
    await third.append(
      platformStream,
      [platformEvent({ ...founding, logId: idOf('third') } as typeof founding)],
      'absent',
    );
    await runCopy(third, opening(disk));
    await refused(t, { source, target: disk, message: /it is a copy of the log/u });
  });
  t.test('an unfinished copy as the source', async (t) => {
    const unfinished = new MemoryLog();
    await unfinished.append(
      platformStream,
      [
        platformEvent({
          type: 'EpochStarted',
          logId: idOf('copy'),
          domain,
          epoch: 1,
          reason: 'copied',
          copyOf: { logId: sourceId, epoch: 0 },
        }),
      ],
      'absent',
    );
    await refused(t, { source: unfinished, target: memoryDisk(), message: /an unfinished copy/u });
  });
  t.test('a damaged source', async (t) => {
    const damaged = altered(source, {
      async *readAll(options) {
        for await (const batch of source.readAll(options)) yield batch.slice(0, 3);
        throw new LogCorruptError('the record at position 9 has a wrong checksum');
      },
    });
    await refused(t, { source: damaged, target: memoryDisk(), message: /^the source is damaged: .*checksum/u });
  });
  t.test('a source that is written to meanwhile', async (t) => {
    const served = altered(source, {
      async *readAll(options) {
        yield* source.readAll(options);
        const last = await source.readLast(streamName('lease:reconcilers'));
        await source.append(
          streamName('lease:reconcilers'),
          [proposed(`renewal ${String(last?.revision)}`)],
          last?.revision ?? 'absent',
        );
      },
    });
    await refused(t, {
      source: served,
      target: memoryDisk(),
      message: /source has grown, so a server is running on it/u,
    });
  });
});

test('a source that grows during the copy is reported, and the copy is not finished', async (t) => {
  const { source } = await sourceOf(50);
  const disk = memoryDisk();
  let opened = 0;
  const open = async (): Promise<EventLog> => {
    opened += 1;
    // The second time is for verifying: all is copied.
    if (opened === 2) await source.append(streamName('object:widgets/late'), [proposed('late')], 'absent');
    return new MemoryLog(disk);
  };
  await t.rejects(runCopy(source, open), { kind: 'failed', message: /has grown.*the events in the target are kept/u });
  t.match(await readFounding(new MemoryLog(disk)), { finished: false });
  t.match((await runCopy(source, opening(disk))).copied, { written: true }, 'a repeated call copies the added events');
  t.strictSame(comparable(await copiedOf(new MemoryLog(disk))), comparable(await copiedOf(source)));
});

test('the first different event is reported, and the copy is not finished', async (t) => {
  const { source, events } = await sourceOf(60);
  for (const [what, change] of Object.entries<(event: RecordedEvent) => Partial<RecordedEvent>>({
    'the id': () => ({ id: idOf('another') }),
    'the type': () => ({ type: 'Another' }),
    'the data': ({ data }) => ({ data: Buffer.concat([data, Buffer.from(' ')]) }),
    'the metadata': () => ({ metadata: Buffer.from('{}') }),
    'the stream': () => ({ stream: streamName('object:widgets/elsewhere') }),
    'the revision': () => ({ revision: streamRevision(900) }),
  })) {
    const disk = memoryDisk();
    let opened = 0;
    const open = async (): Promise<EventLog> => {
      opened += 1;
      const log = new MemoryLog(disk);
      if (opened === 1) return log;
      return altered(log, {
        async *readAll(options) {
          for await (const batch of log.readAll(options))
            yield batch.map((event) => (event.id === events[30]?.id ? { ...event, ...change(event) } : event));
        },
      });
    };
    const failure: unknown = await runCopy(source, open).catch((error: unknown) => error);
    t.ok(failure instanceof LogCopyError && failure.kind === 'failed');
    t.match(String(failure), events[30]?.id, `${what}: the event is named`);
    t.match(String(failure), `differ in ${what};`);
    t.match(await readFounding(new MemoryLog(disk)), { finished: false });
  }
});

test('a missing event and a surplus one are reported', async (t) => {
  const { source, events } = await sourceOf(60);
  const without =
    (id: string | undefined) =>
    (log: EventLog): EventLog =>
      altered(log, {
        async *readAll(options) {
          for await (const batch of log.readAll(options)) yield batch.filter((event) => event.id !== id);
        },
      });
  const disk = memoryDisk();
  let opened = 0;
  await t.rejects(
    runCopy(source, async () =>
      (opened += 1) === 1 ? new MemoryLog(disk) : without(events.at(-1)?.id)(new MemoryLog(disk)),
    ),
    { kind: 'failed', message: /the target does not contain event/u },
  );
  await t.rejects(runCopy(without(events.at(-1)?.id)(source), opening(disk)), {
    kind: 'failed',
    message: /the target has more events than the source: event/u,
  });
});

test('one append that overtakes a lost one is noticed: the order is gone', async (t) => {
  const { source, events } = await sourceOf(60);
  const disk = memoryDisk();
  let isLost = false;
  const losing = async (): Promise<EventLog> => {
    const log = new MemoryLog(disk);
    return altered(log, {
      append: async (stream, proposals, expected) => {
        if (proposals[0]?.id !== events[20]?.id || isLost) return log.append(stream, proposals, expected);
        isLost = true;
        return { ok: false, reason: 'unknown', cause: new Error('no answer came') };
      },
    });
  };
  await t.rejects(runCopy(source, losing), {
    kind: 'failed',
    message: /the target stored later events before event .*--in-flight 1/u,
  });
  t.match(await readFounding(new MemoryLog(disk)), { finished: false });
  disk.appends.splice(0);
  isLost = false;
  t.match(
    (await runCopy(source, losing, { inFlightMax: 1 })).copied,
    { written: true },
    'one at a time nothing can overtake',
  );
});

test('an unavailable target ends the copy, and its events are kept', async (t) => {
  const { source } = await sourceOf(60);
  const disk = memoryDisk();
  const clock = new FakeClock();
  let calls = 0;
  const leaving = async (): Promise<EventLog> => {
    const log = new MemoryLog(disk);
    return altered(log, {
      append: async (...call) =>
        (calls += 1) <= 20 ? log.append(...call) : { ok: false, reason: 'unavailable', cause: new Error('gone') },
    });
  };
  const running = runCopy(source, leaving, { clock });
  const end = { isOver: false };
  void running
    .catch(() => undefined)
    .finally(() => {
      end.isOver = true;
    });
  while (!end.isOver) {
    await nextTurn();
    clock.advance(50);
  }
  await t.rejects(running, { kind: 'failed', message: /no progress for 120 s.*to resume/u });
  t.equal(disk.appends.length, 20);
  t.match((await runCopy(source, opening(disk))).lines[1], /comparing the events/u);
});

test('no more is held in memory than the window and one batch of each log', async (t) => {
  const { source } = await sourceOf(400);
  const disk = memoryDisk();
  let underway = 0;
  let most = 0;
  const counting = async (): Promise<EventLog> => {
    const log = new MemoryLog(disk);
    return altered(log, {
      append: async (...call) => {
        underway += 1;
        most = Math.max(most, underway);
        const outcome = await log.append(...call);
        underway -= 1;
        return outcome;
      },
    });
  };
  await runCopy(source, counting, { inFlightMax: 8 });
  t.equal(most, 8);
  t.ok(appended(await source.append(streamName('object:z'), [proposed('z')], 'absent')));
});
