import { platformStream } from '../log/founded-log.ts';
import { LogCorruptError, type EventLog, type LogPosition, type RecordedEvent } from '../log/log.ts';

/** A copy cannot begin (nothing was written), or cannot go on. `message` is for whoever asked for it: no stack, no credential. */
export class LogCopyError extends Error {
  readonly kind: 'refused' | 'failed';

  constructor(kind: 'refused' | 'failed', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogCopyError';
    this.kind = kind;
  }
}

/** What is about this one log, and not of the platform it holds: a copy has its own founding, and no lease outlives its nodes. */
function isOwn(stream: string): boolean {
  return stream === platformStream || stream.startsWith('lease:');
}

export function isCopied({ stream }: RecordedEvent): boolean {
  return !isOwn(stream);
}

export type CursorRange = {
  /** For messages: which of the two logs it is. */
  readonly side: 'source' | 'target';
  readonly after: LogPosition;
  readonly until: LogPosition;
  readonly signal: AbortSignal;
};

/** The copied events of a log one by one, with no more of it in memory than one of its batches. */
export class EventCursor {
  readonly #batches: AsyncIterator<readonly RecordedEvent[], unknown>;
  readonly #signal: AbortSignal;
  readonly #side: CursorRange['side'];
  #batch: readonly RecordedEvent[] = [];
  #taken = 0;

  constructor(log: EventLog, { side, after, until, signal }: CursorRange) {
    this.#side = side;
    this.#signal = signal;
    // All categories, and left out here: a category that is not known yet must not be lost on the way.
    this.#batches = log.readAll({ after, until, signal })[Symbol.asyncIterator]();
  }

  /** undefined at the end. */
  async next(): Promise<RecordedEvent | undefined> {
    while (true) {
      while (this.#taken < this.#batch.length) {
        const event = this.#batch[this.#taken];
        this.#taken += 1;
        if (event !== undefined && isCopied(event)) return event;
      }
      const read = await this.#batches.next().catch((error: unknown) => { throw damaged(this.#side, error); });
      // An aborted reader just ends: what it has not read must not look like the end of the log.
      this.#signal.throwIfAborted();
      if (read.done === true) return undefined;
      this.#batch = read.value;
      this.#taken = 0;
    }
  }

  async close(): Promise<void> {
    await this.#batches.return?.();
  }
}

/** In what the target's event differs from the source's; undefined when it is the same one. Positions are each log's own. */
export function differenceOf(source: RecordedEvent, target: RecordedEvent): string | undefined {
  if (source.id !== target.id) return 'its id';
  if (source.stream !== target.stream) return 'its stream';
  if (source.revision !== target.revision) return 'its revision';
  if (source.type !== target.type) return 'its type';
  if (Buffer.compare(source.data, target.data) !== 0) return 'its data';
  return Buffer.compare(source.metadata, target.metadata) === 0 ? undefined : 'its metadata';
}

/** For messages: never its data, which may be a secret's. */
export function told({ id, stream, revision, position }: RecordedEvent): string {
  return `event ${id} (revision ${revision.toString()} of ${stream}, position ${position.toString()})`;
}

/** A record that does not decode is told with the side it is on. Where nothing was written yet, the copy is `refused`. */
export function damaged(side: CursorRange['side'], error: unknown, kind: LogCopyError['kind'] = 'failed'): unknown {
  return error instanceof LogCorruptError ? new LogCopyError(kind, `the ${side} is damaged: ${error.message}`, { cause: error }) : error;
}
