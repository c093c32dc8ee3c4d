import type { Slices } from '../../src/base/slices.ts';
import { inSlices, type Steps } from '../../src/base/steps.ts';
import { logStart, streamRevision, type EventLog, type LogPosition, type RecordedEvent } from '../../src/log/log.ts';
import { NotServedError } from '../../src/read/objects.ts';
import type { Difference, NotCompared } from '../../src/read/replay.ts';
import type { ComparedColumns, ComparedTypes } from '../audit/columns/compared-columns.ts';
import { isEqual, valuesOfEvent } from '../audit/columns/changed-values.ts';
import type { ChangedValues } from '../audit/columns/type-columns.ts';
import { Segment } from '../audit/columns/segment/segment.ts';
import { differenceOfBytes, differenceOfPresence } from './differing-bytes.ts';
import { StoredRows } from './stored-rows.ts';

type CheckPorts = {
  readonly log: Pick<EventLog, 'readAll' | 'readStream'>;
  readonly slices: Pick<Slices, 'isOver' | 'next'>;
  /** Converts a position of the log to a position within the epoch. */
  readonly within: (position: LogPosition) => number;
  /** Converts a position within the epoch to a position of the log. */
  readonly inLog: (within: number) => LogPosition;
  /** Called with the percentage of the log that has been compared. */
  readonly onProgress: (percent: number) => void;
};

export type CheckedColumns = {
  readonly difference: Difference | undefined;
  /** The number of compared rows. */
  readonly rows: number;
  readonly notCompared: readonly NotCompared[];
};

/**
 * Compares the columns with the log. The values of each event are computed again by the functions that the fold uses.
 * The stored segments must equal the encoded values.
 */
export async function checkColumns({ columns, others }: ComparedTypes, ports: CheckPorts): Promise<CheckedColumns> {
  const notCompared = others.map(({ type, reason }) => ({ table: `columns of ${type}`, reason }));
  const checks = columns.map((each) => new ColumnCheck(each, ports));
  const checked = (difference: Difference | undefined): CheckedColumns => {
    const rows = checks.reduce((sum, check) => sum + check.rows, 0);
    return {
      difference,
      rows,
      notCompared: [...notCompared, ...checks.flatMap((check) => check.notCompared())],
    };
  };
  const byStream = new Map(checks.map((check) => [`object:${check.type}`, check]));
  const until = ports.inLog(Math.max(0, ...columns.map(({ through }) => through)));
  const turn = async (): Promise<void> => {
    if (ports.slices.isOver()) await ports.slices.next();
  };
  const length = ports.within(until);
  const onProgress = (batch: readonly RecordedEvent[]): void => {
    const last = batch.at(-1);
    if (last !== undefined) ports.onProgress(Math.floor((ports.within(last.position) * 100) / length));
  };
  const events = until === logStart ? [] : ports.log.readAll({ after: logStart, until, categories: ['object'], turn });
  for await (const batch of events) {
    onProgress(batch);
    for (const event of batch) {
      const check = byStream.get(event.stream.slice(0, Math.max(0, event.stream.indexOf('/'))));
      const difference = await check?.take(event);
      if (difference !== undefined) return checked(difference);
      await turn();
    }
  }
  for (const check of checks) {
    const difference = await check.end();
    if (difference !== undefined) return checked(difference);
  }
  return checked(undefined);
}

class ColumnCheck {
  readonly #columns: ComparedColumns;
  readonly #ports: CheckPorts;
  readonly #stored: StoredRows;
  #snapshotRows = 0;
  /** The number of objects after the compared events. */
  #objects = 0;
  #isDropped = false;

  constructor(columns: ComparedColumns, ports: CheckPorts) {
    this.#columns = columns;
    this.#ports = ports;
    this.#stored = new StoredRows(columns, ports.inLog);
  }

  get type(): string {
    return this.#columns.type.key;
  }

  get rows(): number {
    return this.#stored.rows + this.#snapshotRows;
  }

  notCompared(): readonly NotCompared[] {
    const table = `columns of ${this.type}`;
    return this.#isDropped ? [{ table, reason: 'they were replaced during the comparison' }] : [];
  }

