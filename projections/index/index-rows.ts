import { creationIndex, nameIndex } from '../../src/resource/type/index-definition.ts';
import type { IndexEntry, IndexKey } from '../../src/resource/type/index-entry.ts';
import type { IndexDefinition } from '../../src/resource/type/resource-type.ts';
import { clearBit, emptyBits, type Bits } from './index-bits.ts';
import { columnFor, NumberColumn, TextColumn, type KeyColumn } from './index-columns.ts';
import { IndexViews } from './index-views.ts';

type Labels = IndexEntry['labels'];
const noKeys: readonly IndexKey[] = Object.freeze([]);
const noLabels: Labels = Object.freeze({});

/** The values that order objects with equal keys. */
export type Tie = {
  readonly created: number;
  readonly name: string;
};

/**
 * The objects of one type by ordinal: a small dense number that orders contain instead of the name. The ordinal of a
 * removed object is reused.
 */
export class IndexRows {
  readonly #names = new TextColumn();
  readonly #created = new NumberColumn();
  readonly #labels: Labels[] = [];
  /** The columns of the indexes. The indexes of the name and of the creation time share `#names` and `#created`. */
  readonly columns: readonly KeyColumn[];
  /** The ordinals below `capacity` that have no object. */
  readonly #free: number[] = [];
  #capacity = 0;
  /** The open views. A row that an open view may read is not changed or reused. */
  readonly views = new IndexViews((ordinal) => {
    this.#blank(ordinal);
  });

  constructor(definitions: readonly IndexDefinition[]) {
    this.columns = definitions.map(({ name, type, multi }) => {
      if (name === nameIndex) return this.#names;
      return name === creationIndex ? this.#created : columnFor(type, multi);
    });
  }

  /** The highest ordinal ever used, plus one. */
  get capacity(): number {
    return this.#capacity;
  }

  get size(): number {
    return this.#capacity - this.#free.length - this.views.retired;
  }

  add(entry: IndexEntry): number {
    const ordinal = this.#free.pop() ?? this.#capacity++;
    this.set(ordinal, entry);
    return ordinal;
  }

  set(ordinal: number, entry: IndexEntry): void {
    this.#names.put(ordinal, entry.name);
    this.#created.put(ordinal, entry.created);
    this.#labels[ordinal] = entry.labels;
    for (let index = 0; index < this.columns.length; index++) {
      const column = this.columns[index];
      if (column !== undefined && !this.isOfRow(column)) column.set(ordinal, entry.keys[index] ?? noKeys);
    }
  }

  /** Removes an object. Call `remove` after the row was removed from all orders. */
  remove(ordinal: number): void {
    this.views.retire(ordinal);
  }

  #blank(ordinal: number): void {
    this.set(ordinal, { name: '', created: 0, labels: noLabels, keys: [] });
    this.#free.push(ordinal);
  }

  /** Whether `column` contains the names or the creation times. */
  isOfRow(column: KeyColumn): boolean {
    return column === this.#names || column === this.#created;
  }

  setLabels(ordinal: number, labels: Labels): void {
    this.#labels[ordinal] = labels;
  }

  name(ordinal: number): string {
    return this.#names.least(ordinal);
  }

  created(ordinal: number): number {
    return this.#created.least(ordinal);
  }

  labels(ordinal: number): Labels {
    return this.#labels[ordinal] ?? noLabels;
  }

  tie(ordinal: number): Tie {
    return { created: this.created(ordinal), name: this.name(ordinal) };
  }

  /**
   * Compares by the default order: newest first, then by name. A negative result means that the object at `ordinal` is
   * first. All orders use `compareTie` for equal keys.
   */
  compareTie(ordinal: number, { created, name }: Tie): number {
    const own = this.created(ordinal);
    if (own !== created) return own > created ? -1 : 1;
    const ownName = this.name(ordinal);
    return ownName < name ? -1 : ownName > name ? 1 : 0;
  }

  /** Compares two objects as `compareTie` does. */
  compare(one: number, other: number): number {
    const compared = this.#created.compare(other, one);
    return compared === 0 ? this.#names.compare(one, other) : compared;
  }

  /** The ordinals of all objects. Call `live` only while no removed row is retained for an open view. */
  live(): Bits {
    const bits = emptyBits(this.#capacity).fill(0xffffffff);
    const beyond = this.#capacity & 31;
    if (beyond !== 0) bits[bits.length - 1] = (1 << beyond) - 1;
    for (const ordinal of this.#free) clearBit(bits, ordinal);
    return bits;
  }
}
