/**
 * Items that wait, each for an account. Accounts take turns, and the items of one account leave in the order they came:
 * an account with a thousand items delays the next one of another account by one place, not by a thousand.
 */
export class TurnQueue<Account, Item> {
  /** By account, none empty; the account whose last turn is longest ago comes first. */
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

  /** False where it does not wait any more. */
  remove(account: Account, item: Item): boolean {
    const own = this.#byAccount.get(account);
    if (own?.delete(item) !== true) return false;
    this.#size -= 1;
    if (own.size === 0) this.#byAccount.delete(account);
    return true;
  }

  /** The first item of the account whose turn it is, which then comes last. */
  take(): Item | undefined {
    const [account] = this.#byAccount.keys();
    return account === undefined ? undefined : this.takeOf(account);
  }

  /** The same for an account out of turn. */
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

  /** The item of the account that came last, which keeps the account's place. */
  takeLatest(account: Account): Item | undefined {
    const latest = [...this.#byAccount.get(account) ?? []].at(-1);
    if (latest !== undefined) this.remove(account, latest);
    return latest;
  }
}
