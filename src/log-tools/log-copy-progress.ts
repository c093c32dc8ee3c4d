import type { Clock } from '../base/clock.ts';

const logCopyProgressMs = 1_000;
/** The time without progress after which a copy stops. */
export const logCopyStallMs = 120_000;

export type ProgressOptions = {
  readonly clock: Clock;
  /** Prints a line. The argument has no line end. */
  readonly print: (line: string) => void;
};

type Stage = {
  readonly what: string;
  readonly total: number | undefined;
  readonly startedMs: number;
  reportedMs: number;
  events: number;
};

/** Prints the progress of a copy or read: at most one line each second, and one line at the end of each stage. */
export class CopyProgress {
  readonly #options: ProgressOptions;
  #stage: Stage | undefined;
  /** Increases with each step of progress, so that a stalled copy is detected. */
  #beats = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  get beats(): number {
    return this.#beats;
  }

  /** `total` is the expected number of events; undefined if unknown. */
  begin(what: string, total?: number): void {
    const now = this.#options.clock.monotonic();
    this.#stage = { what, total, startedMs: now, reportedMs: now, events: 0 };
    this.#beats += 1;
  }

  advance(): void {
    const stage = this.#stage;
    this.#beats += 1;
    if (stage === undefined) return;
    stage.events += 1;
    // Reading the clock for each event would slow down the copy.
    if (stage.events % 64 !== 0) return;
    const now = this.#options.clock.monotonic();
    if (now - stage.reportedMs < logCopyProgressMs) return;
    stage.reportedMs = now;
    this.#options.print(lineOf(stage, now));
  }

  end(): void {
    const stage = this.#stage;
    this.#stage = undefined;
    if (stage !== undefined) this.#options.print(doneLine(stage, this.#options.clock.monotonic()));
  }
}

function lineOf({ what, total, events, startedMs }: Stage, now: number): string {
  const perSecond = events / Math.max((now - startedMs) / 1_000, 0.001);
  const rate = `${grouped(Math.round(perSecond))} events/s`;
  if (total === undefined) return `${what}: ${grouped(events)} events, ${rate}`;
  const percent = total === 0 ? 100 : Math.floor((events / total) * 100);
  return (
    `${what}: ${grouped(events)} of ${grouped(total)} events (${percent.toString()} %), ` +
    `${rate}, ${span((total - events) / perSecond)} left`
  );
}

function doneLine({ what, events, startedMs }: Stage, now: number): string {
  return `${what}: ${grouped(events)} events in ${span((now - startedMs) / 1_000)}`;
}

function grouped(count: number): string {
  return count.toString().replace(/\B(?=(?:\d{3})+$)/gu, ',');
}

function span(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'unknown time';
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole.toString()} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes.toString()} min ${(whole % 60).toString()} s`
    : `${Math.floor(minutes / 60).toString()} h ${(minutes % 60).toString()} min`;
}
