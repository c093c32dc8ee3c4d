import type { Clock } from '../base/clock.ts';
import { TurnQueue } from '../base/turn-queue.ts';
import { writeTurnWaitMs, writesWaitingPerObjectMax } from '../limits/writes.ts';
import type { Writer } from './admission/writer.ts';

/** Lets the next one in. */
export type Leave = () => void;

/** Who waits for one stream: of each writer in the order they came, and the writers by turns. */
type Queue = TurnQueue<Writer, () => void>;

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
    if (!hasPlaceFor(writer, queue)) return undefined;
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
    const queue = this.#waiting.get(stream) ?? new TurnQueue<Writer, () => void>();
    this.#waiting.set(stream, queue);
    return queue;
  }

  #next(stream: string): void {
    const go = this.#waiting.get(stream)?.take();
    if (go === undefined) this.#waiting.delete(stream);
    else go();
  }
}

/** Of writers that share places nobody has more than are left for all others. */
function hasPlaceFor(writer: Writer, queue: Queue): boolean {
  const left = writesWaitingPerObjectMax - queue.size;
  return left > 0 && (writer.kind === 'trusted' || queue.sizeOf(writer) < left);
}

const outOfTurn: Leave = () => undefined;
