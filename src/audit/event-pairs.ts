import { historyReadBatchBytes } from '../limits/audit.ts';
import {
  isPermanentReadError,
  streamRevision,
  type EventLog,
  type RecordedEvent,
  type StreamName,
  type StreamRevision,
} from '../log/log.ts';

export type HistoryLog = Pick<EventLog, 'readStream' | 'readStreamBackward'>;

/** The requested part of a stream, and the order in which the events are read. */
export type HistoryRange = {
  readonly stream: StreamName;
  readonly order: 'oldest' | 'newest';
  /** The first revision to show, in the requested order. */
  readonly next: StreamRevision;
  /**
   * The last revision to show in the order `oldest`. This node must have folded the revision. Unused in the order
   * `newest`.
   */
  readonly through: StreamRevision;
  readonly limit: number;
};

/** An event, and the previous event of its stream; undefined for the first event of the stream. */
export type EventPair = {
  readonly event: RecordedEvent;
  readonly previous: RecordedEvent | undefined;
};

/** The log cannot be read now, or lacks an event that this node has folded. */
export class UnreadableHistoryError extends Error {
  constructor(stream: StreamName, options?: ErrorOptions) {
    super(`the events of ${stream} cannot be read from the log now`, options);
    this.name = 'UnreadableHistoryError';
  }
}

export function eventPairs(log: HistoryLog, range: HistoryRange): AsyncGenerator<EventPair> {
  return range.order === 'oldest' ? upwards(log, range) : downwards(log, range);
}

async function* upwards(
  log: HistoryLog,
  { stream, next, through, limit }: HistoryRange,
): AsyncGenerator<EventPair, void, undefined> {
  let previous: RecordedEvent | undefined;
  for (let from = Math.max(0, next - 1); from <= through;) {
    const page = await read(stream, from, log.readStream(stream, { from: streamRevision(from), ...batchOf(limit) }));
    for (const event of page) {
      if (event.revision > through) return;
      if (event.revision >= next) yield { event, previous };
      previous = event;
      from = event.revision + 1;
    }
  }
}

async function* downwards(
  log: HistoryLog,
  { stream, next, limit }: HistoryRange,
): AsyncGenerator<EventPair, void, undefined> {
  let event: RecordedEvent | undefined;
  for (let from: number = next; from >= 0;) {
    const page = await read(
      stream,
      from,
      log.readStreamBackward(stream, { from: streamRevision(from), ...batchOf(limit) }),
    );
    for (const previous of page) {
      if (event !== undefined) yield { event, previous };
      event = previous;
      from = event.revision - 1;
    }
  }
  if (event !== undefined) yield { event, previous: undefined };
}

/**
 * Returns the limits for one read of a stream. The read requests one event more than the page has entries, because the
 * event before the oldest entry gives the state before that entry.
 */
function batchOf(limit: number): { readonly limit: number; readonly bytesMax: number } {
  return { limit: limit + 1, bytesMax: historyReadBatchBytes };
}

/**
 * Returns one event of a stream that this node has folded.
 *
 * @throws UnreadableHistoryError if the log does not return the event now.
 */
export async function readEvent(
  log: Pick<HistoryLog, 'readStream'>,
  stream: StreamName,
  revision: StreamRevision,
): Promise<RecordedEvent> {
  const [event] = await read(stream, revision, log.readStream(stream, { from: revision, limit: 1 }));
  if (event === undefined) throw new UnreadableHistoryError(stream);
  return event;
}

async function read(
  stream: StreamName,
  revision: number,
  page: Promise<readonly RecordedEvent[]>,
): Promise<readonly RecordedEvent[]> {
  try {
    const events = await page;
    if (events[0]?.revision === revision) return events;
  } catch (cause) {
    throw isPermanentReadError(cause) ? cause : new UnreadableHistoryError(stream, { cause });
  }
  throw new UnreadableHistoryError(stream);
}
