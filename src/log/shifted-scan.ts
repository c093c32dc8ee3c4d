import type { EventLog, LogPosition } from './log.ts';

type Shift = {
  /** The position in the underlying log. @throws UnknownPositionError */
  readonly raw: (position: LogPosition) => LogPosition;
  /** The offset that is added to each position of the underlying log. */
  readonly shift: () => bigint;
};

/** The scan of a log with positions that are shifted; undefined if the log has none. */
export function shiftedScan(log: EventLog, positions: Shift): EventLog['scan'] {
  if (log.scan === undefined) return undefined;
  return async ({ after, until, ...options }) => {
    const [from, last] = [positions.raw(after), positions.raw(until)];
    await log.scan?.({ ...options, after: from, until: last, shift: positions.shift() });
  };
}
