/** The refill in one second, and the capacity. */
export type Rate = { readonly perSecond: number; readonly burst: number };

/** A token bucket with a constant refill. Times are monotonic milliseconds. */
export class TokenBucket {
  readonly #rate: Rate;
  #balance: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#balance = rate.burst;
    this.#at = now;
  }

  /** Takes `amount` and returns 0; or takes nothing and returns the seconds until it is available. */
  take(amount: number, now: number): number {
    this.#refill(now);
    // An amount above the capacity needs only a full bucket; later calls wait for the debt.
    const missing = Math.min(amount, this.#rate.burst) - this.#balance;
    if (missing > 0) return Math.max(1, Math.ceil(missing / this.#rate.perSecond));
    this.#balance -= amount;
    return 0;
  }

  /** Takes `amount` in any case, with a debt if necessary. */
  charge(amount: number, now: number): void {
    this.#refill(now);
    this.#balance -= amount;
  }

  giveBack(amount: number): void {
    this.#balance = Math.min(this.#rate.burst, this.#balance + amount);
  }

  /** Whether the bucket is full: a new bucket would then be equal. */
  isFull(now: number): boolean {
    this.#refill(now);
    return this.#balance >= this.#rate.burst;
  }

  #refill(now: number): void {
    const flowed = ((now - this.#at) * this.#rate.perSecond) / 1_000;
    this.#at = now;
    this.#balance = Math.min(this.#rate.burst, this.#balance + flowed);
  }
}
