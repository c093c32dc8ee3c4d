import type { LogPosition } from '../log/log.ts';
import type { Change } from '../read/objects.ts';

export type RecentBounds = { readonly bytesMax: number; readonly changesMax: number };

/**
 * The default limits: half of the limit of one watcher, since a joining watcher may get all recent changes in one
 * write, which alone must not bring it near its limit. The number of changes is limited too, because joining checks
 * each.
 */
export const recentBounds: RecentBounds = { bytesMax: 2_097_152, changesMax: 4_096 };

/**
 * The latest changes, shared by all joining watchers: a watcher that was disconnected briefly, or has almost caught up
 * with the log, gets the rest from here in the turn in which it joins. This bounds the catch-up on a busy log.
 */
export class RecentChanges {
  /** In order of position; contains every change after `#since`. */
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

  /** Drops the changes. From now on `after` works only for `position` and later ones. */
  clear(position: LogPosition): void {
    this.#changes.length = 0;
    this.#bytes = 0;
    this.#since = position;
  }

  /** All changes after `position`; undefined if some are no longer kept. */
  after(position: LogPosition): readonly Change[] | undefined {
    if (position < this.#since) return undefined;
    let first = this.#changes.length;
    while (first > 0 && (this.#changes[first - 1]?.position ?? position) > position) first -= 1;
    return this.#changes.slice(first);
  }

  /**
   * Drops the oldest changes down to half of either limit, so that a busy feed does not move the rest with every batch.
   */
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
