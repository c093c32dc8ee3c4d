import { heldBytesMax } from '../../limits/writes.ts';
import type { Writer } from './writer.ts';

/** The memory of requests and writes in flight, by writer and in total. */
export class HeldBytes {
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  /**
   * False, without a reservation, if the writer would hold more than is left for all others: a single writer may hold
   * half, and later writers still find room.
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
