import type { Clock, Timer } from '../../base/clock.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import {
  upgradeLatelyMs,
  upgradeTurnMs,
  upgradeWaitMs,
  upgradeWaitsHeldBytesMax,
  upgradeWaitsMax,
} from '../../limits/writes.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { Writer } from './writer.ts';

export type UpgradeWaitsDependencies = {
  readonly clock: Clock;
  /** The memory of all requests and writes in flight, including the waiting writes. */
  readonly held: Pick<HeldBytes, 'sum'>;
  /** Aborted when this node stops. */
  readonly signal: AbortSignal;
};

/** The part of `Writer` that a wait needs. Waiting writes are counted by the identity of their writer. */
type Account = Pick<Writer, 'kind'>;

type Waiting = {
  readonly isOver: () => boolean;
  readonly end: (isOver: boolean) => void;
};

/**
 * Lets writes wait for the end of an upgrade: until the plugin is loaded again, or the leader has declared its types. A
 * write waits only if plugins or declarations have changed in the last `upgradeLatelyMs`. After that time, the nodes
 * probably have different files for longer, and a wait would only delay the refusal.
 */
export class UpgradeWaits {
  readonly #dependencies: UpgradeWaitsDependencies;
  readonly #turns: EventLoopTurns;
  readonly #waiting = new Set<Waiting>();
  readonly #counts = new Map<Account, number>();
  #changedAt: number;

  constructor(dependencies: UpgradeWaitsDependencies) {
    const { clock, signal } = dependencies;
    this.#dependencies = dependencies;
    this.#turns = new EventLoopTurns(clock, upgradeTurnMs);
    this.#changedAt = clock.monotonic();
    signal.addEventListener('abort', () => {
      for (const { end } of [...this.#waiting]) end(false);
    });
  }

  /**
   * Continues the writes that no longer need to wait. Must be called after a registered type, the load of a plugin or a
   * declaration has changed.
   */
  readonly changed = (): void => {
    this.#changedAt = this.#dependencies.clock.monotonic();
    for (const { isOver, end } of [...this.#waiting]) if (isOver()) end(true);
  };

  /** Returns the deadline of a wait that begins now, in monotonic milliseconds. */
  deadline(): number {
    return this.#dependencies.clock.monotonic() + upgradeWaitMs;
  }

  /**
   * Resolves with true when `isOver` returns true. Resolves with false at the deadline, when `disconnected` aborts or
   * when this node stops. Resolves with false at once if no upgrade is in progress or no slot is free.
   */
  async until(
    isOver: () => boolean,
    {
      of,
      deadline,
      disconnected,
    }: { readonly of: Account; readonly deadline: number; readonly disconnected?: AbortSignal | undefined },
  ): Promise<boolean> {
    const remainingMs = deadline - this.#dependencies.clock.monotonic();
    if (remainingMs <= 0 || disconnected?.aborted === true) return false;
    if (isOver()) return true;
    if (!this.#mayWait(of)) return false;
    this.#count(of, 1);
    const ended = await this.#ended(isOver, remainingMs, disconnected);
    this.#count(of, -1);
    // Spreads the writes over several turns, because deciding all waiting writes in one turn would block the event
    // loop.
    if (ended) await this.#turns.next();
    return ended;
  }

  /** Returns whether a write of the writer may wait. A writer that is not trusted may use at most half of the slots. */
  #mayWait(of: Account): boolean {
    const { clock, held, signal } = this.#dependencies;
    const isUpgrade = clock.monotonic() - this.#changedAt <= upgradeLatelyMs;
    const free = upgradeWaitsMax - this.#waiting.size;
    const own = of.kind === 'trusted' ? 0 : (this.#counts.get(of) ?? 0);
    return isUpgrade && !signal.aborted && free > own && held.sum <= upgradeWaitsHeldBytesMax;
  }

  #ended(isOver: () => boolean, ms: number, disconnected: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (): void => {
        end(false);
      };
      const end = (isEnded: boolean): void => {
        timer.cancel();
        disconnected?.removeEventListener('abort', leave);
        this.#waiting.delete(waiting);
        resolve(isEnded);
      };
      const waiting: Waiting = { isOver, end };
      const timer: Timer = this.#dependencies.clock.after(ms, leave);
      disconnected?.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #count(of: Account, change: 1 | -1): void {
    const count = (this.#counts.get(of) ?? 0) + change;
    if (count === 0) this.#counts.delete(of);
    else this.#counts.set(of, count);
  }
}
