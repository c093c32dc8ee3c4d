import { watchQueuedFrameBytes } from '../limits/watches.ts';
import type { Frames } from './frames.ts';
import type { Slices } from './slices.ts';

export type BudgetBounds = {
  readonly bytesMax: number;
  readonly accountBytesMax: number;
};

/** The part of a queue that the budget uses. */
export type Queue = {
  /** Bytes that the peer has not consumed. */
  readonly unreadBytes: number;
  /**
   * Disconnects the queue because a limit is exceeded, and drops its waiting frames. A write in progress may continue.
   */
  overflow(): void;
  /** Releases all frames immediately, and destroys the connection in a later turn. */
  cut(): void;
};

/** The queues of one user, with the total of their bytes. Visitors have one account for each network. */
export class Account {
  readonly key: string;
  bytes = 0;
  readonly queues = new Set<Queue>();
  /** Ended queues that have not finished their last write, in the order in which they ended. */
  readonly leaving = new Set<Queue>();

  constructor(key: string) {
    this.key = key;
  }
}

/**
 * The limits of unread bytes, for all queues together and for each user. Adding a frame takes constant time. Queues are
 * compared only after a limit is exceeded.
 */
export class BufferBudget {
  readonly #bounds: BudgetBounds;
  readonly #slices: Slices;
  readonly #accounts = new Map<string, Account>();
  readonly #leaving = new Set<Queue>();
  #bytes = 0;
  /**
   * The queues of each scope that exceeded its limit in this turn, in ascending order of unread bytes. A scope is one
   * account, or all queues together.
   */
  readonly #orders = new Map<Account | BufferBudget, Queue[]>();
  /** Whether a limit is being enforced. Prevents recursion if the disconnection of a queue adds a frame. */
  #relieving = false;

  constructor(slices: Slices, bounds: BudgetBounds) {
    this.#slices = slices;
    this.#bounds = bounds;
  }

  /** The memory of all queues in bytes. A buffer in several queues counts once, with an overhead for each queue. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the memory of one account's queues in bytes. */
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

  /**
   * Marks the queue as ended, so that the queue is disconnected before other queues. Must be called when the queue
   * accepts no more frames.
   */
  leave(account: Account, queue: Queue): void {
    account.queues.delete(queue);
    account.leaving.add(queue);
    this.#leaving.add(queue);
  }

  /** Removes the queue. Must be called when the queue is empty and stays empty. */
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

  /**
   * Disconnects queues until both limits are met or no queue has unread bytes: first ended queues, then the queues that
   * are furthest behind. Must be called after adding bytes.
   */
  relieve(account: Account): void {
    const { bytesMax, accountBytesMax } = this.#bounds;
    if ((account.bytes <= accountBytesMax && this.#bytes <= bytesMax) || this.#relieving) return;
    this.#relieving = true;
    while (account.bytes > accountBytesMax && this.#endOne(account, account.leaving));
    while (this.#bytes > bytesMax && this.#endOne(this, this.#leaving));
    this.#relieving = false;
  }

  /** Disconnects one queue; returns false if no queue is left to disconnect. */
  #endOne(scope: Account | BufferBudget, leaving: ReadonlySet<Queue>): boolean {
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
      if (this.#orders.size === 0)
        this.#slices.runLater({
          run: () => {
            this.#orders.clear();
          },
        });
      this.#orders.set(scope, order);
      const accounts = scope instanceof Account ? [scope] : [...this.#accounts.values()];
      order.push(...accounts.flatMap(({ queues }) => [...queues].filter(({ unreadBytes }) => unreadBytes > 0)));
      order.sort((one, other) => one.unreadBytes - other.unreadBytes);
    }
    for (let last = order.pop(); last !== undefined; last = order.pop()) if (last.unreadBytes > 0) return last;
    return undefined;
  }
}
