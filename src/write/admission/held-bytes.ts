import { heldBytesMax } from '../../limits/writes.ts';
import type { Writer } from './writer.ts';

/** The memory of requests and writes in flight, by writer and in total. */
export class HeldBytes {
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  /**
   * Reserves memory. Returns false, without a reservation, if the writer would use more than is left for all others.
   * Thus a single writer may use half of the memory, and later writers can still reserve some.
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
