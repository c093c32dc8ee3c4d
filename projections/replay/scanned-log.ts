import { logPosition, type EventLog, type LogPosition } from '../../src/log/log.ts';

/** A log in local files. */
export type ScannedLog = Pick<EventLog, 'readAt'> & { scan: NonNullable<EventLog['scan']> };

/** Returns the log if it is in local files; otherwise undefined. */
export function scannedLog(log: Pick<EventLog, 'readAt' | 'scan'>): ScannedLog | undefined {
  const { scan } = log;
  if (scan === undefined) return undefined;
  return { scan: async (options) => scan.call(log, options), readAt: async (position) => log.readAt(position) };
}

type ScanRange = {
  readonly after: LogPosition;
  readonly until: LogPosition;
};

/**
 * Returns the last position after `after` and up to `until` at which an append ends; `after` if no append ends there. A
 * reader must not see a part of an append.
 */
export async function endOfAppends(log: Pick<EventLog, 'readAt'>, { after, until }: ScanRange): Promise<LogPosition> {
  let position = until;
  while (position > after && (await log.readAt(position))?.endsAppend !== true) position = logPosition(position - 1n);
  return position;
}
