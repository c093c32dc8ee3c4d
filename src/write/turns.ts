import type { Clock } from '../base/clock.ts';
import { writeTurnWaitMs, writesWaitingPerObjectMax } from '../limits/writes.ts';
import type { Writer } from './writer.ts';

/** Lets the next one in. */
export type Leave = () => void;

/** Who waits for one stream: of each writer in the order they came, and the writers by turns. */
class Queue {
  readonly #byWriter = new Map<Writer, Set<() => void>>();
  #size = 0;

  /** Of writers that share places nobody has more than are left for all others. */
  hasPlaceFor(writer: Writer): boolean {
    const left = writesWaitingPerObjectMax - this.#size;
    return left > 0 && (writer.kind === 'trusted' || (this.#byWriter.get(writer)?.size ?? 0) < left);
  }

  add(writer: Writer, go: () => void): void {
    this.#size += 1;
    const own = this.#byWriter.get(writer);
    if (own === undefined) this.#byWriter.set(writer, new Set([go]));
    else own.add(go);
  }

  remove(writer: Writer, go: () => void): void {
    const own = this.#byWriter.get(writer);
    if (own?.delete(go) !== true) return;
    this.#size -= 1;
    if (own.size === 0) this.#byWriter.delete(writer);
  }

  /** The first of the writer whose turn it is, who then comes last. */
  next(): (() => void) | undefined {
    for (const [writer, own] of this.#byWriter) {
      const [go] = own;
      if (go === undefined) throw new Error('invariant broken: a writer without writes waits');
      this.remove(writer, go);
      if (this.#byWriter.delete(writer)) this.#byWriter.set(writer, own);
      return go;
    }
    return undefined;
  }
}

/**
 * One writer a stream at a time, first come, first served, and users by turns: many writers of one object, left to race, would
 * nearly all lose each round. It saves work and is no lock: who has waited too long goes ahead, and the log decides as always.
 */
export class Turns {
  readonly #clock: Clock;
  /** Of each stream somebody has the turn of: who waits for it; undefined while nobody does. */
  readonly #waiting = new Map<string, Queue | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** At once when nobody has it; undefined when too many wait already. */
  take(stream: string, writer: Writer): Leave | Promise<Leave> | undefined {
    if (!this.#waiting.has(stream)) {
      this.#waiting.set(stream, undefined);
      return () => { this.#next(stream); };
    }
    const queue = this.#queueOf(stream);
    if (!queue.hasPlaceFor(writer)) return undefined;
    return new Promise((resolve) => {
      const timer = this.#clock.after(writeTurnWaitMs, () => {
        queue.remove(writer, go);
        resolve(outOfTurn);
      });
      const go = (): void => {
        timer.cancel();
        resolve(() => { this.#next(stream); });
      };
      queue.add(writer, go);
    });
  }

  #queueOf(stream: string): Queue {
    const queue = this.#waiting.get(stream) ?? new Queue();
    this.#waiting.set(stream, queue);
    return queue;
  }

  #next(stream: string): void {
    const go = this.#waiting.get(stream)?.next();
    if (go === undefined) this.#waiting.delete(stream);
    else go();
  }
}

const outOfTurn: Leave = () => undefined;