  async take(event: RecordedEvent): Promise<Difference | undefined> {
    const position = this.#ports.within(event.position);
    if (position > this.#columns.through) return undefined;
    return this.#unlessDropped(async () => this.#compare(event, position));
  }

  /** Returns the first difference in the rest of the columns. Call `end` after the last event. */
  async end(): Promise<Difference | undefined> {
    return this.#unlessDropped(async () => inSlices(this.#endSteps(), this.#ports.slices));
  }

  async #unlessDropped(compare: () => Promise<Difference | undefined>): Promise<Difference | undefined> {
    if (this.#isDropped) return undefined;
    try {
      return await compare();
    } catch (error) {
      if (!(error instanceof NotServedError)) throw error;
      if (this.#columns.isCurrent()) return { table: this.#table(), key: '', detail: 'a segment is missing' };
      this.#isDropped = true;
      return undefined;
    }
  }

  async #compare(event: RecordedEvent, position: number): Promise<Difference | undefined> {
    const stored = this.#stored;
    const early = stored.before(position);
    if (early !== undefined) return early;
    const values = valuesOfEvent(event, this.#columns.type, position);
    this.#objects += values?.objects ?? 0;
    if (stored.isNext(position)) {
      if (values === undefined) return stored.before(Infinity);
      stored.expect(values);
      return stored.isComplete() ? inSlices(stored.compare(), this.#ports.slices) : undefined;
    }
    if (values === undefined || (await this.#isUnchanged(event, values))) return undefined;
    return {
      table: this.#table(),
      key: values.name,
      detail: `the columns lack the change at ${this.#at(position)}`,
    };
  }

  /** Whether the event's object has the same values after the event as after the object's previous event. */
  async #isUnchanged(event: RecordedEvent, { entry, position }: ChangedValues): Promise<boolean> {
    if (entry === undefined || event.revision === 0) return false;
    const from = streamRevision(event.revision - 1);
    const [previous] = await this.#ports.log.readStream(event.stream, { from, limit: 1 });
    const before = previous === undefined ? undefined : valuesOfEvent(previous, this.#columns.type, position);
    return before?.entry !== undefined && isEqual(before.entry, entry);
  }

  *#endSteps(): Steps<Difference | undefined> {
    const more = this.#stored.before(Infinity);
    if (more !== undefined) return more;
    return (
      (yield* this.#stored.compare()) ??
      this.#countProblem() ??
      (yield* this.#namesProblem()) ??
      (yield* this.#snapshotProblem())
    );
  }

  #countProblem(): Difference | undefined {
    const { objects, changed, sealedThrough } = this.#columns;
    const { sealed } = this.#stored;
    const counts = [
      ['the number of objects', objects, this.#objects],
      ['the number of changes since the last snapshot', changed, sealed.changed],
      ['the position of the last full segment', sealedThrough, sealed.through],
    ] as const;
    const found = counts.find(([, stored, expected]) => stored !== expected);
    if (found === undefined) return undefined;
    const [key, stored, expected] = found;
    return {
      table: this.#table(),
      key,
      detail: `the columns have ${String(stored)}, but the log gives ${String(expected)}`,
    };
  }

  /**
   * Returns a difference if two names have the same ordinal, or if an ordinal cannot be read. Ordinals >= `ordinals`
   * were assigned after the comparison began, and are not compared.
   */
  *#namesProblem(): Steps<Difference | undefined> {
    const { ordinals, names } = this.#columns;
    const taken = new Uint8Array(ordinals);
    const table = `names in the ${this.#table()}`;
    for (let after: string | undefined, isOver = false; !isOver; yield) {
      const some = names(after, namesPerStep);
      for (const { name, ordinal } of some) {
        if (ordinal === undefined) return { table, key: name, detail: 'the ordinal of the name cannot be read' };
        if (ordinal < ordinals && taken[ordinal] === 1)
          return { table, key: name, detail: `another name has the same ordinal ${String(ordinal)}` };
        if (ordinal < ordinals) taken[ordinal] = 1;
      }
      after = some.at(-1)?.name;
      isOver = some.length < namesPerStep;
    }
    return undefined;
  }

  *#snapshotProblem(): Steps<Difference | undefined> {
    for (const { position, stored, expected } of this.#columns.snapshots) {
      const at = { table: this.#table(), key: `the snapshot at ${this.#at(position)}` };
      let number = 0;
      for (const bytes of expected()) {
        yield;
        if (bytes === undefined) continue;
        const live = number < stored.count ? Buffer.from(stored.read(number)) : undefined;
        const detail =
          live === undefined ? differenceOfPresence({ live, replayed: bytes }) : differenceOfBytes(live, bytes);
        if (detail !== undefined) return { ...at, detail: `segment ${String(number)}: ${detail}` };
        this.#snapshotRows += new Segment(bytes, this.#columns.layout).rows;
        number += 1;
      }
      if (number < stored.count)
        return {
          ...at,
          detail: `the snapshot has ${String(stored.count)} segments, but the log gives ${String(number)}`,
        };
    }
    return undefined;
  }

  #table(): string {
    return `columns of ${this.type}`;
  }

  #at(position: number): string {
    return `position ${this.#ports.inLog(position).toString()}`;
  }
}

const namesPerStep = 256;
