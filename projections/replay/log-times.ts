import { clockDifferenceMsMax } from '../../src/limits/log.ts';
import { stampOf } from '../../src/log/event-codec.ts';
import { logStart, type EventLog, type LogPosition } from '../../src/log/log.ts';
import { foldedCategories } from '../fold-event.ts';

type Later = { readonly timeMs: number; readonly before: LogPosition };

/**
 * The last position of the log at a time: up to it, no counted event is later than the time; `logStart` if there is
 * none. An event's time does not count if it is more than a minute ahead of a later event's: a wrong clock stamped it
 * (consistency protocol, 8). So all later events are read.
 */
export async function positionAt(
  log: Pick<EventLog, 'readAll'>,
  timeMs: number,
  { until, onBatch }: { readonly until: LogPosition; readonly onBatch: () => void },
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
 * The events after the time that may count, in log order. Their times decrease: a later event with a later time counts
 * only if an earlier event of the list counts, so it is left out.
 */
class LaterEvents {
  readonly #timeMs: number;
  readonly #events: Later[] = [];

  constructor(timeMs: number) {
    this.#timeMs = timeMs;
  }

  take(stampedMs: number, before: LogPosition): void {
    while ((this.#events[0]?.timeMs ?? 0) > stampedMs + clockDifferenceMsMax) this.#events.shift();
    if (stampedMs > this.#timeMs && stampedMs < (this.#events.at(-1)?.timeMs ?? Infinity))
      this.#events.push({ timeMs: stampedMs, before });
  }

  /** The position before the first counted event after the time. */
  before(): LogPosition | undefined {
    return this.#events[0]?.before;
  }
}
