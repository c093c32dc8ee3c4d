import { logStart, type EventLog, type LogPosition } from './log.ts';

type Shift = {
  /**
   * Returns the position in the underlying log.
   *
   * @throws UnknownPositionError for a position of another epoch.
   */
  readonly raw: (position: LogPosition) => LogPosition;
  /** Returns the offset that is added to each position of the underlying log. */
  readonly shift: () => bigint;
};

/** Returns a scan that shifts positions; undefined if the underlying log has no scan. */
export function shiftedScan(log: EventLog, positions: Shift): EventLog['scan'] {
  if (log.scan === undefined) return undefined;
  return async ({ after, until, indexedUntil = logStart, ...options }) => {
    const [from, last, indexed] = [positions.raw(after), positions.raw(until), positions.raw(indexedUntil)];
    await log.scan?.({
      ...options,
      after: from,
      until: last,
      indexedUntil: indexed,
      shift: positions.shift(),
    });
  };
}
