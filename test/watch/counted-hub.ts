import { visitor } from '../../src/command/subject.ts';
import { clientOf } from '../../src/read/client.ts';
import type { Selection } from '../../src/resource/query/list-query.ts';
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

export type CountedHub = {
  readonly watch: (selection: Selection, start: WatchStart) => RecordingSink;
  readonly writer: WidgetWriter;
  readonly objects: MemoryObjects;
  /** The calls of the encoding, for the first event of a stream and for later ones. */
  readonly encoded: { readonly first: number; readonly later: number };
};

/** A hub with an encoding that counts its calls, and marks the first event of a stream by a leading blank. */
export function countedHub(): CountedHub {
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
  const watch = (selection: Selection, start: WatchStart): RecordingSink => {
    const sink = new RecordingSink(encoding);
    const client = clientOf(visitor, '127.0.0.1');
    const plan = { type, name: undefined, subject: visitor, client, selection, bookmarks: false, timeoutMs: undefined };
    hub.open({ ...plan, start }, sink);
    return sink;
  };
  return { watch, writer, objects, encoded };
}
