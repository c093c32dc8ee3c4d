import { TurnQueue } from './turn-queue.ts';

/**
 * A queue of items by account that shares time fairly: the next item belongs to the account that has used the least
 * time. The items of one account keep their order. A new account starts with the use of the account that was served
 * last, so an idle time gives no advantage.
 */
export class LeastUsedQueue<Account, Item> {
  /** The waiting items. Of two accounts with equal use, the account with the older last turn comes first. */
  readonly #waiting = new TurnQueue<Account, Item>();
  /** The used time by account. Accounts at or below the floor may be missing. */
  readonly #used = new Map<Account, number>();
  /** The use of the account that was served last. An account with a lower use is treated as having this use. */
  #floor = 0;

  add(account: Account, item: Item): void {
    this.#waiting.add(account, item);
  }

  /** Removes a queued item. Returns false if the item is not in the queue. */
  remove(account: Account, item: Item): boolean {
    return this.#waiting.remove(account, item);
  }

  /** Takes the next item; undefined if the queue is empty. The caller must call `charge` after the work on the item. */
  take(): { readonly account: Account; readonly item: Item } | undefined {
    const account = this.#next();
    const item = account === undefined ? undefined : this.#waiting.takeOf(account);
    if (account === undefined || item === undefined) return undefined;
    this.#floor = this.#usedBy(account);
    this.#forget();
    return { account, item };
  }

  /** Adds `time` to the use of the account. All accounts must use the same unit. */
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
