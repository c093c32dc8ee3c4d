import type { Clock } from '../base/clock.ts';
import { TurnQueue } from '../base/turn-queue.ts';
import { writeTurnWaitMs, writesWaitingPerObjectMax } from '../limits/writes.ts';
import type { Writer } from './admission/writer.ts';

/** Ends the writer's turn and starts the next writer. */
export type Leave = () => void;

/** The queue of one stream. Writers alternate; the writes of one writer keep the order of arrival. */
type Queue = TurnQueue<Writer, () => void>;

/**
 * Serializes the writes of each stream on this node, because most concurrent writes of an object would lose the race to
 * append. Writers alternate. The queue saves work but is not a lock: a writer proceeds after a time limit, and the
 * expected revision ensures that only one of two writes from the same state succeeds.
 */
export class StreamQueues {
  readonly #clock: Clock;
  /** The queue of each stream with a write in progress; undefined until a second write arrives. */
  readonly #waiting = new Map<string, Queue | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for the writer's turn. Returns without a promise if no write of the stream is in progress. Returns undefined
   * if the queue has no slot for the writer.
   */
  take(stream: string, writer: Writer): Leave | Promise<Leave> | undefined {
    if (!this.#waiting.has(stream)) {
      this.#waiting.set(stream, undefined);
      return () => {
        this.#next(stream);
      };
    }
    const queue = this.#queueOf(stream);
    if (!hasSlotFor(writer, queue)) return undefined;
    return new Promise((resolve) => {
      const timer = this.#clock.after(writeTurnWaitMs, () => {
        queue.remove(writer, go);
        resolve(outOfTurn);
      });
      const go = (): void => {
        timer.cancel();
        resolve(() => {
          this.#next(stream);
        });
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

/**
 * Returns whether the queue has a slot for the writer. A writer that is not trusted may fill at most half of the queue.
 */
function hasSlotFor(writer: Writer, queue: Queue): boolean {
  const left = writesWaitingPerObjectMax - queue.size;
  return left > 0 && (writer.kind === 'trusted' || queue.sizeOf(writer) < left);
}

/** The turn of a write that exceeded the time limit. Such a write blocks no other write, so its end starts none. */
const outOfTurn: Leave = () => undefined;
