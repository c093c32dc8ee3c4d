import type { Clock } from '../base/clock.ts';
import { writeTurnWaitMs, writesWaitingPerObjectMax } from '../limits/writes.ts';

/** Lets the next one in. */
export type Leave = () => void;

/**
 * One writer a stream at a time, first come, first served: many writers of one object, left to race, would nearly all lose each
 * round. It saves work and is no lock: who has waited too long goes ahead, and the log decides as always.
 */
export class Turns {
  readonly #clock: Clock;
  /** Of each stream somebody has the turn of: who waits for it. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** At once when nobody has it; undefined when too many wait already. */
  take(stream: string): Leave | Promise<Leave> | undefined {
    const waiting = this.#waiting.get(stream);
    if (waiting === undefined) {
      this.#waiting.set(stream, new Set());
      return () => { this.#next(stream); };
    }
    if (waiting.size >= writesWaitingPerObjectMax) return undefined;
    return new Promise((resolve) => {
      const timer = this.#clock.after(writeTurnWaitMs, () => {
        waiting.delete(go);
        resolve(outOfTurn);
      });
      const go = (): void => {
        timer.cancel();
        resolve(() => { this.#next(stream); });
      };
      waiting.add(go);
    });
  }

  #next(stream: string): void {
    const waiting = this.#waiting.get(stream);
    for (const go of waiting ?? []) {
      waiting?.delete(go);
      go();
      return;
    }
    this.#waiting.delete(stream);
  }
}

const outOfTurn: Leave = () => undefined;
