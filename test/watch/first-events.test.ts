/** Streams with an encoding of their own for the first event. */
import { test } from 'tap';

import { visitor } from '../../src/command/subject.ts';
import { logPosition } from '../../src/log/log.ts';
import { clientOf } from '../../src/read/client.ts';
import { eventOpenings, type FrameEncoding } from '../../src/watch/frame.ts';
import { WatchHub } from '../../src/watch/hub.ts';
import type { WatchStart } from '../../src/watch/watch-plan.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { MemoryObjects, WidgetWriter } from '../support/memory/memory-objects.ts';
import { widgetType } from '../support/watched-type.ts';
import { RecordingSink } from './recording-sink.ts';

const type = widgetType();
const end = Buffer.from('}\n');

/** A hub with an encoding that counts its calls, and marks the first event of a stream by a leading blank. */
function given() {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const writer = new WidgetWriter(log);
  const objects = new MemoryObjects(log, clock, [type]);
  const encoded = { first: 0, later: 0 };
  const encoding: FrameEncoding = {
    name: 'counted',
    encode: ({ type: kind, object }, into) => {
      encoded.later += 1;
      into.push(eventOpenings[kind], object, end);
    },
    encodeFirst: ({ type: kind, object }, into) => {
      encoded.first += 1;
      into.push(Buffer.from(' '), eventOpenings[kind], object, end);
    },
  };
  const report = (error: unknown): never => {
    throw error;
  };
  const hub = new WatchHub({ feed: objects, reader: objects, log, clock, report });
  const watch = (start: WatchStart): RecordingSink => {
    const sink = new RecordingSink(encoding);
    const subject = visitor;
    const client = clientOf(subject, '127.0.0.1');
    const selection = { labels: [], fields: [] };
    hub.open(
      { type, name: undefined, subject, client, selection, start, bookmarks: false, timeoutMs: undefined },
      sink,
    );
    return sink;
  };
  const write = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await writer.write(name, { size: 1 });
    await objects.fold();
  };
  return { watch, write, encoded };
}

/** Of each event, whether it was encoded as a first one. */
function firsts({ written }: RecordingSink): readonly boolean[] {
  return Buffer.concat(written)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => line.startsWith(' '));
}

test('a first event is encoded once for all that begin with it, and once for all others', async (t) => {
  const { watch, write, encoded } = given();
  const early = Array.from({ length: 100 }, () => watch({ kind: 'now' }));
  await write('a', 'b');
  t.strictSame(encoded, { first: 1, later: 2 });
  const late = Array.from({ length: 100 }, () => watch({ kind: 'now' }));
  await write('c');
  t.strictSame(encoded, { first: 2, later: 3 });
  for (const sink of early) t.strictSame(firsts(sink), [true, false, false]);
  for (const sink of late) t.strictSame(firsts(sink), [true]);
  t.equal(new Set(late.map(({ written }) => written[0])).size, 1, 'the very same buffer');
});

test('a watcher that joins with changes it missed begins with the first of them', async (t) => {
  const { watch, write } = given();
  watch({ kind: 'now' });
  await write('a');
  await write('b');
  await write('c');
  const joined = watch({ kind: 'after', position: logPosition(1n) });
  await write('d');
  t.strictSame(firsts(joined), [true, false, false]);
});
