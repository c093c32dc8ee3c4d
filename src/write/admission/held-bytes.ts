import { heldBytesMax } from '../../limits/writes.ts';
import type { Writer } from './writer.ts';

/** The memory of requests and of writes in flight, by writer and in sum. */
export class HeldBytes {
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  /**
   * False, and nothing is held, where the writer would hold more than is left for all others: so one alone may hold half,
   * and whoever comes later still finds room.
   */
  hold(writer: Writer, bytes: number): boolean {
    const sum = this.#sum + bytes;
    const own = writer.bytesHeld + bytes;
    if (own > heldBytesMax - this.#sum || sum > heldBytesMax) return false;
    this.#sum = sum;
    writer.bytesHeld = own;
    return true;
  }

  release(writer: Writer, bytes: number): void {
    this.#sum -= bytes;
    writer.bytesHeld -= bytes;
  }
}
