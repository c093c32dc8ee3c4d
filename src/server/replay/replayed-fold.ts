import type { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../projections/object-models.ts';
import { LastEvents } from '../../../projections/replay/last-events.ts';
import { scannedLog } from '../../../projections/replay/scanned-log.ts';
import { rebuild, type RebuildOptions } from '../../../projections/replay/rebuild.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { must } from '../../base/unreachable.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import type { EventLog, LogIdentity, LogPosition } from '../../log/log.ts';

/**
 * A fold into the tables of a replay. No types are registered, because code of plugins runs only in the server's
 * thread.
 */
export type ReplayedFold = {
  position(): LogPosition;
  folded(): number;
  /** Folds the events up to `until` and writes the results to the tables. `onBatch` may throw to end the work. */
  rebuild(log: EventLog, options: RebuildOptions): Promise<void>;
};

/**
 * A clock that never advances, so that no batch ends early. No index function runs in a replay, so the size of a batch
 * limits its duration.
 */
const unhurried: Clock = { ...systemClock, monotonic: () => 0 };
/** The latest time that an event may have. A replay accepts any time. */
const endOfTime = Date.UTC(9_999, 11, 31);

/** `tables` must be empty. */
export function openReplayedFold(tables: LmdbTables, log: FoundedLog): ReplayedFold {
  const identity = (): LogIdentity => log.identity();
  // Each call of `rebuild` gets the log, because the log may have been opened again.
  if (log.scan !== undefined) {
    const fold = new LastEvents(tables, identity);
    return {
      position: () => fold.position(),
      folded: () => fold.folded(),
      rebuild: async (each, options) => fold.rebuild(must(scannedLog(each), 'the log is of the same kind'), options),
    };
  }
  const models = new ObjectModels({
    tables,
    identity,
    types: () => undefined,
    clock: unhurried,
    latestTime: () => endOfTime,
  });
  return {
    position: () => models.position(),
    folded: () => models.folded(),
    rebuild: async (each, options) => rebuild(each, models, options),
  };
}
