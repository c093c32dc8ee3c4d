import { TurnQueue } from './turn-queue.ts';

/**
 * A queue of items by account that shares out time: the next item is that of the account that has used the least, and
 * an account's own items keep their order. An account that comes later begins with what the others have used, so it
 * cannot make up for the time before.
 */
export class LeastUsedQueue<Account, Item> {
  /** Of two accounts that have used the same, the one with the older last turn comes first. */
  readonly #waiting = new TurnQueue<Account, Item>();
  /** Of the accounts that wait, and of those above the floor. */
  readonly #used = new Map<Account, number>();
  /** What the account that was served last had used: no account has used less. */
  #floor = 0;

  add(account: Account, item: Item): void {
    this.#waiting.add(account, item);
  }

  /** False when the item is not queued any more. */
  remove(account: Account, item: Item): boolean {
    return this.#waiting.remove(account, item);
  }

  /** Call `charge` once the item's work is done. */
  take(): { readonly account: Account; readonly item: Item } | undefined {
    const account = this.#next();
    const item = account === undefined ? undefined : this.#waiting.takeOf(account);
    if (account === undefined || item === undefined) return undefined;
    this.#floor = this.#usedBy(account);
    this.#forget();
    return { account, item };
  }

  /** `time`: what the account has used, in any unit. */
  charge(account: Account, time: number): void {
    this.#used.set(account, this.#usedBy(account) + time);
  }

  #usedBy(account: Account): number {
    return Math.max(this.#used.get(account) ?? 0, this.#floor);
  }

  #next(): Account | undefined {
    let [least] = this.#waiting.accounts();
    for (const account of this.#waiting.accounts())
      if (least !== undefined && this.#usedBy(account) < this.#usedBy(least)) least = account;
    return least;
  }

  #forget(): void {
    for (const [account, used] of this.#used) if (used <= this.#floor) this.#used.delete(account);
  }
}
