import { writeBurstSeconds } from '../../limits/writes.ts';
import { TokenBucket, type Rate } from './token-bucket.ts';

/** How fast one user may write. Undefined: as fast as they can. */
export type WriteRates = { readonly writes: Rate | undefined; readonly bytes: Rate | undefined };

/** The rates of settings, where 0 is none. */
export function writeRates(writesPerSecond: number, bytesPerSecond: number): WriteRates {
  return { writes: rateOf(writesPerSecond), bytes: rateOf(bytesPerSecond) };
}

function rateOf(perSecond: number): Rate | undefined {
  return perSecond === 0 ? undefined : { perSecond, burst: perSecond * writeBurstSeconds };
}

/** `trusted`: super administrators and the platform; `plugin`: what a plugin does of its own accord; all else is limited. */
export type WriterKind = 'limited' | 'plugin' | 'trusted';

/** The balances of one set of limits. */
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

  /** Both return the seconds to wait, and take nothing then. */
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

/** One user, address or plugin: what it has in flight, what it holds of memory, and what it may still write. */
export class Writer {
  readonly kind: WriterKind;
  /** Undefined for all but limited writers. */
  readonly allowance: Allowance | undefined;
  /** Of its own tokens, sessions and profile; made by the first such write. */
  ownAllowance: Allowance | undefined;
  writesInFlight = 0;
  bytesHeld = 0;

  constructor(kind: WriterKind, allowance?: Allowance) {
    this.kind = kind;
    this.allowance = allowance;
  }

  /** Nobody would notice if it were forgotten. */
  isIdle(now: number): boolean {
    return this.isUnused() && this.allowance?.isFull(now) !== false && this.ownAllowance?.isFull(now) !== false;
  }

  isUnused(): boolean {
    return this.writesInFlight === 0 && this.bytesHeld === 0;
  }
}
