import { clockDifferenceMsMax } from '../../src/limits/log.ts';
import { stampOf } from '../../src/log/event-codec.ts';
import { logStart, type EventLog, type LogPosition } from '../../src/log/log.ts';
import { foldedCategories } from '../fold-event.ts';

type Later = { readonly timeMs: number; readonly before: LogPosition };

/**
 * Where the log stood at a time: the last position up to which no event that counts is later, or `logStart`. A time
 * that is more than a minute ahead of a later event's was stamped by a wrong clock and does not count (consistency
 * protocol, 8), so all later events are read.
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
 * Events after the time that may count, the first one first. Of those, each later one has an earlier time: one with a
 * later time counts only where an earlier event does.
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

  /** The position before the first event after the time that counts. */
  before(): LogPosition | undefined {
    return this.#events[0]?.before;
  }
}
