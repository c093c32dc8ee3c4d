import type { Clock } from '../../base/clock.ts';
import type { WriteContext, WriteOutcome } from '../../command/command.ts';
import { eventCopiesHeld, ownWriteBytesPerUser, ownWritesPerUser, writesInFlightMax } from '../../limits/writes.ts';
import type { ProposedEvent } from '../../log/log.ts';
import type { HeldBytes } from './held-bytes.ts';
import { tooMany, type Refusal } from '../refusals.ts';
import { Allowance, writeRates, type Writer } from './writer.ts';
import type { Writers } from './writers.ts';

export type AdmissionDependencies = {
  readonly clock: Clock;
  readonly writers: Pick<Writers, 'of'>;
  readonly held: HeldBytes;
};

const ownRates = writeRates(ownWritesPerUser, ownWriteBytesPerUser);

/** Admits writes, with limits on rate, concurrency and memory. */
export class Admission {
  readonly #dependencies: AdmissionDependencies;
  /** The writes in flight of super administrators and the platform. */
  #trusted = 0;
  #others = 0;

  constructor(dependencies: AdmissionDependencies) {
    this.#dependencies = dependencies;
  }

  enter(context: WriteContext): Admitted | Refusal {
    const { clock, writers, held } = this.#dependencies;
    const { chargedTo = context.subject, chargedFrom = context.cause.address } = context;
    const writer = writers.of(chargedTo, chargedFrom);
    const refused = this.#refusePlace(writer) ?? refuseWrite(writer, context, clock);
    if (refused !== undefined) return refused;
    writer.writesInFlight += 1;
    if (writer.kind === 'trusted') this.#trusted += 1;
    else this.#others += 1;
    return new Admitted(writer, context, { clock, held });
  }

  leave(write: Admitted, outcome: WriteOutcome | undefined): void {
    write.end(outcome);
    const { writer } = write;
    writer.writesInFlight -= 1;
    if (writer.kind === 'trusted') this.#trusted -= 1;
    else this.#others -= 1;
  }

  /**
   * Refuses a write without a free slot. A writer that is not trusted may use at most half of the slots, so that later
   * writers get a slot.
   */
  #refusePlace({ kind, writesInFlight }: Writer): Refusal | undefined {
    const left = writesInFlightMax - (kind === 'trusted' ? this.#trusted : this.#others);
    if (left > 0 && (kind === 'trusted' || writesInFlight < left)) return undefined;
    return tooMany('too many writes are in progress, in total or by this user: try again later');
  }
}

/** A write in flight, with its charges against the limits of its writer. */
export class Admitted {
  readonly writer: Writer;
  readonly #context: WriteContext;
  readonly #clock: Clock;
  readonly #held: HeldBytes;
  #bytesHeld = 0;
  #bytesCharged = 0;

  constructor(writer: Writer, context: WriteContext, { clock, held }: Pick<AdmissionDependencies, 'clock' | 'held'>) {
    this.writer = writer;
    this.#context = context;
    this.#clock = clock;
    this.#held = held;
  }

  /**
   * Reserves `bytes` of memory until the write ends, and releases an earlier reservation of the write. Returns a
   * refusal, and reserves nothing, if too little memory is free.
   */
  hold(bytes: number): Refusal | undefined {
    this.#held.release(this.writer, this.#bytesHeld);
    const isHeld = this.#held.hold(this.writer, bytes);
    this.#bytesHeld = isHeld ? bytes : 0;
    return isHeld ? undefined : tooMany('the writes in progress use too much memory: try again later');
  }

