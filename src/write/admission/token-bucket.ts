/** What flows back in a second, and what may be taken at once after a pause. */
export type Rate = { readonly perSecond: number; readonly burst: number };

/** A balance that flows back at a constant rate. Times are of a monotonic clock, in milliseconds. */
export class TokenBucket {
  readonly #rate: Rate;
  #balance: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#balance = rate.burst;
    this.#at = now;
  }

  /** Takes `amount` and returns 0, or leaves it and returns the seconds until it can be taken. */
  take(amount: number, now: number): number {
    this.#refill(now);
    // More than a burst can never be there at once: a full bucket gives it, and the debt is waited for afterwards.
    const missing = Math.min(amount, this.#rate.burst) - this.#balance;
    if (missing > 0) return Math.max(1, Math.ceil(missing / this.#rate.perSecond));
    this.#balance -= amount;
    return 0;
  }

  /** Takes `amount` in any case, as a debt if need be. */
  charge(amount: number, now: number): void {
    this.#refill(now);
    this.#balance -= amount;
  }

  giveBack(amount: number): void {
    this.#balance = Math.min(this.#rate.burst, this.#balance + amount);
  }

  /** Nothing was taken of late: a new bucket would be the same. */
  isFull(now: number): boolean {
    this.#refill(now);
    return this.#balance >= this.#rate.burst;
  }

  #refill(now: number): void {
    const flowed = (now - this.#at) * this.#rate.perSecond / 1_000;
    this.#at = now;
    this.#balance = Math.min(this.#rate.burst, this.#balance + flowed);
  }
}
