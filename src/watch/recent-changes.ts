import type { LogPosition } from '../log/log.ts';
import type { Change } from '../read/objects.ts';

export type RecentBounds = { readonly bytesMax: number; readonly changesMax: number };

/**
 * Half of what one watcher may be behind, as all of it may be handed to a joining watcher in one write: that alone must not
 * put it near its bound. And a bound for small objects, as joining looks at each of them.
 */
export const recentBounds: RecentBounds = { bytesMax: 2_097_152, changesMax: 4_096 };

/**
 * The last changes, shared by all who join: a watcher that resumes a moment later, or has read the log up to a moment ago,
 * is brought to the present from here in the turn it joins. It is what bounds a catch-up on a busy log.
 */
export class RecentChanges {
  /** In order of position; every change after `#since` is here. */
  readonly #changes: Change[] = [];
  #bytes = 0;
  #since: LogPosition;
  readonly #bounds: RecentBounds;

  constructor(since: LogPosition, bounds: RecentBounds = recentBounds) {
    this.#since = since;
    this.#bounds = bounds;
  }

  push(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change);
      this.#bytes += change.bytes.length;
    }
    if (this.#bytes > this.#bounds.bytesMax || this.#changes.length > this.#bounds.changesMax) this.#drop();
  }

  /** Forgets them: nothing before `position` can be asked for. */
  clear(position: LogPosition): void {
    this.#changes.length = 0;
    this.#bytes = 0;
    this.#since = position;
  }

  /** All changes after `position`, or undefined when some of them are not kept any more. */
  after(position: LogPosition): readonly Change[] | undefined {
    if (position < this.#since) return undefined;
    let first = this.#changes.length;
    while (first > 0 && (this.#changes[first - 1]?.position ?? position) > position) first -= 1;
    return this.#changes.slice(first);
  }

  /** Down to half of either bound, so that a busy feed does not move the rest at every batch. */
  #drop(): void {
    const { bytesMax, changesMax } = this.#bounds;
    let dropped = 0;
    for (const { bytes, position } of this.#changes) {
      if (this.#bytes <= bytesMax / 2 && this.#changes.length - dropped <= changesMax / 2) break;
      this.#bytes -= bytes.length;
      this.#since = position;
      dropped += 1;
    }
    this.#changes.splice(0, dropped);
  }
}
