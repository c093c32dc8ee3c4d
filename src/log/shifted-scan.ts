import type { EventLog, LogPosition } from './log.ts';

type Shift = {
  /** Returns the position in the underlying log. @throws UnknownPositionError */
  readonly raw: (position: LogPosition) => LogPosition;
  /** Returns the offset that is added to each position of the underlying log. */
  readonly shift: () => bigint;
};

/** Returns a scan that shifts positions; undefined if the underlying log has no scan. */
export function shiftedScan(log: EventLog, positions: Shift): EventLog['scan'] {
  if (log.scan === undefined) return undefined;
  return async ({ after, until, ...options }) => {
    const [from, last] = [positions.raw(after), positions.raw(until)];
    await log.scan?.({ ...options, after: from, until: last, shift: positions.shift() });
  };
}
