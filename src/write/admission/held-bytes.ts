import { heldBytesMax } from '../../limits/writes.ts';
import type { Writer } from './writer.ts';

/** The memory of requests and writes in flight, by writer and in total. */
export class HeldBytes {
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  /**
   * Reserves memory. Returns false, and reserves nothing, if the writer would then have more memory than is free now. A
   * single writer can thus use at most half of the memory.
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
