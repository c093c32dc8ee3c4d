import type { Clock } from '../base/clock.ts';
import { TurnQueue } from '../base/turn-queue.ts';
import { writeTurnWaitMs, writesWaitingPerObjectMax } from '../limits/writes.ts';
import type { Writer } from './admission/writer.ts';

/** Starts the next writer. */
export type Leave = () => void;

/** The queue of one stream: in order of arrival for each writer, with writers alternating. */
type Queue = TurnQueue<Writer, () => void>;

/**
 * Serializes the writes of one stream on this node, in order of arrival and fairly by user: concurrent writers of one
 * object would nearly all lose each race. This saves work but is not a lock: after a time limit a writer proceeds, and
 * the log decides as always.
 */
export class ObjectQueue {
  readonly #clock: Clock;
  /** By stream in use, its queue; undefined while the queue is empty. */
  readonly #waiting = new Map<string, Queue | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Immediate when the stream is free; undefined when the queue is full. */
  take(stream: string, writer: Writer): Leave | Promise<Leave> | undefined {
    if (!this.#waiting.has(stream)) {
      this.#waiting.set(stream, undefined);
      return () => {
        this.#next(stream);
      };
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

/** A writer that shares slots may hold at most as many as are free. */
function hasPlaceFor(writer: Writer, queue: Queue): boolean {
  const left = writesWaitingPerObjectMax - queue.size;
  return left > 0 && (writer.kind === 'trusted' || queue.sizeOf(writer) < left);
}

const outOfTurn: Leave = () => undefined;
