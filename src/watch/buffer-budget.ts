import { watchQueuedFrameBytes } from '../limits/watches.ts';
import type { Frames } from './frames.ts';
import type { Slices } from './slices.ts';

export type BudgetBounds = { readonly bytesMax: number; readonly accountBytesMax: number };

/** A queue as the budget sees it. */
export type Queue = {
  /** Bytes its peer has not taken: the more, the further it is behind. */
  readonly unreadBytes: number;
  /** Cuts it off for the budget's sake: nothing is queued in it afterwards but a write that has begun. */
  overflow(): void;
  /** Gives back everything at once: the connection is destroyed soon. */
  cut(): void;
};

/** What one user's queues hold together. Visitors have one for each address. */
export class Account {
  readonly key: string;
  bytes = 0;
  readonly queues = new Set<Queue>();
  /** Those that were ended and hold a last write, the oldest first. */
  readonly leaving = new Set<Queue>();

  constructor(key: string) {
    this.key = key;
  }
}

/**
 * What all queues together and those of each user may hold. Counting a frame takes the same time however many queues and
 * frames there are; only past a bound are the queues looked at, once a turn.
 */
export class BufferBudget {
  readonly #bounds: BudgetBounds;
  readonly #slices: Slices;
  readonly #accounts = new Map<string, Account>();
  readonly #leaving = new Set<Queue>();
  #bytes = 0;
  /** Of each scope that was past its bound in this turn: its queues, the one furthest behind last. */
  readonly #orders = new Map<Account | BufferBudget, Queue[]>();
  /** Whether a bound is being enforced: cutting off one queue may queue a frame in another. */
  #relieving = false;

  constructor(slices: Slices, bounds: BudgetBounds) {
    this.#slices = slices;
    this.#bounds = bounds;
  }

  /** Held by all queues, each shared buffer counted once. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Held by one user's queues. */
  bytesOf(key: string): number {
    return this.#accounts.get(key)?.bytes ?? 0;
  }

  enter(key: string, queue: Queue): Account {
    let account = this.#accounts.get(key);
    if (account === undefined) {
      account = new Account(key);
      this.#accounts.set(key, account);
    }
    account.queues.add(queue);
    return account;
  }

  /** It takes nothing new: from now on it is the first to be cut. */
  leave(account: Account, queue: Queue): void {
    account.queues.delete(queue);
    account.leaving.add(queue);
    this.#leaving.add(queue);
  }

  /** It holds nothing and never will again. */
  forget(account: Account, queue: Queue): void {
    account.queues.delete(queue);
    account.leaving.delete(queue);
    this.#leaving.delete(queue);
    if (account.queues.size === 0 && account.leaving.size === 0) this.#accounts.delete(account.key);
  }

  hold(account: Account, frames: Frames): void {
    const first = frames.hold(account);
    const bytes = first === 'neither' ? watchQueuedFrameBytes : watchQueuedFrameBytes + frames.heldBytes;
    account.bytes += bytes;
    this.#bytes += first === 'anybody' ? bytes : watchQueuedFrameBytes;
  }

  release(account: Account, frames: Frames): void {
    const last = frames.release(account);
    const bytes = last === 'neither' ? watchQueuedFrameBytes : watchQueuedFrameBytes + frames.heldBytes;
    account.bytes -= bytes;
    this.#bytes -= last === 'anybody' ? bytes : watchQueuedFrameBytes;
  }

  /** Cuts off who is furthest behind until both bounds hold again. To be called after something was held. */
  relieve(account: Account): void {
    const { bytesMax, accountBytesMax } = this.#bounds;
    if ((account.bytes <= accountBytesMax && this.#bytes <= bytesMax) || this.#relieving) return;
    this.#relieving = true;
    while (account.bytes > accountBytesMax && this.#cutOne(account, account.leaving));
    while (this.#bytes > bytesMax && this.#cutOne(this, this.#leaving));
    this.#relieving = false;
  }

  /** False when there is nobody left. */
  #cutOne(scope: Account | BufferBudget, leaving: ReadonlySet<Queue>): boolean {
    for (const queue of leaving) {
      queue.cut();
      return true;
    }
    const furthest = this.#furthest(scope);
    furthest?.overflow();
    return furthest !== undefined;
  }

  #furthest(scope: Account | BufferBudget): Queue | undefined {
    const order = this.#orders.get(scope) ?? [];
    if (order.length === 0) {
      if (this.#orders.size === 0) this.#slices.add({ run: () => { this.#orders.clear(); } });
      this.#orders.set(scope, order);
      const accounts = scope instanceof Account ? [scope] : [...this.#accounts.values()];
      order.push(...accounts.flatMap(({ queues }) => [...queues].filter(({ unreadBytes }) => unreadBytes > 0)));
      order.sort((one, other) => one.unreadBytes - other.unreadBytes);
    }
    for (let last = order.pop(); last !== undefined; last = order.pop()) if (last.unreadBytes > 0) return last;
    return undefined;
  }
}
