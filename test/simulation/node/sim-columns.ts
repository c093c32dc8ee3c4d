import type { AuditEnvironment, AuditPart, TableOptions } from '../../../projections/audit/audit-part.ts';
import type { ColumnBounds } from '../../../projections/audit/columns/column-bounds.ts';
import { ColumnPart } from '../../../projections/audit/columns/column-part.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { RecordedEvent } from '../../../src/log/log.ts';

/** Bounds so small that the short histories of runs have several segments and snapshots. */
const bounds: ColumnBounds = {
  segmentRows: 7,
  segmentBytes: 4_096,
  changesMin: 5,
  laterRows: 6,
  heldBytes: 20_000,
};

/** The columns of a node. Each life of the node opens the same tables again, without the rows in memory. */
export class SimColumns implements AuditPart {
  readonly name = 'columns';
  readonly format: number;
  readonly #identity: () => { readonly epoch: number };
  #environment: AuditEnvironment | undefined;
  #part: ColumnPart | undefined;

  constructor(identity: () => { readonly epoch: number }) {
    this.#identity = identity;
    this.format = new ColumnPart({ identity, clock: stoppedClock }).format;
  }

  /** Begins a life with the stored columns. */
  begin(clock: Clock): ColumnPart {
    const part = new ColumnPart({ identity: this.#identity, clock, bounds });
    part.open(must(this.#environment, 'the tables are open'));
    this.#part = part;
    return part;
  }

  open(environment: AuditEnvironment): void {
    this.#environment = reopenable(environment);
    // The tables exist from the beginning, so that clearing all tables clears these tables too.
    this.begin(stoppedClock);
    this.#part = undefined;
  }

  add(event: RecordedEvent, within: number): number {
    return this.#part?.add(event, within) ?? 0;
  }

  write(): void {
    this.#part?.write();
  }

  committed(): void {
    this.#part?.committed();
  }

  rolledBack(): void {
    this.#part?.rolledBack();
  }

  cleared(): void {
    this.#part?.cleared();
  }

  /** Ends the last life of a run: clearing the tables then does not wake the worker of this life. */
  end(): void {
    this.#part = undefined;
  }
}

const stoppedClock: Clock = { now: () => 0, monotonic: () => 0, after: () => ({ cancel: () => undefined }) };

/** Opens each table once. Later calls return the same table. */
function reopenable(environment: AuditEnvironment): AuditEnvironment {
  const opened = new Map<string, unknown>();
  const once = <Opened>(name: string, open: () => Opened): Opened => {
    const known = opened.get(name) ?? open();
    opened.set(name, known);
    return known as Opened;
  };
  return {
    openTable: <Value>(name: string, options: TableOptions) =>
      once(name, () => environment.openTable<Value>(name, options)),
    openNumberedTable: <Value>(name: string, options: TableOptions) =>
      once(name, () => environment.openNumberedTable<Value>(name, options)),
    openBinaryTable: <Value>(name: string, options: TableOptions) =>
      once(name, () => environment.openBinaryTable<Value>(name, options)),
  };
}