  /**
   * Reserves memory for the events of the write. Charges the bytes of the events to the writer's rate, unless the write
   * is a dry run or too large. Returns a refusal if a limit is exceeded.
   */
  takeEvents(events: readonly ProposedEvent[], { isTooLarge }: { readonly isTooLarge: boolean }): Refusal | undefined {
    const dataBytes = events.reduce((sum, { data }) => sum + data.length, 0);
    const full = this.hold(eventCopiesHeld * dataBytes);
    if (full !== undefined || this.#context.dryRun || isTooLarge) return full;
    return this.#chargeEvents(events.reduce((sum, { metadata }) => sum + metadata.length, dataBytes));
  }

  /** Charges the bytes of the events. A command that is decided again is charged only for additional bytes. */
  #chargeEvents(bytes: number): Refusal | undefined {
    const added = Math.max(0, bytes - this.#bytesCharged);
    const refused = this.charge(added);
    if (refused === undefined) this.#bytesCharged += added;
    return refused;
  }

  /** Charges the bytes of an append, or returns a refusal if the rate is exceeded. */
  charge(bytes: number): Refusal | undefined {
    const {
      writer: { allowance, ownAllowance },
    } = this;
    if (allowance === undefined) return undefined;
    const own = this.#context.isOwn === true ? ownAllowance : undefined;
    const now = this.#clock.monotonic();
    if (this.#context.admitted === 'whole') {
      this.owe(bytes);
      return undefined;
    }
    const seconds = allowance.takeBytes(bytes, now);
    if (seconds > 0) return tooFast(`${String(allowance.rates.bytes?.perSecond)} bytes of objects`, seconds);
    const ownSeconds = own?.takeBytes(bytes, now) ?? 0;
    if (ownSeconds === 0) return undefined;
    allowance.giveBackBytes(bytes);
    return tooFast(`${String(ownWriteBytesPerUser)} bytes of the user's own tokens, sessions and profile`, ownSeconds);
  }

  /** Charges the bytes of an append that must not be refused. Above the rate, later writes are refused. */
  owe(bytes: number): void {
    const {
      writer: { allowance, ownAllowance },
    } = this;
    const now = this.#clock.monotonic();
    allowance?.chargeBytes(bytes, now);
    if (this.#context.isOwn === true) ownAllowance?.chargeBytes(bytes, now);
  }

  /**
   * Releases the memory of the write. Refunds the charge for the object's events if the events are certainly not
   * appended. An append with an unknown outcome may succeed later and is not refunded.
   */
  end(outcome: WriteOutcome | undefined): void {
    this.#held.release(this.writer, this.#bytesHeld);
    const isRefused =
      outcome !== undefined && (outcome.ok ? !outcome.appended : outcome.rejection.reason !== 'unavailable');
    if (!isRefused || this.#bytesCharged === 0) return;
    this.writer.allowance?.giveBackBytes(this.#bytesCharged);
    if (this.#context.isOwn === true) this.writer.ownAllowance?.giveBackBytes(this.#bytesCharged);
  }
}

/**
 * Counts a write of a writer with a rate limit, and refuses the write if the rate is exceeded. Dry runs and writes
 * without changes count too, because they also take time. A write with `admitted` does not count.
 */
function refuseWrite(writer: Writer, { isOwn, admitted }: WriteContext, clock: Clock): Refusal | undefined {
  const { allowance } = writer;
  if (allowance === undefined) return undefined;
  const now = clock.monotonic();
  if (isOwn === true) writer.ownAllowance ??= new Allowance(ownRates, now);
  if (admitted !== undefined) return undefined;
  const seconds = allowance.takeWrite(now);
  if (seconds > 0) return tooFast(`${String(allowance.rates.writes?.perSecond)} writes`, seconds);
  const ownSeconds = (isOwn === true ? writer.ownAllowance?.takeWrite(now) : undefined) ?? 0;
  if (ownSeconds === 0) return undefined;
  allowance.giveBackWrite();
  return tooFast(`${String(ownWritesPerUser)} writes of the user's own tokens, sessions and profile`, ownSeconds);
}

function tooFast(what: string, seconds: number): Refusal {
  return tooMany(
    `the rate limit is ${what} per second, with bursts of ten times the rate: retry after ${String(seconds)} s`,
    seconds,
  );
}
