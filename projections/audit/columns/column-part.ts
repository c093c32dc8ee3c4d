import { delay, type Clock } from '../../../src/base/clock.ts';
import type { Steps } from '../../../src/base/steps.ts';
import {
  epochShift,
  logPosition,
  type EventLog,
  type LogIdentity,
  type LogPosition,
  type RecordedEvent,
} from '../../../src/log/log.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { ChangeFeed } from '../../../src/read/objects.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { ListQuery } from '../../../src/resource/query/list-query.ts';
import type { QueryResult } from '../../index/index-choice.ts';
import type { AuditEnvironment, AuditPart } from '../audit-part.ts';
import { BackgroundPace } from './background-pace.ts';
import { queryColumns } from './query/column-query.ts';
import { NumberPages } from './query/numbers.ts';
import { columnBounds, type ColumnBounds } from './column-bounds.ts';
import { ColumnTables } from './column-tables.ts';
import type { ComparedTypes } from './compared-columns.ts';
import { ColumnWorker } from './column-worker.ts';
import { KeptTypes } from './kept-types.ts';

type ColumnSources = {
  /** The object read model, which computes the index entries of each change. */
  readonly feed: ChangeFeed & { position(): LogPosition };
  readonly log: Pick<EventLog, 'readAll' | 'scan'>;
  /** The position of the audit models at the start. */
  readonly folded: LogPosition;
  readonly onError: (error: unknown) => void;
};

type ColumnDependencies = {
  readonly identity: () => Pick<LogIdentity, 'epoch'>;
  readonly clock: Clock;
  readonly bounds?: ColumnBounds;
};

/**
 * The columns: the indexed values of objects at every position, for lists at past positions. A type gets columns with
 * the first request for a list at a past position.
 *
 * The object read model computes the values of new events. The worker writes the values in the background, and reads
 * missing values from the log.
 */
export class ColumnPart implements AuditPart {
  readonly name = 'columns';
  readonly format = 1;
  readonly #identity: ColumnDependencies['identity'];
  readonly #clock: Clock;
  readonly #pace: BackgroundPace;
  readonly #bounds: ColumnBounds;
  #opened: { readonly tables: ColumnTables; readonly types: KeptTypes } | undefined;
  #following: { readonly worker: ColumnWorker; readonly feed: ColumnSources['feed']; leave(): void } | undefined;
  /** The position, within the epoch, of the last event in the open batch. */
  #written = 0;
  /** The position, within the epoch, of the last event that the audit models committed. */
  #folded = 0;
  readonly #waiting = new Set<() => void>();
  readonly #pages = new NumberPages();

  constructor({ identity, clock, bounds = columnBounds }: ColumnDependencies) {
    this.#bounds = bounds;
    this.#identity = identity;
    this.#clock = clock;
    this.#pace = new BackgroundPace(clock);
  }

  open(environment: AuditEnvironment): void {
    const tables = new ColumnTables(environment);
    this.#opened = { tables, types: new KeptTypes(tables, this.#bounds) };
  }

  add(_recorded: RecordedEvent, within: number): number {
    this.#written = within;
    return 0;
  }

  write(): void {
    // The worker writes the values in transactions of its own, after this commit.
  }

  committed(): void {
    this.#folded = this.#written;
    this.#following?.worker.folded();
  }

  rolledBack(): void {
    this.#written = this.#folded;
  }

  cleared(): void {
    [this.#written, this.#folded] = [0, 0];
    this.#pace.end();
    this.#types.reopen();
    this.#following?.worker.wake();
  }

  register(type: ResourceType): void {
    this.#types.register(type);
    this.#following?.worker.wake();
  }

  remove(key: TypeKey): void {
    const feed = this.#following?.feed;
    this.#types.remove(key, feed === undefined ? 0 : this.#within(feed.position()));
    this.#following?.worker.wake();
  }

  /** Begins to follow the object read model and to write columns in the background. Further calls have no effect. */
  start({ feed, log, folded, onError }: ColumnSources): void {
    if (this.#following !== undefined) return;
    this.#folded = this.#within(folded);
    const worker = new ColumnWorker({
      ...must(this.#opened, 'the part is open'),
      log,
      onError,
      clock: this.#clock,
      pace: this.#pace,
      position: () => feed.position(),
      within: (position) => this.#within(position),
      inLog: (within) => logPosition(within === 0 ? 0n : BigInt(within) + epochShift(this.#identity().epoch)),
      durable: () => this.#folded,
      onLive: () => {
        for (const look of [...this.#waiting]) look();
      },
    });
    const leave = feed.subscribe(({ changes }) => {
      for (const change of changes) if (this.#types.take(change, this.#within(change.position))) worker.wake();
    });
    this.#following = { worker, feed, leave };
    worker.start();
  }

  /**
   * Stops following the object read model. Writes the rows in memory up to the last event that the audit models have
   * folded.
   */
  async close(): Promise<void> {
    this.#following?.leave();
    await this.#following?.worker.stop();
  }

  /**
   * Returns the steps that compute a list at a folded position, from the state of the columns in this turn. Returns
   * undefined while the columns of the type are incomplete.
   *
   * The steps throw NotServedError if the columns are dropped before the last step.
   */
  query(type: ResourceType, position: LogPosition, query: ListQuery): Steps<QueryResult> | undefined {
    const within = this.#within(position);
    const held = this.#types.live(type)?.held(within);
    const pages = this.#pages;
    if (held === undefined) return undefined;
    return (function* () {
      return yield* queryColumns(yield* held, within, query, pages);
    })();
  }

  /** The state of all columns in this turn, for a comparison with the log. Empty before `start`. */
  hold(): ComparedTypes {
    const feed = this.#following?.feed;
    return feed === undefined ? { columns: [], others: [] } : this.#types.hold(this.#within(feed.position()));
  }

  /**
   * Resolves when the columns of a type are complete, after `timeoutMs`, or when `signal` aborts. The first call for a
   * type makes the worker read the values from the log.
   */
  async ready(type: ResourceType, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#types.live(type) !== undefined) return;
    if (this.#types.request(type.key)) this.#following?.worker.wake();
    const settled = new AbortController();
    const settle = (): void => {
      settled.abort();
    };
    const look = (): void => {
      if (this.#types.live(type) !== undefined) settle();
    };
    signal.addEventListener('abort', settle);
    this.#waiting.add(look);
    if (!signal.aborted) await delay(this.#clock, timeoutMs, settled.signal);
    this.#waiting.delete(look);
    signal.removeEventListener('abort', settle);
  }

  get #types(): KeptTypes {
    return must(this.#opened, 'the part is open').types;
  }

  #within(position: LogPosition): number {
    if (position === 0n) return 0;
    const within = Number(position - epochShift(this.#identity().epoch));
    if (!Number.isSafeInteger(within)) throw new RangeError(`columns cannot store position ${position.toString()}`);
    return within;
  }
}
