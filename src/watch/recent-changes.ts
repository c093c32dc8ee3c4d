import type { LogPosition } from '../log/log.ts';
import type { Change } from '../read/objects.ts';

export type RecentBounds = {
  readonly bytesMax: number;
  readonly changesMax: number;
};

/**
 * The default limits. The limit of bytes is half of one watcher's limit of unread bytes, because a joining watcher may
 * get all recent changes in one write. The number of changes is limited, because joining checks each change.
 */
export const recentBounds: RecentBounds = { bytesMax: 2_097_152, changesMax: 4_096 };

/**
 * The latest changes, shared by all joining watchers. A watcher that lacks only these changes receives the changes in
 * the turn of its join. A watcher can thus also catch up with a log that grows fast.
 */
export class RecentChanges {
  /** The changes after `#since`, in order of position. */
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

  /** Drops all changes. `after` then returns changes only for `position` and later positions. */
  clear(position: LogPosition): void {
    this.#changes.length = 0;
    this.#bytes = 0;
    this.#since = position;
  }

  /** Returns all changes after `position`; undefined if some of these changes were dropped. */
  after(position: LogPosition): readonly Change[] | undefined {
    if (position < this.#since) return undefined;
    let first = this.#changes.length;
    while (first > 0 && (this.#changes[first - 1]?.position ?? position) > position) first -= 1;
    return this.#changes.slice(first);
  }

  /** Drops the oldest changes until half of each limit is free, so that most batches do not shift the array. */
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
