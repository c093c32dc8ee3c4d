import { platformStream } from '../log/founded-log.ts';
import { LogCorruptError, type EventLog, type LogPosition, type RecordedEvent } from '../log/log.ts';

/**
 * A copy cannot start (`refused`: nothing was written) or cannot continue. `message` is for the user: no stack, no
 * credentials.
 */
export class LogCopyError extends Error {
  readonly kind: 'refused' | 'failed';

  constructor(kind: 'refused' | 'failed', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogCopyError';
    this.kind = kind;
  }
}

/**
 * Streams that belong to one log rather than to its platform: a copy has its own founding, and leases are bound to
 * nodes.
 */
function isOwn(stream: string): boolean {
  return stream === platformStream || stream.startsWith('lease:');
}

export function isCopied({ stream }: RecordedEvent): boolean {
  return !isOwn(stream);
}

export type CursorRange = {
  /** The role of the log, for messages. */
  readonly side: 'source' | 'target';
  readonly after: LogPosition;
  readonly until: LogPosition;
  readonly signal: AbortSignal;
};

/** Iterates over the copied events of a log, with at most one batch in memory. */
export class EventCursor {
  readonly #batches: AsyncIterator<readonly RecordedEvent[], unknown>;
  readonly #signal: AbortSignal;
  readonly #side: CursorRange['side'];
  #batch: readonly RecordedEvent[] = [];
  #next = 0;

  constructor(log: EventLog, { side, after, until, signal }: CursorRange) {
    this.#side = side;
    this.#signal = signal;
    // Reads all categories and filters here, so that an unknown category is not lost.
    this.#batches = log.readAll({ after, until, signal })[Symbol.asyncIterator]();
  }

  /** The next event; undefined at the end. */
  async next(): Promise<RecordedEvent | undefined> {
    while (true) {
      while (this.#next < this.#batch.length) {
        const event = this.#batch[this.#next];
        this.#next += 1;
        if (event !== undefined && isCopied(event)) return event;
      }
      const read = await this.#batches.next().catch((error: unknown) => {
        throw describeDamage(this.#side, error);
      });
      // An aborted reader simply ends, which must not look like the end of the log.
      this.#signal.throwIfAborted();
      if (read.done === true) return undefined;
      this.#batch = read.value;
      this.#next = 0;
    }
  }

  async close(): Promise<void> {
    await this.#batches.return?.();
  }
}

/**
 * The first difference between the source's and the target's event; undefined if they are equal. Positions are not
 * compared, since they differ between logs.
 */
export function differenceOf(source: RecordedEvent, target: RecordedEvent): string | undefined {
  if (source.id !== target.id) return 'its id';
  if (source.stream !== target.stream) return 'its stream';
  if (source.revision !== target.revision) return 'its revision';
  if (source.type !== target.type) return 'its type';
  if (Buffer.compare(source.data, target.data) !== 0) return 'its data';
  return Buffer.compare(source.metadata, target.metadata) === 0 ? undefined : 'its metadata';
}

/** An event for messages, without its data, which may contain secrets. */
export function describeEvent({ id, stream, revision, position }: RecordedEvent): string {
  return `event ${id} (revision ${revision.toString()} of ${stream}, position ${position.toString()})`;
}

/** Adds the side to the error of a damaged record. Before anything is written, the copy is `refused`. */
export function describeDamage(
  side: CursorRange['side'],
  error: unknown,
  kind: LogCopyError['kind'] = 'failed',
): unknown {
  return error instanceof LogCorruptError
    ? new LogCopyError(kind, `the ${side} is damaged: ${error.message}`, { cause: error })
    : error;
}
