import { setImmediate as nextTurn } from 'node:timers/promises';

import { logReadAheadBytesMax, logReadAheadEventsMax } from '../../limits/log.ts';
import { faultOf } from './eventstore-errors.ts';
import { logHeadScanEventsMin } from './eventstore-limits.ts';
import { rawRecord, storedRecord, streamOf, type RawRecord } from './eventstore-record.ts';
import type { RetriedReads, Resolved } from './eventstore-retried-reads.ts';
import { logPosition, logStart, LogCorruptError, UnknownPositionError } from '../log.ts';
import type { BackwardReadOptions, BackwardStreamPage, LogPosition, RecordedEvent, StreamName } from '../log.ts';

export type StreamSource = {
  /** The prefix of this log's streams in EventStoreDB. */
  readonly prefix: string;
  readonly retried: RetriedReads;
};

type StreamPageRead = BackwardStreamPage & { readonly direction: 'forwards' | 'backwards' };

/** Reads one page of a stream from the leader. Cancels the call when the page has enough bytes. */
export async function readStreamPage(
  { prefix, retried }: StreamSource,
  stream: StreamName,
  { from, limit, bytesMax = Infinity, direction }: StreamPageRead,
): Promise<readonly RecordedEvent[]> {
  if (limit <= 0) return [];
  const records = await retried.readEach<Resolved, Resolved>(
    (client) =>
      client.readStream(prefix + stream, {
        fromRevision: from === undefined ? 'end' : BigInt(from),
        direction,
        maxCount: limit,
        requiresLeader: true,
      }),
    { keep: (event) => event, enough: () => upTo(bytesMax, readSizeOf) },
  );
  const events = records.flatMap(({ event }) => {
    if (event === undefined || streamOf(prefix, event) === undefined) return [];
    return storedRecord(prefix, rawRecord(event))?.event ?? [];
  });
  // The server deletes old events only from lease streams.
  if (!stream.startsWith('lease:')) assertWhole(stream, events, direction === 'forwards' ? from : undefined);
  return events;
}

/** Returns a function that returns true when the total size of its arguments reaches the limit. */
function upTo<T>(bytesMax: number, bytesOf: (value: T) => number): (value: T) => boolean {
  let bytes = 0;
  return (value) => (bytes += bytesOf(value)) >= bytesMax;
}

/** Returns the size of an event. The driver has parsed the metadata, which is therefore encoded again. */
function readSizeOf({ event }: Resolved): number {
  if (event === undefined) return 0;
  const metadata = event.metadata === undefined ? 0 : JSON.stringify(event.metadata).length;
  return metadata + (event.data instanceof Uint8Array ? event.data.length : 0);
}

/** Verifies that the revisions are contiguous: ascending from `first`, or descending if `first` is undefined. */
function assertWhole(stream: StreamName, events: readonly RecordedEvent[], first: number | undefined): void {
  const begin = first ?? events[0]?.revision ?? 0;
  const step = first === undefined ? -1 : 1;
  for (const [index, { revision }] of events.entries()) {
    const expected = begin + step * index;
    if (revision !== expected) throw new LogCorruptError(`revision ${expected.toString()} of ${stream} is missing`);
  }
}

type BackwardSource = StreamSource & {
  /** Reads some event of the server. Rejects if the server does not reply. */
  readonly assertAnswers: () => Promise<unknown>;
};

/** The factor by which pages grow. The first page is short, because many readers need only the last event. */
const pageGrowth = 8;

/** Reads the log backwards in pages. A page ends when the page has enough bytes or reaches `after`. */
export async function* readBackward(
  source: BackwardSource,
  { before, after = logStart, categories, signal, turn = nextTurn }: BackwardReadOptions,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const prefixes = categories?.map((category) => `${source.prefix}${category}:`) ?? [source.prefix];
  if (prefixes.length === 0) return;
  let from = before;
  for (let maxCount = logHeadScanEventsMin; signal?.aborted !== true;) {
    const { events, next } = await readPage(source, { from, after, prefixes, maxCount });
    if (events.length > 0) yield events;
    if (next === undefined) return;
    from = next;
    maxCount = Math.min(maxCount * pageGrowth, logReadAheadEventsMax);
    await turn();
  }
}

type Page = {
  readonly from: LogPosition | undefined;
  readonly after: LogPosition;
  readonly prefixes: readonly string[];
  readonly maxCount: number;
};

type Answer = {
  readonly events: readonly RecordedEvent[];
  /** The position before which the next page begins; undefined at the end. */
  readonly next: LogPosition | undefined;
};

async function readPage(source: BackwardSource, page: Page): Promise<Answer> {
  const records = await ask(source, page);
  const last = records.at(-1);
  const isEnd = last === undefined || last.commit < page.after || (records.length < page.maxCount && !isFull(records));
  return {
    events: records
      .filter(({ commit }) => commit >= page.after)
      .flatMap((raw) => storedRecord(source.prefix, raw)?.event ?? []),
    next: isEnd ? undefined : logPosition(last.commit + 1n),
  };
}

function isFull(records: readonly RawRecord[]): boolean {
  return records.some(upTo(logReadAheadBytesMax, sizeOf));
}

function sizeOf({ data, metadata }: RawRecord): number {
  return data.length + metadata.length;
}

async function ask(source: BackwardSource, page: Page): Promise<readonly RawRecord[]> {
  if (page.from === undefined) return readRecords(source, page);
  try {
    return await readRecords(source, page, 'failures too');
  } catch (error) {
    if (faultOf(error).kind !== 'failed') throw error;
  }
  // The server reports a position at which no event starts only as an internal error. If two reads at the position
  // fail, and another read in between succeeds, the position is the reason.
  await source.assertAnswers();
  try {
    return await readRecords(source, page, 'failures too');
  } catch (cause) {
    if (faultOf(cause).kind === 'failed') throw new UnknownPositionError(page.from, { cause });
    throw cause;
  }
}

function readRecords(
  { retried }: BackwardSource,
  { from, after, prefixes, maxCount }: Page,
  failures?: 'failures too',
): Promise<readonly RawRecord[]> {
  return retried.readEach<RawRecord, RawRecord>(
    (client) => client.readFiltered({ from: from === undefined ? 'end' : from - 1n, prefixes, maxCount }),
    {
      keep: (record) => record,
      enough: () => {
        const isEnough = upTo(logReadAheadBytesMax, sizeOf);
        return (record) => isEnough(record) || record.commit < after;
      },
      failures,
    },
  );
}
