import type { Change } from '../../../src/read/objects.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { changedValues } from './changed-values.ts';
import type { ColumnBounds } from './column-bounds.ts';
import type { ColumnTables } from './column-tables.ts';
import { TypeColumns, type ChangedValues } from './type-columns.ts';

/**
 * The columns of a registered type. `isLive`: nothing is missing, and each change is added when it is folded. `later`:
 * changes since a reading of the log has begun; undefined before, and if there were too many.
 */
export type KeptType = {
  columns: TypeColumns;
  isLive: boolean;
  later: ChangedValues[] | undefined;
};

/**
 * The columns of registered types of which lists of the past were requested, now or before a restart: keeping those of
 * all types would make each write slower.
 */
export class KeptTypes {
  readonly #tables: ColumnTables;
  readonly #bounds: ColumnBounds;
  readonly #byKey = new Map<TypeKey, KeptType>();
  /** Registered, without a request so far. */
  readonly #unused = new Map<TypeKey, ResourceType>();
  /** Registered and requested, and not opened yet. */
  readonly #opening = new Map<TypeKey, ResourceType>();
  /** Of types that are not registered any more; not written yet. */
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

  /** A list requests the columns of the type. Returns whether there is work now. */
  request(key: TypeKey): boolean {
    const type = this.#unused.get(key);
    if (type === undefined) return false;
    this.#unused.delete(key);
    this.#opening.set(key, type);
    return true;
  }

  /** `position`: of the last folded event. */
  remove(key: TypeKey, position: number): void {
    this.#opening.delete(key);
    this.#unused.delete(key);
    const kept = this.#byKey.get(key);
    if (kept === undefined) return;
    if (kept.isLive) kept.columns.cover(position);
    this.#byKey.delete(key);
    this.#retired.push(kept.columns);
  }

  /** The next one to write; of a type that returns, before it is opened again. */
  retired(): TypeColumns | undefined {
    return this.#retired.shift();
  }

  /** Whether a type was opened. */
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

  /** The tables are empty now. */
  reopen(): void {
    for (const { columns } of this.#byKey.values()) this.#opening.set(columns.type.key, columns.type);
    this.#byKey.clear();
    this.#retired.length = 0;
  }

  /** Returns whether there is work now. */
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
    // They cannot be written for long: the log has them as well.
    if (kept.columns.bytes > this.#bounds.heldBytes) {
      this.#byKey.delete(change.type);
      this.register(kept.columns.type);
    }
    return kept.columns.isFull();
  }
}
