import { inStrides, strideMax, type Steps } from '../../../../src/base/steps.ts';
import { must } from '../../../../src/base/unreachable.ts';
import type { IndexKey } from '../../../../src/resource/type/index-entry.ts';
import type { OrderPlace, SortKey } from '../../../../src/resource/query/list-query.ts';
import { missingText } from '../../../index/index-columns.ts';
import type { ColumnLayout } from '../segment/column-layout.ts';
import type { Segment, SegmentColumn } from '../segment/segment.ts';

/** The places of the columns of the name and the creation time, which are equal for all types. */
export const nameColumn = 0;
export const createdColumn = 1;

/** The rows that a query selects, over several segments. A match is the number of a selected row. */
export class Matches {
  readonly #segments: Segment[] = [];
  #segmentOf = new Uint32Array(1_024);
  #rowOf = new Uint32Array(1_024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Opens the next segment. After this call, `add` adds rows of this segment. */
  open(segment: Segment): void {
    this.#segments.push(segment);
  }

  add(row: number): void {
    if (this.#size === this.#rowOf.length) {
      this.#segmentOf = grown(this.#segmentOf);
      this.#rowOf = grown(this.#rowOf);
    }
    this.#segmentOf[this.#size] = this.#segments.length - 1;
    this.#rowOf[this.#size] = row;
    this.#size += 1;
  }

  name(match: number): string {
    return String(this.#value(match, nameColumn));
  }

  /** The sort key of each match; `missing` for a match without a value. */
  *keys(column: number, end: 'least' | 'greatest', missing: IndexKey): Steps<readonly IndexKey[]> {
    const keys = new Array<IndexKey>(this.#size);
    yield* inStrides(this.#size, (from, to) => {
      for (let match = from; match < to; match++) keys[match] = this.#value(match, column, end) ?? missing;
    });
    return keys;
  }

  #value(match: number, place: number, end: 'least' | 'greatest' = 'least'): IndexKey | undefined {
    const segment = must(this.#segments[this.#segmentOf[match] ?? 0], 'a match is of an open segment');
    return keyAt(segment.column(place), this.#rowOf[match] ?? 0, end);
  }
}

function keyAt({ keys, starts, ids }: SegmentColumn, row: number, end: 'least' | 'greatest'): IndexKey | undefined {
  if (starts === undefined) {
    const id = ids[row] ?? keys.size;
    return id === keys.size ? undefined : keys.key(id);
  }
  const [from, to] = [starts[row] ?? 0, starts[row + 1] ?? 0];
  return from === to ? undefined : keys.key(ids[end === 'least' ? from : to - 1] ?? 0);
}

function grown(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

type KeyOrder = SortKey & { readonly keys: readonly IndexKey[]; readonly missing: IndexKey };

/** The order of matches: the sort keys, then newest first, then by name, as in a live list. */
export class MatchOrder {
  readonly #matches: Matches;
  readonly #sort: readonly KeyOrder[];
  readonly #created: readonly IndexKey[];
  readonly #names: string[] = [];

  private constructor(matches: Matches, sort: readonly KeyOrder[], created: readonly IndexKey[]) {
    this.#matches = matches;
    this.#sort = sort;
    this.#created = created;
  }

  static *of(matches: Matches, sort: readonly SortKey[], layout: readonly ColumnLayout[]): Steps<MatchOrder> {
    const keyed: KeyOrder[] = [];
    for (const key of sort) {
      const missing = layout[key.index]?.isText === true ? missingText : Infinity;
      const keys = yield* matches.keys(key.index, key.direction === 'asc' ? 'least' : 'greatest', missing);
      keyed.push({ ...key, keys, missing });
    }
    return new MatchOrder(matches, keyed, yield* matches.keys(createdColumn, 'least', 0));
  }

  compare(a: number, b: number): number {
    for (const key of this.#sort) {
      const compared = compareKeys(key, key.keys[a] ?? key.missing, key.keys[b] ?? key.missing);
      if (compared !== 0) return compared;
    }
    const [createdA, createdB] = [this.#created[a] ?? 0, this.#created[b] ?? 0];
    if (createdA !== createdB) return createdA > createdB ? -1 : 1;
    return a === b ? 0 : this.name(a) < this.name(b) ? -1 : 1;
  }

  /** Whether a match is after a place in the order. There need not be an object at the place. */
  isAfter(match: number, place: OrderPlace): boolean {
    for (const [at, key] of this.#sort.entries()) {
      const compared = compareKeys(key, key.keys[match] ?? key.missing, place.keys[at] ?? key.missing);
      if (compared !== 0) return compared > 0;
    }
    const created = Number(this.#created[match]);
    return created === place.created ? this.name(match) > place.name : created < place.created;
  }

  placeOf(match: number): OrderPlace {
    const keys = this.#sort.map(({ keys: all, missing }) => (all[match] === missing ? undefined : all[match]));
    return { keys, created: Number(this.#created[match]), name: this.name(match) };
  }

  name(match: number): string {
    return (this.#names[match] ??= this.#matches.name(match));
  }

  /** The matches after a place, unsorted. Without a place, all matches. */
  *after(place: OrderPlace | undefined): Steps<Uint32Array> {
    const found = new Uint32Array(this.#matches.size);
    let count = 0;
    for (let match = 0; match < found.length; match++) {
      if (place === undefined || this.isAfter(match, place)) found[count++] = match;
      if (match % strideMax === strideMax - 1) yield;
    }
    return found.subarray(0, count);
  }
}

function compareKeys({ nulls, missing, direction }: KeyOrder, a: IndexKey, b: IndexKey): number {
  if (a === b) return 0;
  if (nulls !== undefined && (a === missing || b === missing)) return (a === missing) === (nulls === 'first') ? -1 : 1;
  return a < b === (direction === 'asc') ? -1 : 1;
}
