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
 * Returns the last position of the log at a time: no counted event up to this position is later than the time. Returns
 * `logStart` if the first counted event is later.
 *
 * An event that is more than a minute ahead of a later event comes from a wrong clock and is not counted (consistency
 * protocol, 8). So all events up to `until` are read.
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
 * Finds the first counted event that is later than a given time. An event that is more than `clockDifferenceMsMax`
 * ahead of a following event comes from a wrong clock and is not counted. `audit/time-part.ts` has the same rule.
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

  /** The position before the event that the fold has found; undefined if no counted event is later than the time. */
  before(): LogPosition | undefined {
    return this.#first?.before;
  }
}
