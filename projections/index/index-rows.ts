import { creationIndex, nameIndex } from '../../src/resource/type/index-definition.ts';
import type { IndexEntry, IndexKey } from '../../src/resource/type/index-entry.ts';
import type { IndexDefinition } from '../../src/resource/type/resource-type.ts';
import { clearBit, emptyBits, type Bits } from './index-bits.ts';
import { columnFor, NumberColumn, TextColumn, type KeyColumn } from './index-columns.ts';
import { IndexViews } from './index-views.ts';

type Labels = IndexEntry['labels'];
const noKeys: readonly IndexKey[] = Object.freeze([]);
const noLabels: Labels = Object.freeze({});

/** The tie-break among objects with equal keys. */
export type Tie = { readonly created: number; readonly name: string };

/**
 * The objects of one type by ordinal: a small dense number that all orders contain in place of the name. An ordinal is
 * used again after a removal.
 */
export class IndexRows {
  readonly #names = new TextColumn();
  readonly #created = new NumberColumn();
  readonly #labels: Labels[] = [];
  /** By position of the index: the columns. The columns of name and creation time are the two above. */
  readonly columns: readonly KeyColumn[];
  /** Ordinals below `capacity` without an object. */
  readonly #free: number[] = [];
  #capacity = 0;
  /** A row that an open view may read is neither changed nor reused. */
  readonly views = new IndexViews((ordinal) => {
    this.#blank(ordinal);
  });

  constructor(definitions: readonly IndexDefinition[]) {
    this.columns = definitions.map(({ name, type, multi }) => {
      if (name === nameIndex) return this.#names;
      return name === creationIndex ? this.#created : columnFor(type, multi);
    });
  }

  /** One more than the highest ordinal ever used. */
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

  /** Call it once no order contains the row. */
  remove(ordinal: number): void {
    this.views.retire(ordinal);
  }

  #blank(ordinal: number): void {
    this.set(ordinal, { name: '', created: 0, labels: noLabels, keys: [] });
    this.#free.push(ordinal);
  }

  /** Whether `column` is the row's own names or creation times. */
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
   * Compares by the default order, newest first, then by name; it is also the tie-break of all other orders. Negative:
   * the object at `ordinal` is before.
   */
  compareTie(ordinal: number, { created, name }: Tie): number {
    const own = this.created(ordinal);
    if (own !== created) return own > created ? -1 : 1;
    const ownName = this.name(ordinal);
    return ownName < name ? -1 : ownName > name ? 1 : 0;
  }

  /** The ordinals of all objects; call it only while no row is retired. */
  live(): Bits {
    const bits = emptyBits(this.#capacity).fill(0xffffffff);
    const beyond = this.#capacity & 31;
    if (beyond !== 0) bits[bits.length - 1] = (1 << beyond) - 1;
    for (const ordinal of this.#free) clearBit(bits, ordinal);
    return bits;
  }
}
