import { setImmediate as nextTurn } from 'node:timers/promises';

import { logReadAheadBytesMax, logReadAheadEventsMax } from '../../limits/log.ts';
import { categoryTest } from '../category-test.ts';
import type { ReadSource } from './lmdb-reader.ts';
import type { BackwardReadOptions, RecordedEvent } from '../log.ts';

type BackwardSource = Pick<ReadSource, 'durable' | 'open'> & {
  /**
   * Reads durable records from disk, from position `last` down to `first`. The caller must consume the records in one
   * turn.
   */
  readonly storedBackward: (last: number, first: number) => Iterable<RecordedEvent>;
};

/**
 * Reads the events between two positions, newest first. The read starts before `before`, or at the end of the log at
 * the time of the call.
 */
export function readBackward(
  source: BackwardSource,
  options: BackwardReadOptions,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const { before } = options;
  return readDown(source, Math.min(source.durable(), before === undefined ? Infinity : Number(before) - 1), options);
}

async function* readDown(
  source: BackwardSource,
  end: number,
  { after, categories, signal, turn = nextTurn }: BackwardReadOptions,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const wanted = categoryTest(categories);
  const first = after === undefined ? 1 : Number(after) + 1;
  for (let last = end; last >= first && signal?.aborted !== true;) {
    if (!source.open()) throw new Error('the log was closed during a read');
    const taken = takeBatch(source.storedBackward(last, first));
    last -= taken.length;
    const batch = taken.filter(({ stream }) => wanted(stream));
    if (batch.length > 0) yield batch;
    if (last >= first) await turn();
  }
}

function takeBatch(records: Iterable<RecordedEvent>): readonly RecordedEvent[] {
  const taken: RecordedEvent[] = [];
  let bytes = 0;
  for (const event of records) {
    taken.push(event);
    bytes += event.data.length + event.metadata.length;
    if (taken.length >= logReadAheadEventsMax || bytes >= logReadAheadBytesMax) break;
  }
  return taken;
}
