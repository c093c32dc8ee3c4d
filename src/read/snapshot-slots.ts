import type { Clock, Timer } from '../base/clock.ts';
import { EventLoopTurns } from '../base/event-loop-turns.ts';
import {
  listTurnMs,
  snapshotSlotsMax,
  snapshotsPerAddressMax,
  snapshotsPerUserMax,
  snapshotStallMs,
  snapshotWaitersMax,
  snapshotWaitersPerUserMax,
  snapshotWaitMs,
} from '../limits/lists.ts';
import { accountOf, type Client } from './client.ts';

/** The maximum number of slots in total, for each user and for each address. */
export type SlotLimits = {
  readonly total: number;
  readonly perUser: number;
  readonly perAddress: number;
};

const ofSnapshots: SlotLimits = {
  total: snapshotSlotsMax,
  perUser: snapshotsPerUserMax,
  perAddress: snapshotsPerAddressMax,
};

/** A reader's slot for one snapshot. */
export type SnapshotSlot = {
  /**
   * Must be called when the reader starts to wait for its peer. `onStalled` is called if the wait takes too long while
   * other readers queue.
   */
  waits(onStalled: () => void): void;
  /** Must be called when the peer has consumed data. */
  took(): void;
  /** Releases the slot. Must be called in each case. */
  release(): void;
};

type Held = {
  readonly client: Client;
  waitsSince: number | undefined;
  onStalled: () => void;
};
type Waiter = {
  readonly client: Client;
  settle(slot: SnapshotSlot | undefined): void;
};

/** The interval at which stalled readers are checked while others queue. */
const lookMs = 1_000;

/**
 * Shares snapshots among clients, with limits by user, by address and in total. Readers without a slot queue in order,
 * but a client at its limit does not delay other clients. A reader must give up its slot if its peer consumes nothing
 * for `snapshotStallMs` while other readers queue.
 *
 * Also shares the time of each turn among starting lists.
 */
export class SnapshotSlots {
  readonly #clock: Clock;
  readonly #limits: SlotLimits;
  readonly #beginnings: EventLoopTurns;
  readonly #held = new Set<Held>();
  /** The number of held slots, by user and by address. */
  readonly #users = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  /** The number of queued readers, by account. */
  readonly #waitingOf = new Map<string, number>();
  /** The queued readers in order of arrival. No queued reader can get a slot now. */
  readonly #waiting = new Set<Waiter>();
  /** The timer of the next check for stalled readers; undefined if none is scheduled. */
  #looking: Timer | undefined;

  constructor(clock: Clock, limits = ofSnapshots) {
    this.#clock = clock;
    this.#limits = limits;
    this.#beginnings = new EventLoopTurns(clock, listTurnMs);
  }

  get held(): number {
    return this.#held.size;
  }

  /**
   * Returns undefined if the caller may begin a list now. Otherwise, the caller may begin when the promise resolves.
   * The caller must not `await` between this call and the work.
   */
  turn(client: Client): Promise<void> | undefined {
    return this.#beginnings.soon(accountOf(client));
  }

  /** Takes a slot if a slot is free now; otherwise returns undefined. */
  tryTake(client: Client): SnapshotSlot | undefined {
    return this.#hasRoom(client) ? this.#hold(client) : undefined;
  }

  /**
   * Takes a slot, perhaps after a wait in the queue. Returns undefined if the queue is full, the wait timed out or
   * `signal` aborted.
   */
  async take(client: Client, signal?: AbortSignal): Promise<SnapshotSlot | undefined> {
    const slot = this.tryTake(client);
    if (slot !== undefined) return slot;
    const key = accountOf(client);
    const waiting = this.#waitingOf.get(key) ?? 0;
    if (this.#waiting.size >= snapshotWaitersMax || waiting >= snapshotWaitersPerUserMax || signal?.aborted === true)
      return undefined;
    this.#waitingOf.set(key, waiting + 1);
    return new Promise((resolve) => {
      const giveUp = (): void => {
        waiter.settle(undefined);
      };
      const timer = this.#clock.after(snapshotWaitMs, giveUp);
      const waiter: Waiter = {
        client,
        settle: (given) => {
          timer.cancel();
          signal?.removeEventListener('abort', giveUp);
          this.#waiting.delete(waiter);
          count(this.#waitingOf, key, -1);
          resolve(given);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiter);
      this.#looking ??= this.#checkStalled();
    });
  }

  #hasRoom({ user, address }: Client): boolean {
    const { total, perUser, perAddress } = this.#limits;
    return (
      this.#held.size < total &&
      (this.#addresses.get(address) ?? 0) < perAddress &&
      (user === undefined || (this.#users.get(user) ?? 0) < perUser)
    );
  }

  #hold(client: Client): SnapshotSlot {
    const held: Held = { client, waitsSince: undefined, onStalled: () => undefined };
    this.#held.add(held);
    this.#count(client, 1);
    return {
      waits: (onStalled) => {
        held.waitsSince = this.#clock.monotonic();
        held.onStalled = onStalled;
      },
      took: () => {
        held.waitsSince = undefined;
      },
      release: () => {
        if (!this.#held.delete(held)) return;
        this.#count(client, -1);
        this.#give();
      },
    };
  }

  #count({ user, address }: Client, by: 1 | -1): void {
    if (user !== undefined) count(this.#users, user, by);
    count(this.#addresses, address, by);
  }

  /** Assigns free slots to the readers that have waited longest and may have a slot. */
  #give(): void {
    for (const waiter of this.#waiting) {
      if (this.#held.size >= this.#limits.total) return;
      if (this.#hasRoom(waiter.client)) waiter.settle(this.#hold(waiter.client));
    }
  }

  /**
   * While readers queue, calls `onStalled` of stalled readers at each interval, for at most as many readers as are
   * queued. A stalled reader keeps its slot until the reader calls `release`.
   */
  #checkStalled(): Timer {
    return this.#clock.after(lookMs, () => {
      const since = this.#clock.monotonic() - snapshotStallMs;
      let waiters = this.#waiting.size;
      for (const held of this.#held) {
        if (waiters === 0) break;
        if (held.waitsSince === undefined || held.waitsSince > since) continue;
        waiters -= 1;
        held.waitsSince = undefined;
        held.onStalled();
      }
      this.#looking = this.#waiting.size === 0 ? undefined : this.#checkStalled();
    });
  }
}

function count(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + by;
  if (next <= 0) counts.delete(key);
  else counts.set(key, next);
}
