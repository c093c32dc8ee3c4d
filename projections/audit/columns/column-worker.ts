import { delay, type Clock, type Timer } from '../../../src/base/clock.ts';
import { inSlices } from '../../../src/base/steps.ts';
import { columnFlushMs } from '../../../src/limits/columns.ts';
import type { EventLog, LogPosition } from '../../../src/log/log.ts';
import { AddedEvents } from './added-events.ts';
import { StaleWorkError, type BackgroundPace } from './background-pace.ts';
import type { ColumnTables } from './column-tables.ts';
import type { KeptType, KeptTypes } from './kept-types.ts';

type ColumnWork = {
  readonly tables: ColumnTables;
  readonly types: KeptTypes;
  readonly log: Pick<EventLog, 'readAll' | 'scan'>;
  readonly clock: Clock;
  readonly pace: BackgroundPace;
  /** The position of the object read model. */
  readonly position: () => LogPosition;
  /** Converts a position of the log to a position within the epoch. */
  readonly within: (position: LogPosition) => number;
  /** Converts a position within the epoch to a position of the log. */
  readonly inLog: (within: number) => LogPosition;
  /** The position within the epoch up to which the audit models are folded. Later rows are not written. */
  readonly durable: () => number;
  /** Called when the columns of a type may have become complete. */
  readonly onLive: () => void;
  readonly onError: (error: unknown) => void;
};

/** The delay in milliseconds after an error, for example if the disk is full or the log is unavailable. */
const retryMs = 1_000;
/** The maximum number of segments, and of snapshots, that one transaction removes. */
const droppedPerStep = 16;

/** The minimum number of events that a scan of the log visits in one turn. */
const scannedEvents = 32;

type PositionRange = {
  readonly after: LogPosition;
  readonly until: LogPosition;
};

/** Writes columns, and reads missing values from the log. Performs one task after the other, in the background. */
export class ColumnWorker {
  readonly #work: ColumnWork;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #isWoken = false;
  #flushing: Timer | undefined;
  #isFlushDue = false;
  /** Whether a full segment waits until the audit models have folded its events. */
  #isHeldUp = false;

  constructor(work: ColumnWork) {
    this.#work = work;
  }

  start(): void {
    this.#scheduleFlush();
    this.#running = this.#run();
  }

  /** Makes the worker check for work. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Resumes work that waits for the audit models. Called after each commit of the audit models. */
  folded(): void {
    if (this.#isHeldUp) this.wake();
  }

  /** Ends the worker. Writes the rows in memory up to the last event that the audit models have folded. */
  async stop(): Promise<void> {
    const { pace, onError } = this.#work;
    this.#stopping.abort();
    this.#flushing?.cancel();
    pace.end();
    this.wake();
    await this.#running;
    // Rows that are not written here are read from the log after the next start.
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

  /**
   * Performs one task. Returns whether there may be more tasks. Reports an error and waits, unless the worker is
   * stopping or the error is a StaleWorkError.
   */
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

  /** Performs one task. Returns false if there is no task. */
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

  /** Reads the missing values of types from the log, and then adds the changes that were folded during the read. */
  async #readMissing(types: readonly KeptType[]): Promise<void> {
    const { position, within, inLog, onLive } = this.#work;
    const until = position();
    for (const kept of types) kept.later = [];
    const after = inLog(Math.min(...types.map(({ columns }) => columns.through)));
    if (after < until) await this.#read({ after, until }, types);
    for (const kept of types) {
      const { columns, later } = kept;
      columns.cover(within(until));
      // `later` is undefined after too many changes during the read. The worker then reads the log again for the type.
      // A type that was removed during the read is skipped.
      if (later === undefined || this.#work.types.get(columns.type.key) !== kept) continue;
      for (const values of later) if (values.position > columns.through) columns.add(values);
      [kept.isLive, kept.later] = [true, undefined];
    }
    onLive();
  }

  async #read({ after, until }: PositionRange, types: readonly KeptType[]): Promise<void> {
    const { log, pace } = this.#work;
    const { signal } = this.#stopping;
    const adding = new AddedEvents(types, this.#work.within);
    const range = { after, until, categories: ['object'] };
    // A scan copies no event. The copies of a million events would make the garbage collector visit the heap often.
    if (log.scan !== undefined) {
      const onBatch = async (): Promise<void> => {
        signal.throwIfAborted();
        await this.#writeFull(types);
      };
      await log.scan({
        ...range,
        batchEvents: scannedEvents,
        visit: (event) => {
          adding.add(event);
        },
        onBatch,
      });
      return;
    }
    for await (const batch of log.readAll({ ...range, signal, turn: async () => pace.next() }))
      for (const event of batch) {
        adding.add(event);
        await this.#writeFull(types);
      }
  }

  /** Writes the full segments, and the snapshots that are due. */
  async #writeFull(types: readonly KeptType[]): Promise<void> {
    const { pace, durable } = this.#work;
    for (const { columns } of types) {
      while (columns.isFull() && !(await inSlices(columns.seal(durable()), pace))) await this.#untilFolded();
      // Snapshots that are written during the read make later lists at past positions fast.
      if (columns.needsSnapshot()) await inSlices(columns.snapshot(), pace);
    }
    if (pace.isOver()) await pace.next();
  }

  /** Waits for the next commit of the audit models, or for another reason to check for work. */
  async #untilFolded(): Promise<void> {
    [this.#isWoken, this.#isHeldUp] = [false, true];
    await this.#woken();
    await this.#work.pace.next();
  }
}
