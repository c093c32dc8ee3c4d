import { TurnQueue } from './turn-queue.ts';

/**
 * A queue of items by account that shares time fairly: the next item belongs to the account that has used the least
 * time. The items of one account keep their order. A new account starts with the used time of the account served last,
 * so it cannot claim time from before it had items.
 */
export class LeastUsedQueue<Account, Item> {
  /** The waiting items. Of two accounts with equal use, the account with the older last turn comes first. */
  readonly #waiting = new TurnQueue<Account, Item>();
  /** The use by account, for accounts that wait or are above the floor. */
  readonly #used = new Map<Account, number>();
  /** The use of the account that was served last. No waiting account counts as having used less. */
  #floor = 0;

  add(account: Account, item: Item): void {
    this.#waiting.add(account, item);
  }

  /** Returns false if the item is not queued any more. */
  remove(account: Account, item: Item): boolean {
    return this.#waiting.remove(account, item);
  }

  /** Call `charge` after the item's work is done. */
  take(): { readonly account: Account; readonly item: Item } | undefined {
    const account = this.#next();
    const item = account === undefined ? undefined : this.#waiting.takeOf(account);
    if (account === undefined || item === undefined) return undefined;
    this.#floor = this.#usedBy(account);
    this.#forget();
    return { account, item };
  }

  /** Adds `time` to the use of the account. The unit is arbitrary. */
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
