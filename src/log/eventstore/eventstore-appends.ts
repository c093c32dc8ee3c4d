import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../../base/clock.ts';
import type { Appender, Reply } from './eventstore-appender.ts';
import type { Contact } from './eventstore-contact.ts';
import type { Leases } from './eventstore-leases.ts';
import { firstRevision, resolveOutcome } from './eventstore-look-up.ts';
import type { Appended } from './eventstore-look-up.ts';
import type { OwnEvents } from './eventstore-own.ts';
import type { Reads } from './eventstore-reads.ts';
import { driverEvents, driverStream } from './eventstore-record.ts';
import { LogRefusedError, logPosition, streamRevision } from '../log.ts';
import type { AppendOutcome, ExpectedRevision, ProposedEvent, StreamName } from '../log.ts';

type AppendContext = {
  /** The prefix of this log's streams in EventStoreDB. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly contact: Contact;
  readonly appender: Appender;
  readonly leases: Leases;
  readonly reads: Reads;
  readonly own: OwnEvents;
  readonly closing: AbortSignal;
};

/**
 * Sends the appends of a log, and converts replies to outcomes. Reads the events back after a conflict, or after a
 * success without a reliable position.
 */
export class Appends {
  readonly #context: AppendContext;
  readonly #inFlight = new Set<Promise<AppendOutcome>>();
  /**
   * Resolves after the latest success that waits for a look-up or an earlier append. Later successes also wait, so that
   * outcomes keep the order of positions.
   */
  #lookedUp: Promise<unknown> | undefined;

  constructor(context: AppendContext) {
    this.#context = context;
  }

  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    if (this.#context.closing.aborted)
      return Promise.resolve({ ok: false, reason: 'unavailable', cause: new Error('the log is closed') });
    const unavailable = this.#context.contact.known();
    // Resolves in a later turn, so that a caller that retries without a delay does not block the event loop.
    if (unavailable !== undefined) return nextTurn({ ok: false, reason: 'unavailable', cause: unavailable });
    let outcome: Promise<AppendOutcome>;
    try {
      outcome = this.#append({ stream, events, expected, sentMs: this.#context.clock.monotonic() });
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error('the append failed', { cause: error }));
    }
    this.#inFlight.add(outcome);
    const done = (): void => {
      this.#inFlight.delete(outcome);
    };
    outcome.then(done, done);
    return outcome;
  }

  #append(append: Appended): Promise<AppendOutcome> {
    const { stream, events, expected, sentMs } = append;
    if (events.length === 0) throw new RangeError('an append must have at least one event');
    const prepared = driverEvents(events);
    const name = driverStream(this.#context.prefix, stream);
    this.#context.own.remember(stream, events, sentMs);
    return this.#context.appender
      .append(name, prepared, expected === 'absent' ? 'no_stream' : BigInt(expected))
      .then((reply) => this.#outcome(append, reply));
  }

  #outcome(append: Appended, reply: Reply): AppendOutcome | Promise<AppendOutcome> {
    if (reply.kind !== 'appended') return this.#failure(append, reply);
    this.#context.contact.worked();
    const { stream, events } = append;
    const revision = firstRevision(append) + events.length - 1;
    if (stream.startsWith('lease:')) this.#context.leases.renewed(append);
    const { position } = reply;
    // For several events, the position is that of the first or of the last event, depending on the server's version.
    const isKnown =
      events.length === 1 &&
      reply.revision === revision &&
      position !== undefined &&
      position.commit === position.prepare;
    const outcome: AppendOutcome | undefined = isKnown
      ? {
          ok: true,
          revision: streamRevision(revision),
          position: logPosition(position.commit + 1n),
        }
      : undefined;
    if (outcome !== undefined && this.#lookedUp === undefined) return outcome;
    return this.#inTurn(outcome ?? this.#resolveOutcome(append, reply));
  }

  #inTurn(outcome: AppendOutcome | Promise<AppendOutcome>): Promise<AppendOutcome> {
    const turn = (this.#lookedUp ?? Promise.resolve()).then(() => outcome);
    const settled = turn
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        if (this.#lookedUp === settled) this.#lookedUp = undefined;
      });
    this.#lookedUp = settled;
    return turn;
  }

  #failure(append: Appended, reply: Exclude<Reply, { kind: 'appended' }>): Promise<AppendOutcome> {
    const { fault, cause } = reply;
    if (reply.kind === 'answered' && fault.kind === 'wrong-version') return this.#resolveOutcome(append, reply);
    this.#context.own.forget(append.events);
    if (reply.kind === 'unknown') return this.#unknown(reply);
    if (fault.kind === 'too-large')
      return Promise.reject(
        new RangeError('the append is too large for the server: its limit must be at least 1 MiB, the default', {
          cause,
        }),
      );
    return this.#unavailable(reply);
  }

  async #unknown({ fault, cause }: Exclude<Reply, { kind: 'appended' }>): Promise<AppendOutcome> {
    const isAway = fault.kind === 'away' && !this.#context.closing.aborted;
    return {
      ok: false,
      reason: 'unknown',
      cause: isAway ? await this.#context.contact.failed(fault, cause) : this.#context.contact.lostReply(fault, cause),
    };
  }

  /**
   * Returns `unavailable`.
   *
   * @throws LogRefusedError if the server refuses this node and has never accepted a call.
   */
  async #unavailable({ fault, cause }: Exclude<Reply, { kind: 'appended' }>): Promise<AppendOutcome> {
    if (this.#context.closing.aborted) return { ok: false, reason: 'unavailable', cause };
    // A permanently deleted stream does not make the log unavailable.
    const error =
      fault.kind === 'tombstone'
        ? this.#context.contact.lostReply(fault, cause)
        : await this.#context.contact.failed(fault, cause);
    if (error instanceof LogRefusedError) throw error;
    return { ok: false, reason: 'unavailable', cause: error };
  }

  async #resolveOutcome(append: Appended, reply: Reply): Promise<AppendOutcome> {
    try {
      const outcome = await resolveOutcome(this.#context, append, reply);
      if (!outcome.ok) this.#context.own.forget(append.events);
      return outcome;
    } catch (cause) {
      this.#context.own.forget(append.events);
      return { ok: false, reason: 'unknown', cause };
    }
  }

  /** Resolves when no append is in flight, or after the time limit of a close. */
  async drained(): Promise<void> {
    await this.#context.appender.drained(this.#inFlight);
  }
}
