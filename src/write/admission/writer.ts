import { writeBurstSeconds } from '../../limits/writes.ts';
import { TokenBucket, type Rate } from './token-bucket.ts';

/** The write rates of one writer. An undefined rate is unlimited. */
export type WriteRates = { readonly writes: Rate | undefined; readonly bytes: Rate | undefined };

/** Returns the rates for settings in which 0 means unlimited. */
export function writeRates(writesPerSecond: number, bytesPerSecond: number): WriteRates {
  return { writes: rateOf(writesPerSecond), bytes: rateOf(bytesPerSecond) };
}

function rateOf(perSecond: number): Rate | undefined {
  return perSecond === 0 ? undefined : { perSecond, burst: perSecond * writeBurstSeconds };
}

/** `trusted`: super administrators and the platform; `plugin`: a plugin with its own rights; `limited`: all others. */
export type WriterKind = 'limited' | 'plugin' | 'trusted';

/** The token buckets of one set of limits. */
export class Allowance {
  readonly #rates: WriteRates;
  readonly #writes: TokenBucket | undefined;
  readonly #bytes: TokenBucket | undefined;

  constructor(rates: WriteRates, now: number) {
    this.#rates = rates;
    this.#writes = rates.writes === undefined ? undefined : new TokenBucket(rates.writes, now);
    this.#bytes = rates.bytes === undefined ? undefined : new TokenBucket(rates.bytes, now);
  }

  get rates(): WriteRates {
    return this.#rates;
  }

  /** Charges one write and returns 0. Above the rate, charges nothing and returns the seconds to wait. */
  takeWrite(now: number): number {
    return this.#writes?.take(1, now) ?? 0;
  }

  takeBytes(bytes: number, now: number): number {
    return this.#bytes?.take(bytes, now) ?? 0;
  }

  chargeBytes(bytes: number, now: number): void {
    this.#bytes?.charge(bytes, now);
  }

  giveBackWrite(): void {
    this.#writes?.giveBack(1);
  }

  giveBackBytes(bytes: number): void {
    this.#bytes?.giveBack(bytes);
  }

  isFull(now: number): boolean {
    return this.#writes?.isFull(now) !== false && this.#bytes?.isFull(now) !== false;
  }
}

/** A user, a network, a plugin or the platform, with its writes in flight, its reserved memory and its rate limits. */
export class Writer {
  readonly kind: WriterKind;
  /** The buckets of a limited writer; undefined for other writers. */
  readonly allowance: Allowance | undefined;
  /** The buckets for writes of the user's own tokens, sessions and profile; created by the first such write. */
  ownAllowance: Allowance | undefined;
  writesInFlight = 0;
  bytesHeld = 0;

  constructor(kind: WriterKind, allowance?: Allowance) {
    this.kind = kind;
    this.allowance = allowance;
  }

  /** Returns whether the writer can be dropped without an effect: the writer is unused and all its buckets are full. */
  isIdle(now: number): boolean {
    return this.isUnused() && this.allowance?.isFull(now) !== false && this.ownAllowance?.isFull(now) !== false;
  }

  isUnused(): boolean {
    return this.writesInFlight === 0 && this.bytesHeld === 0;
  }
}
