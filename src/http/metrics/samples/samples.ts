import type { Clock, Timer } from '../../../base/clock.ts';
import { sampleMs, samplesMax } from '../../../limits/requests.ts';
import type { RequestCounts } from './request-counts.ts';

/** Values that other modules measure. The values are read at each sample. */
export type SampleSources = {
  /** The position of the last folded event, and the number of folded events. */
  readonly position: () => bigint;
  readonly folded: () => number;
  /** The position of the last event of the log. */
  readonly head: () => Promise<bigint>;
  readonly requests: RequestCounts;
  readonly watchers: () => number;
  /** The number of names that wait for a step of a reconciler. */
  readonly reconcilerQueue: () => number;
  /** The memory of the process, in bytes. */
  readonly memory: () => { readonly rss: number; readonly heapUsed: number };
  /** The 99th percentile of the event loop's delay since the last call, in milliseconds. */
  readonly eventLoopDelayMs: () => number;
};

const columnNames = [
  'eventsPerSecond',
  'requests2xxPerSecond',
  'requests3xxPerSecond',
  'requests4xxPerSecond',
  'requests5xxPerSecond',
  'latencyP50Ms',
  'latencyP99Ms',
  'watchers',
  'reconcilerQueue',
  'rssBytes',
  'heapUsedBytes',
  'eventLoopDelayP99Ms',
] as const;
type Row = Readonly<Record<(typeof columnNames)[number], number>>;

/** The samples as columns of equal length, the oldest first; null for a value that is not known. */
export type SampleColumns = {
  readonly intervalMs: number;
  /** The time of each sample, in milliseconds since the epoch. */
  readonly time: readonly number[];
  /** The position of the last folded event, as a decimal number. */
  readonly position: readonly string[];
  /** The values of each column, by the name of the column. */
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
};

const classes = [2, 3, 4, 5] as const;

/** The counts at the last sample. Rates are differences of counts. */
type Counts = { readonly atMs: number; readonly folded: number; readonly byClass: readonly number[] };

/**
 * Samples of this node's metrics: one every ten seconds, for the last hour, in a ring of fixed size. A restart drops
 * the samples. Prometheus can store metrics for longer.
 */
export class Samples {
  readonly #clock: Clock;
  readonly #sources: SampleSources;
  readonly #times = new Float64Array(samplesMax);
  readonly #positions: bigint[] = Array.from({ length: samplesMax }, () => 0n);
  readonly #columns = columnNames.map((name) => ({ name, values: new Float64Array(samplesMax) }));
  readonly #lag = new Float64Array(samplesMax);
  /** The number of samples since the start; the place of a sample in the ring is its number modulo `samplesMax`. */
  #taken = 0;
  #last: Counts | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, sources: SampleSources) {
    this.#clock = clock;
    this.#sources = sources;
  }

  /** Begins the first interval. The first sample is taken at its end. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#last = this.#counts();
    this.#sources.requests.takeLatencies([]);
    this.#wait();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  columns(): SampleColumns {
    const first = Math.max(0, this.#taken - samplesMax);
    const places = Array.from({ length: this.#taken - first }, (_, place) => (first + place) % samplesMax);
    const valuesOf = (column: Float64Array): readonly (number | null)[] =>
      places.map((place) => {
        const value = column[place] ?? NaN;
        return Number.isNaN(value) ? null : Math.round(value * 1_000) / 1_000;
      });
    const columns = this.#columns.map(({ name, values }) => [name, valuesOf(values)] as const);
    return {
      intervalMs: sampleMs,
      time: places.map((place) => this.#times[place] ?? 0),
      position: places.map((place) => String(this.#positions[place])),
      values: { lag: valuesOf(this.#lag), ...Object.fromEntries(columns) },
    };
  }

  #wait(): void {
    this.#timer = this.#clock.after(sampleMs, () => {
      this.#take();
      this.#wait();
    });
  }

  #take(): void {
    const { position, head } = this.#sources;
    const number = this.#taken;
    const place = number % samplesMax;
    const row = this.#read();
    const at = position();
    this.#times[place] = this.#clock.now();
    this.#positions[place] = at;
    for (const { name, values } of this.#columns) values[place] = row[name];
    this.#lag[place] = NaN;
    this.#taken += 1;
    // The log may respond late or never. By then, a later sample may have overwritten the entry.
    head().then(
      (end) => {
        if (this.#taken - number <= samplesMax) this.#lag[place] = Number(end > at ? end - at : 0n);
      },
      () => undefined,
    );
  }

  #read(): Row {
    const { requests, watchers, reconcilerQueue, memory, eventLoopDelayMs } = this.#sources;
    const counts = this.#counts();
    const last = this.#last ?? counts;
    this.#last = counts;
    const seconds = Math.max(1, counts.atMs - last.atMs) / 1_000;
    const [ok = NaN, redirected = NaN, refused = NaN, failed = NaN] = counts.byClass.map(
      (count, place) => (count - (last.byClass[place] ?? 0)) / seconds,
    );
    const [latencyP50Ms = NaN, latencyP99Ms = NaN] = requests.takeLatencies([0.5, 0.99]);
    const { rss, heapUsed } = memory();
    return {
      eventsPerSecond: (counts.folded - last.folded) / seconds,
      requests2xxPerSecond: ok,
      requests3xxPerSecond: redirected,
      requests4xxPerSecond: refused,
      requests5xxPerSecond: failed,
      latencyP50Ms,
      latencyP99Ms,
      watchers: watchers(),
      reconcilerQueue: reconcilerQueue(),
      rssBytes: rss,
      heapUsedBytes: heapUsed,
      eventLoopDelayP99Ms: eventLoopDelayMs(),
    };
  }

  #counts(): Counts {
    const { folded, requests } = this.#sources;
    return {
      atMs: this.#clock.monotonic(),
      folded: folded(),
      byClass: classes.map((digit) => requests.ofClass(digit)),
    };
  }
}
