import { delay, type Clock } from '../base/clock.ts';
import { must } from '../base/unreachable.ts';
import { logCopyInFlightBytesMax, logRetryMsMax, logRetryMsMin } from '../limits/log.ts';
import { EventCursor, LogCopyError, differenceOf, describeEvent } from './log-copy-cursor.ts';
import {
  LogRefusedError,
  streamRevision,
  type AppendOutcome,
  type EventLog,
  type ExpectedRevision,
  type LogPosition,
  type RecordedEvent,
} from '../log/log.ts';

export type PipelineOptions = {
  readonly target: EventLog;
  /** The position of the target's last event. */
  readonly after: LogPosition;
  /** The maximum number of concurrent appends, at least 1. */
  readonly inFlightMax: number;
  readonly clock: Clock;
  /** After an abort, the copy throws the signal's reason. */
  readonly signal: AbortSignal;
  /** Called with the number of further events that the target contains. */
  readonly onCopied: (events: number) => void;
};

/** The outcome of an append. `rejected`: the append rejected, and the copy fails. */
type Answer = AppendOutcome | { readonly ok: false; readonly reason: 'rejected'; readonly cause: unknown };
type Sent = {
  readonly event: RecordedEvent;
  readonly outcome: Promise<Answer>;
};

/**
 * Appends events in order, with several concurrent appends.
 *
 * Each append uses the id of the event and expects the previous revision, so a retry creates no duplicate. A log does
 * not guarantee the order of concurrent appends, so each position is compared with the previous position.
 *
 * After a failed append, no event is sent until all results have arrived. Then the target is read, and the remaining
 * events are sent again. The copy fails if the target has a later event but lacks an earlier event.
 */
export class CopyPipeline {
  readonly #options: PipelineOptions;
  #after: LogPosition;
  #sent: Sent[] = [];
  #bytes = 0;
  /**
   * Whether an append has succeeded since the start or the last failure. Before the first success, only one append is
   * in flight, because later appends on a new connection may overtake the first one.
   */
  #warm = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#after = options.after;
  }

  async push(event: RecordedEvent): Promise<void> {
    this.#send(event);
    while (this.#sent.length >= (this.#warm ? this.#options.inFlightMax : 1) || this.#bytes >= logCopyInFlightBytesMax)
      await this.#settleOldest();
  }

  /** Resolves when all pushed events exist in the target. */
  async drain(): Promise<void> {
    while (this.#sent.length > 0) await this.#settleOldest();
  }

  #send(event: RecordedEvent): void {
    const { id, type, data, metadata, stream, revision } = event;
    const expected: ExpectedRevision = revision === 0 ? 'absent' : streamRevision(revision - 1);
    // A rejection needs a handler now, because the outcome is awaited later.
    const outcome = this.#options.target
      .append(stream, [{ id, type, data, metadata }], expected)
      .catch((cause: unknown): Answer => ({ ok: false, reason: 'rejected', cause }));
    this.#sent.push({ event, outcome });
    this.#bytes += data.length + metadata.length;
  }

  async #settleOldest(): Promise<void> {
    const { event, outcome } = must(this.#sent[0], 'an append is in flight');
    const answer = await outcome;
    this.#options.signal.throwIfAborted();
    if (!answer.ok) {
      if (answer.reason === 'rejected') throw rejected(event, answer.cause);
      await this.#recover();
      return;
    }
    this.#warm = true;
    this.#confirm(event, answer.position);
  }

  #confirm(event: RecordedEvent, position: LogPosition): void {
    if (position <= this.#after) throw overtaken(event);
    this.#after = position;
    this.#sent.shift();
    this.#bytes -= event.data.length + event.metadata.length;
    this.#options.onCopied(1);
  }

  /**
   * Reads the target, and sends the remaining events again. Repeats both steps until the events are sent, the copy
   * fails, or the signal aborts.
   */
  async #recover(): Promise<void> {
    const { signal, clock } = this.#options;
    this.#warm = false;
    for (let waitMs = logRetryMsMin; this.#sent.length > 0; waitMs = Math.min(waitMs * 2, logRetryMsMax)) {
      await Promise.all(this.#sent.map(({ outcome }) => outcome));
      signal.throwIfAborted();
      if ((await this.#readTarget()) && (await this.#sendRestAgain())) return;
      await delay(clock, waitMs, signal);
      signal.throwIfAborted();
    }
  }

  /**
   * Removes the sent events that the target contains. Returns false if the target cannot be read.
   *
   * @throws LogCopyError if the target has a different event in place of the next sent event.
   */
  async #readTarget(): Promise<boolean> {
    const { target, signal } = this.#options;
    let standing: EventCursor | undefined;
    try {
      standing = new EventCursor(target, {
        side: 'target',
        after: this.#after,
        until: await target.head(),
        signal,
      });
      for (let found = await standing.next(); found !== undefined; found = await standing.next()) {
        const first = this.#sent[0];
        // Late appends of an earlier run may have added more events than this run has sent.
        if (first === undefined) break;
        if (differenceOf(first.event, found) !== undefined) throw overtaken(first.event);
        this.#confirm(first.event, found.position);
      }
      return true;
    } catch (error) {
      if (error instanceof LogCopyError || signal.aborted) throw error;
      return false;
    } finally {
      await standing?.close();
    }
  }

  /**
   * Sends the first event alone, and the other events after the first append succeeds. Returns false if the first
   * append failed and may be retried.
   */
  async #sendRestAgain(): Promise<boolean> {
    const rest = this.#sent.splice(0).map(({ event }) => event);
    this.#bytes = 0;
    for (const [index, event] of rest.entries()) {
      this.#send(event);
      if (index > 0) continue;
      const { outcome } = must(this.#sent[0], 'an append was just sent');
      const answer = await outcome;
      if (answer.ok) {
        this.#warm = true;
        continue;
      }
      if (answer.reason === 'rejected') throw rejected(event, answer.cause);
      if (answer.reason === 'conflict')
        throw new LogCopyError(
          'failed',
          `${describeEvent(event)} of the source cannot be appended: the last revision of the stream in the target ` +
            `is ${answer.actual.toString()}`,
        );
      for (const later of rest.slice(1)) this.#sent.push({ event: later, outcome: Promise.resolve(answer) });
      this.#bytes = rest.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
      return false;
    }
    return true;
  }
}

function overtaken(event: RecordedEvent): LogCopyError {
  return new LogCopyError(
    'failed',
    `the target stored later events before ${describeEvent(event)} of the source, so that the order of events is ` +
      'lost: empty the target and copy again with --in-flight 1',
  );
}

/** A `LogRefusedError` concerns all calls. Any other rejection concerns only the event. */
function rejected(event: RecordedEvent, cause: unknown): unknown {
  if (cause instanceof LogRefusedError) return cause;
  return new LogCopyError(
    'failed',
    `the target refuses ${describeEvent(event)} of the source: ` +
      (cause instanceof Error ? cause.message : String(cause)),
    { cause },
  );
}
