import { clockDifferenceMsMax } from '../../src/limits/log.ts';
import { stampOf } from '../../src/log/event-codec.ts';
import { logStart, type EventLog, type LogPosition } from '../../src/log/log.ts';
import { foldedCategories } from '../fold-event.ts';

type Later = {
  readonly timeMs: number;
  readonly before: LogPosition;
};

type TimeSearch = {
  readonly until: LogPosition;
  readonly onBatch: () => void;
};

/**
 * Returns the last position of the log at a time: up to this position, no counted event is later than the time. Returns
 * `logStart` if there is no such position. An event that is more than a minute ahead of a later event does not count,
 * since a wrong clock stamped it (consistency protocol, 8). So the function reads all events up to `until`.
 */
export async function positionAt(
  log: Pick<EventLog, 'readAll'>,
  timeMs: number,
  { until, onBatch }: TimeSearch,
): Promise<LogPosition> {
  const later = new LaterEvents(timeMs);
  let last: LogPosition = logStart;
  const turn = (): Promise<void> => Promise.resolve();
  for await (const batch of log.readAll({ after: logStart, until, categories: foldedCategories, turn })) {
    for (const recorded of batch) {
      later.take(Date.parse(stampOf(recorded)), last);
      last = recorded.position;
    }
    onBatch();
  }
  return later.before() ?? last;
}

/**
 * Finds the first counted event with a later time. An event does not count if the time of a later event is more than
 * `clockDifferenceMsMax` earlier, because the clock of its node was wrong. `audit/time-part.ts` has the same rule.
 */
class LaterEvents {
  readonly #timeMs: number;
  #first: Later | undefined;

  constructor(timeMs: number) {
    this.#timeMs = timeMs;
  }

  take(stampedMs: number, before: LogPosition): void {
    if (this.#first !== undefined && this.#first.timeMs > stampedMs + clockDifferenceMsMax) this.#first = undefined;
    if (stampedMs > this.#timeMs) this.#first ??= { timeMs: stampedMs, before };
  }

  /** The position before the first counted event after the time; undefined if there is no such event. */
  before(): LogPosition | undefined {
    return this.#first?.before;
  }
}
