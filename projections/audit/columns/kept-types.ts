import type { Change } from '../../../src/read/objects.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { changedValues } from './changed-values.ts';
import type { ColumnBounds } from './column-bounds.ts';
import type { ColumnTables } from './column-tables.ts';
import type { ComparedColumns, ComparedTypes } from './compared-columns.ts';
import { TypeColumns, type ChangedValues } from './type-columns.ts';

/** The columns of a registered type. */
export type KeptType = {
  columns: TypeColumns;
  /** Whether the columns are complete and get each change when the change is folded. */
  isLive: boolean;
  /**
   * The changes since the worker began to read the log for the type. Undefined while the worker does not read, or after
   * too many changes.
   */
  later: ChangedValues[] | undefined;
};

type NotCompared = {
  readonly type: TypeKey;
  readonly reason: string;
};

/**
 * The columns of registered types. A type gets columns with the first request for a list at a past position, because
 * columns make each write slower. The columns remain after a restart.
 */
export class KeptTypes {
  readonly #tables: ColumnTables;
  readonly #bounds: ColumnBounds;
  readonly #byKey = new Map<TypeKey, KeptType>();
  /** The registered types without columns, because no list at a past position was requested yet. */
  readonly #unused = new Map<TypeKey, ResourceType>();
  /** The registered types with columns that the worker must open. */
  readonly #opening = new Map<TypeKey, ResourceType>();
  /** The columns of types that are no longer registered, until the worker writes the rows. */
  readonly #retired: TypeColumns[] = [];

  constructor(tables: ColumnTables, bounds: ColumnBounds) {
    this.#tables = tables;
    this.#bounds = bounds;
  }

  all(): readonly KeptType[] {
    return [...this.#byKey.values()];
  }

  live(type: ResourceType): TypeColumns | undefined {
    const kept = this.#byKey.get(type.key);
    return kept?.isLive === true && kept.columns.type.fingerprint === type.fingerprint ? kept.columns : undefined;
  }

  get(key: TypeKey): KeptType | undefined {
    return this.#byKey.get(key);
  }

  register(type: ResourceType): void {
    const isUsed = this.#byKey.has(type.key) || this.#tables.record(type.key) !== undefined;
    (isUsed ? this.#opening : this.#unused).set(type.key, type);
  }

  /** Requests the columns of a type. Returns whether the worker must open the columns now. */
  request(key: TypeKey): boolean {
    const type = this.#unused.get(key);
    if (type === undefined) return false;
    this.#unused.delete(key);
    this.#opening.set(key, type);
    return true;
  }

  /** Removes a type. `position`: the position of the last folded event, within the epoch. */
  remove(key: TypeKey, position: number): void {
    this.#opening.delete(key);
    this.#unused.delete(key);
    const kept = this.#byKey.get(key);
    if (kept === undefined) return;
    if (kept.isLive) kept.columns.cover(position);
    this.#byKey.delete(key);
    this.#retired.push(kept.columns);
  }

  /**
   * The state of all columns in this turn, for a comparison. `position`: the position of the last folded event, within
   * the epoch.
   */
  hold(position: number): ComparedTypes {
    const columns: ComparedColumns[] = [];
    const others: NotCompared[] = [];
    for (const type of this.#tables.types()) {
      const kept = this.#byKey.get(type);
      if (kept?.isLive === true) {
        kept.columns.cover(position);
        columns.push(kept.columns.hold());
      } else if (kept !== undefined || this.#opening.has(type))
        others.push({ type, reason: 'its columns are being read from the log' });
      else others.push({ type, reason: 'its plugin, which computes the values, is not started' });
    }
    return { columns, others };
  }

  /**
   * Removes and returns the columns of a type that is no longer registered. Write the rows of these columns before
   * calling `openNext`, because the type may be registered again.
   */
  retired(): TypeColumns | undefined {
    return this.#retired.shift();
  }

  /** Opens the columns of the next type. Returns false if no columns must be opened. */
  openNext(): boolean {
    const [type] = this.#opening.values();
    if (type === undefined) return false;
    this.#opening.delete(type.key);
    this.#byKey.set(type.key, {
      columns: new TypeColumns(type, this.#tables, this.#bounds),
      isLive: false,
      later: undefined,
    });
    return true;
  }

  /** Discards all columns, so that the worker opens all columns again. Call `reopen` after the tables were cleared. */
  reopen(): void {
    for (const { columns } of this.#byKey.values()) this.#opening.set(columns.type.key, columns.type);
    this.#byKey.clear();
    this.#retired.length = 0;
  }

  /**
   * Adds a change to live columns, or to `later` while the worker reads the log. Returns whether the worker has work
   * now.
   */
  take(change: Change, position: number): boolean {
    const kept = this.#byKey.get(change.type);
    if (kept === undefined || (!kept.isLive && kept.later === undefined)) return false;
    const values = changedValues(change, position);
    if (values === undefined) return false;
    if (!kept.isLive) {
      kept.later?.push(values);
      if ((kept.later?.length ?? 0) > this.#bounds.laterRows) kept.later = undefined;
      return false;
    }
    kept.columns.add(values);
    // The worker could not write the rows in time. The rows are dropped, because they can be read from the log again.
    if (kept.columns.bytes > this.#bounds.heldBytes) {
      this.#byKey.delete(change.type);
      this.register(kept.columns.type);
    }
    return kept.columns.isFull();
  }
}
