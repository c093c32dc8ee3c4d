/** The refill in one second, and the capacity of the bucket. */
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

  /** Takes `amount` and returns 0. If too little is available, takes nothing and returns the seconds to wait. */
  take(amount: number, now: number): number {
    this.#refill(now);
    // An amount above the capacity needs only a full bucket. The balance then becomes negative, so later calls wait.
    const missing = Math.min(amount, this.#rate.burst) - this.#balance;
    if (missing > 0) return Math.max(1, Math.ceil(missing / this.#rate.perSecond));
    this.#balance -= amount;
    return 0;
  }

  /** Takes `amount` even if the balance becomes negative. */
  charge(amount: number, now: number): void {
    this.#refill(now);
    this.#balance -= amount;
  }

  giveBack(amount: number): void {
    this.#balance = Math.min(this.#rate.burst, this.#balance + amount);
  }

  /** Returns whether the bucket is full, and thus equal to a new bucket. */
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
