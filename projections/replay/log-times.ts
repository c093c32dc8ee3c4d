import { clockDifferenceMsMax } from '../../src/limits/log.ts';
import { stampOf } from '../../src/log/event-codec.ts';
import { logStart, type EventLog, type LogPosition } from '../../src/log/log.ts';
import { foldedCategories } from '../fold-event.ts';

export type TimedLog = {
  /** The last position up to which no event that counts is later than the time; `logStart` before the first one. */
  readonly position: LogPosition;
  /** The position of the log's first event; undefined for an empty log. */
  readonly first: LogPosition | undefined;
};

type Later = { readonly timeMs: number; readonly before: LogPosition };

/**
 * Where the log stood at a time. A time that is more than a minute ahead of a later event's was stamped by a wrong
 * clock and does not count (consistency protocol, 8), so all later events are read.
 */
export async function positionAt(
  log: Pick<EventLog, 'readAll'>,
  timeMs: number,
  { until, onBatch }: { readonly until: LogPosition; readonly onBatch: () => void },
): Promise<TimedLog> {
  // Events after the time that may count, the first one first. Of those, each later one has an earlier time: one with
  // a later time counts only where an earlier event does.
  const later: Later[] = [];
  let [first, last]: [LogPosition | undefined, LogPosition] = [undefined, logStart];
  const turn = (): Promise<void> => Promise.resolve();
  for await (const batch of log.readAll({ after: logStart, until, categories: foldedCategories, turn })) {
    for (const recorded of batch) {
      first ??= recorded.position;
      const stamped = Date.parse(stampOf(recorded));
      while ((later[0]?.timeMs ?? 0) > stamped + clockDifferenceMsMax) later.shift();
      if (stamped > timeMs && stamped < (later.at(-1)?.timeMs ?? Infinity))
        later.push({ timeMs: stamped, before: last });
      last = recorded.position;
    }
    onBatch();
  }
  return { position: later[0]?.before ?? last, first };
}
