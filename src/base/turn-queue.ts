/**
 * A fair queue of items by account. Accounts alternate, and the items of one account keep their order. An account with
 * a thousand items thus delays another account's next item by one place.
 */
export class TurnQueue<Account, Item> {
  /** The items by account. No set is empty. The account with the oldest last turn comes first. */
  readonly #byAccount = new Map<Account, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(account: Account): number {
    return this.#byAccount.get(account)?.size ?? 0;
  }

  accounts(): Iterable<Account> {
    return this.#byAccount.keys();
  }

  add(account: Account, item: Item): void {
    this.#size += 1;
    const own = this.#byAccount.get(account);
    if (own === undefined) this.#byAccount.set(account, new Set([item]));
    else own.add(item);
  }

  /** Removes a queued item. Returns false if the item is not in the queue. */
  remove(account: Account, item: Item): boolean {
    const own = this.#byAccount.get(account);
    if (own?.delete(item) !== true) return false;
    this.#size -= 1;
    if (own.size === 0) this.#byAccount.delete(account);
    return true;
  }

  /** Takes the first item of the next account. The account then moves to the end. */
  take(): Item | undefined {
    const [account] = this.#byAccount.keys();
    return account === undefined ? undefined : this.takeOf(account);
  }

  /** Takes the first item of this account, even if other accounts are before it. */
  takeOf(account: Account): Item | undefined {
    const own = this.#byAccount.get(account);
    const [item] = own ?? [];
    if (own === undefined || item === undefined) return undefined;
    this.#byAccount.delete(account);
    own.delete(item);
    this.#size -= 1;
    if (own.size > 0) this.#byAccount.set(account, own);
    return item;
  }

  /** Takes the latest item of this account. The account keeps its place in the order. */
  takeLatest(account: Account): Item | undefined {
    const latest = [...(this.#byAccount.get(account) ?? [])].at(-1);
    if (latest !== undefined) this.remove(account, latest);
    return latest;
  }
}
