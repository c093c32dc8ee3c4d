import { platformStream } from '../log/founded-log.ts';
import { LogCorruptError, type EventLog, type LogPosition, type RecordedEvent } from '../log/log.ts';

/** A copy cannot start (`refused`) or cannot continue (`failed`). The message is for the user. */
export class LogCopyError extends Error {
  readonly kind: 'refused' | 'failed';

  constructor(kind: 'refused' | 'failed', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogCopyError';
    this.kind = kind;
  }
}

/** Returns whether the events of a stream are not copied. A copy has its own founding, and leases belong to nodes. */
function isOwn(stream: string): boolean {
  return stream === platformStream || stream.startsWith('lease:');
}

export function isCopied({ stream }: RecordedEvent): boolean {
  return !isOwn(stream);
}

export type CursorRange = {
  /** The role of the log in messages. */
  readonly side: 'source' | 'target';
  readonly after: LogPosition;
  readonly until: LogPosition;
  readonly signal: AbortSignal;
};

/** Iterates over the events of a log that are copied. */
export class EventCursor {
  readonly #batches: AsyncIterator<readonly RecordedEvent[], unknown>;
  readonly #signal: AbortSignal;
  readonly #side: CursorRange['side'];
  #batch: readonly RecordedEvent[] = [];
  #next = 0;

  constructor(log: EventLog, { side, after, until, signal }: CursorRange) {
    this.#side = side;
    this.#signal = signal;
    // Reads all categories, so that events of unknown categories are copied too.
    this.#batches = log.readAll({ after, until, signal })[Symbol.asyncIterator]();
  }

  /** Returns the next event; undefined at the end. */
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
      // An aborted read ends without an error, as at the end of the log.
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
 * Returns the first member that differs; undefined for equal events. Positions are not compared, because positions
 * differ between logs.
 */
export function differenceOf(source: RecordedEvent, target: RecordedEvent): string | undefined {
  if (source.id !== target.id) return 'the id';
  if (source.stream !== target.stream) return 'the stream';
  if (source.revision !== target.revision) return 'the revision';
  if (source.type !== target.type) return 'the type';
  if (Buffer.compare(source.data, target.data) !== 0) return 'the data';
  return Buffer.compare(source.metadata, target.metadata) === 0 ? undefined : 'the metadata';
}

/** Describes an event without its data, which may contain secrets. */
export function describeEvent({ id, stream, revision, position }: RecordedEvent): string {
  return `event ${id} (revision ${revision.toString()} of ${stream}, position ${position.toString()})`;
}

/**
 * Adds the role of the log to the error of a damaged log; returns other errors unchanged. `kind` is `refused` if
 * nothing was written.
 */
export function describeDamage(
  side: CursorRange['side'],
  error: unknown,
  kind: LogCopyError['kind'] = 'failed',
): unknown {
  return error instanceof LogCorruptError
    ? new LogCopyError(kind, `the ${side} is damaged: ${error.message}`, { cause: error })
    : error;
}
