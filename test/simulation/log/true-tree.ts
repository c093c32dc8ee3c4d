import { CompactRange } from '../../../src/audit/proof/compact-range.ts';
import { isLeafStream, leafOf } from '../../../src/audit/proof/leaf-entry.ts';
import type { SharedLog } from './shared-log.ts';

/** The tree over the events that have landed, computed without the code under test but for the hashing. */
export class TrueTree {
  readonly #shared: SharedLog;
  readonly #range = new CompactRange();
  /** By size, in base64. */
  readonly #roots: string[];
  #next = 0;

  constructor(shared: SharedLog) {
    this.#shared = shared;
    this.#roots = [this.#root()];
  }

  /** The root of the first `size` leaves; undefined if fewer have landed. */
  root(size: number): string | undefined {
    for (const event of this.#shared.events.slice(this.#next)) {
      this.#next += 1;
      if (!isLeafStream(event.stream)) continue;
      this.#range.append(leafOf(event));
      this.#roots.push(this.#root());
    }
    return this.#roots[size];
  }

  #root(): string {
    return Buffer.from(this.#range.root()).toString('base64');
  }
}
