import { delay, type Clock, type Timer } from '../../../src/base/clock.ts';
import { inSlices } from '../../../src/base/steps.ts';
import { columnFlushMs } from '../../../src/limits/columns.ts';
import type { EventLog, LogPosition, RecordedEvent } from '../../../src/log/log.ts';
import { valuesOfEvent } from './changed-values.ts';
import { StaleWorkError, type BackgroundPace } from './background-pace.ts';
import type { ColumnTables } from './column-tables.ts';
import type { KeptType, KeptTypes } from './kept-types.ts';

export type ColumnWork = {
  readonly tables: ColumnTables;
  readonly types: KeptTypes;
  readonly log: Pick<EventLog, 'readAll'>;
  readonly clock: Clock;
  readonly pace: BackgroundPace;
  /** The position of the object read model; of the log, and within the epoch. */
  readonly position: () => LogPosition;
  readonly within: (position: LogPosition) => number;
  readonly inLog: (within: number) => LogPosition;
  /** Up to here the audit models are folded: later rows are not written. */
  readonly durable: () => number;
  /** The columns of a type have become complete. */
  readonly onLive: () => void;
  readonly onError: (error: unknown) => void;
};

/** After an error, for example of a disk that is full or a log that does not answer. */
const retryMs = 1_000;
/** Segments removed in one transaction. */
const droppedPerStep = 16;

/** Writes columns, and reads what is missing in them from the log: one thing after the other, in the background. */
export class ColumnWorker {
  readonly #work: ColumnWork;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #isWoken = false;
  #flushing: Timer | undefined;
  #isFlushDue = false;
  /** Full segments wait for the audit models. */
  #isHeldUp = false;

  constructor(work: ColumnWork) {
    this.#work = work;
  }

  start(): void {
    this.#scheduleFlush();
    this.#running = this.#run();
  }

  /** There may be work. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** The audit models have folded more. */
  folded(): void {
    if (this.#isHeldUp) this.wake();
  }

  /** Writes what is in memory, and ends. */
  async stop(): Promise<void> {
    const { pace, onError } = this.#work;
    this.#stopping.abort();
    this.#flushing?.cancel();
    pace.end();
    this.wake();
    await this.#running;
    // What is not written is read from the log after the next start.
    await this.#flush().catch(onError);
  }

  #scheduleFlush(): void {
    this.#flushing = this.#work.clock.after(columnFlushMs, () => {
      this.#isFlushDue = true;
      this.wake();
      this.#scheduleFlush();
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#isWoken = false;
      if (!(await this.#attempt())) await this.#woken();
    }
  }

  /** Whether there may be more to do. */
  async #attempt(): Promise<boolean> {
    const { onError, clock } = this.#work;
    const { signal } = this.#stopping;
    try {
      return await this.#next();
    } catch (error) {
      if (error instanceof StaleWorkError || signal.aborted) return true;
      onError(error);
      await delay(clock, retryMs, signal);
      return true;
    }
  }

  async #woken(): Promise<void> {
    if (this.#isWoken) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Does one thing; false if there is nothing to do. */
  async #next(): Promise<boolean> {
    const { types, tables, pace } = this.#work;
    if (this.#isFlushDue) {
      this.#isFlushDue = false;
      await this.#flush();
      return true;
    }
    const retired = types.retired();
    if (retired !== undefined) {
      await inSlices(retired.flush(this.#work.durable()), pace);
      return true;
    }
    if (types.openNext()) return true;
    if (await this.#sealNext()) return true;
    const snapshot = types.all().find(({ columns }) => columns.needsSnapshot());
    if (snapshot !== undefined) {
      await inSlices(snapshot.columns.snapshot(), pace);
      return true;
    }
    const behind = types.all().filter(({ isLive }) => !isLive);
    if (behind.length > 0) {
      await this.#readMissing(behind);
      return true;
    }
    const [dropped] = tables.dropped();
    if (dropped === undefined) return false;
    tables.drop(dropped, droppedPerStep);
    await pace.next();
    return true;
  }

  async #sealNext(): Promise<boolean> {
    const { types, pace, durable } = this.#work;
    this.#isHeldUp = false;
    for (const { columns } of types.all()) {
      if (!columns.isFull()) continue;
      if (await inSlices(columns.seal(durable()), pace)) return true;
      this.#isHeldUp = true;
    }
    return false;
  }

  async #flush(): Promise<void> {
    const { types, pace, durable, position, within } = this.#work;
    for (let retired = types.retired(); retired !== undefined; retired = types.retired())
      await inSlices(retired.flush(durable()), pace);
    for (const { columns, isLive } of types.all()) {
      if (isLive) columns.cover(within(position()));
      await inSlices(columns.flush(durable()), pace);
    }
  }

  /** Reads from the log what the types lack. Their changes of meanwhile are kept, and added after it. */
  async #readMissing(types: readonly KeptType[]): Promise<void> {
    const { log, position, within, inLog, onLive, pace } = this.#work;
    const until = position();
    for (const kept of types) kept.later = [];
    const after = inLog(Math.min(...types.map(({ columns }) => columns.through)));
    const options = {
      after,
      until,
      categories: ['object'],
      signal: this.#stopping.signal,
      turn: async () => pace.next(),
    };
    if (after < until) for await (const batch of log.readAll(options)) await this.#add(batch, types);
    for (const kept of types) {
      const { columns, later } = kept;
      columns.cover(within(until));
      // Too many came meanwhile: the next reading is shorter.
      if (later === undefined || this.#work.types.get(columns.type.key) !== kept) continue;
      for (const values of later) if (values.position > columns.through) columns.add(values);
      [kept.isLive, kept.later] = [true, undefined];
    }
    onLive();
  }

  async #add(batch: readonly RecordedEvent[], types: readonly KeptType[]): Promise<void> {
    const { within, pace, durable } = this.#work;
    const byStream = new Map(types.map(({ columns }) => [`object:${columns.type.key}`, columns]));
    for (const event of batch) {
      const columns = byStream.get(event.stream.slice(0, Math.max(0, event.stream.indexOf('/'))));
      const position = within(event.position);
      if (columns === undefined || position <= columns.through) continue;
      const values = valuesOfEvent(event, columns.type, position);
      if (values !== undefined) columns.add(values);
      while (columns.isFull() && !(await inSlices(columns.seal(durable()), pace))) await this.#untilFolded();
      if (pace.isOver()) await pace.next();
    }
  }

  /** The audit models are behind: waits for their next batch. */
  async #untilFolded(): Promise<void> {
    [this.#isWoken, this.#isHeldUp] = [false, true];
    await this.#woken();
    await this.#work.pace.next();
  }
}
