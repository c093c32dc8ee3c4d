import { strideMax, type Steps } from '../../../../src/base/steps.ts';
import { must } from '../../../../src/base/unreachable.ts';
import type { IndexKey } from '../../../../src/resource/type/index-entry.ts';
import type { OrderPlace, SortKey } from '../../../../src/resource/query/list-query.ts';
import { lastThat } from '../../last-that.ts';
import { missingText } from '../../../index/index-columns.ts';
import type { ColumnLayout } from '../segment/column-layout.ts';
import { Segment, type SegmentColumn, type Segments } from '../segment/segment.ts';
import { Numbers, type NumberPages } from './numbers.ts';

/** The places of the columns of the name and of the creation time, which are the same for all types. */
const nameColumn = 0;
const createdColumn = 1;

/** A sort key of the query. `keys`: the value of each match. `missing`: the value of a match without a value. */
type KeyOrder = SortKey & {
  readonly keys: Numbers | string[];
  readonly missing: IndexKey;
};

type SelectedRows = {
  readonly segment: Segment;
  /** For each row: 1 if the query selects the row, otherwise 0. Rows after the end of the array are not selected. */
  readonly holding: Uint8Array;
};

/**
 * The rows that a query selects, over several segments. A match is the number of a selected row. Names are read from
 * the segments only when needed.
 */
export class Matches {
  readonly sort: readonly KeyOrder[];
  readonly created: Numbers;
  readonly #layout: readonly ColumnLayout[];
  /** The segments with matches, in the order of the matches. */
  readonly #parts: Part[] = [];
  readonly #rowOf: Numbers;

  constructor(layout: readonly ColumnLayout[], sort: readonly SortKey[], pages: NumberPages) {
    this.#layout = layout;
    this.created = new Numbers(pages);
    this.#rowOf = new Numbers(pages);
    this.sort = sort.map((key) => {
      const isText = layout[key.index]?.isText === true;
      return {
        ...key,
        keys: isText ? [] : new Numbers(pages),
        missing: isText ? missingText : Infinity,
      };
    });
  }

  get size(): number {
    return this.#rowOf.length;
  }

  /** Adds the selected rows of a segment. `number`: the number of the segment in `source`. */
  add(source: Segments, number: number, { segment, holding }: SelectedRows): void {
    const first = this.size;
    for (let row = holding.indexOf(1); row !== -1; row = holding.indexOf(1, row + 1)) {
      this.#rowOf.push(row);
      this.created.push(Number(keyAt(segment.column(createdColumn), row, 'least')));
      for (const { index, direction, keys, missing } of this.sort) {
        const key = keyAt(segment.column(index), row, direction === 'asc' ? 'least' : 'greatest') ?? missing;
        if (keys instanceof Numbers) keys.push(Number(key));
        else keys.push(String(key));
      }
    }
    if (this.size > first) this.#parts.push({ source, number, first, names: undefined });
  }

  /** Empties all lists of numbers, so that later queries can reuse the pages of the lists. */
  release(): void {
    for (const list of [this.created, this.#rowOf, ...this.sort.map(({ keys }) => keys)])
      if (list instanceof Numbers) list.release();
  }

  name(match: number): string {
    const part = this.#partOf(match);
    part.names ??= new Segment(part.source.read(part.number), this.#layout).copyOf(nameColumn);
    return String(keyAt(part.names, this.#rowOf.at(match), 'least'));
  }

  #partOf(match: number): Part {
    const last = lastThat((part) => (this.#parts[part]?.first ?? Infinity) <= match);
    return must(last === undefined ? undefined : this.#parts[last], 'each match is in a segment');
  }
}

type Part = {
  readonly source: Segments;
  readonly number: number;
  /** The first match of the segment. */
  readonly first: number;
  names: SegmentColumn | undefined;
};

function keyAt({ keys, starts, ids }: SegmentColumn, row: number, end: 'least' | 'greatest'): IndexKey | undefined {
  if (starts === undefined) {
    const id = ids.at(row);
    return id === keys.size ? undefined : keys.key(id);
  }
  const [from = 0, to = 0] = [starts.at(row), starts.at(row + 1)];
  return from === to ? undefined : keys.key(ids.at(end === 'least' ? from : to - 1));
}

/** Orders matches by the sort keys, then by creation time (newest first), then by name, as in a live list. */
export class MatchOrder {
  readonly #matches: Matches;
  readonly #names: string[] = [];

  constructor(matches: Matches) {
    this.#matches = matches;
  }

  compare(a: number, b: number): number {
    const { sort, created } = this.#matches;
    for (const key of sort) {
      const compared = compareKeys(key, keyOf(key, a), keyOf(key, b));
      if (compared !== 0) return compared;
    }
    const [createdA, createdB] = [created.at(a), created.at(b)];
    if (createdA !== createdB) return createdA > createdB ? -1 : 1;
    return a === b ? 0 : this.name(a) < this.name(b) ? -1 : 1;
  }

  /** Whether a match is after a place in the order. An object need not exist at the place. */
  isAfter(match: number, place: OrderPlace): boolean {
    for (const [at, key] of this.#matches.sort.entries()) {
      const compared = compareKeys(key, keyOf(key, match), place.keys[at] ?? key.missing);
      if (compared !== 0) return compared > 0;
    }
    const created = this.#matches.created.at(match);
    return created === place.created ? this.name(match) > place.name : created < place.created;
  }

  placeOf(match: number): OrderPlace {
    const keys = this.#matches.sort.map((key) => {
      const own = keyOf(key, match);
      return own === key.missing ? undefined : own;
    });
    return {
      keys,
      created: this.#matches.created.at(match),
      name: this.name(match),
    };
  }

  name(match: number): string {
    return (this.#names[match] ??= this.#matches.name(match));
  }

  /** Yields steps and returns the matches after a place, unsorted. Without a place, returns all matches. */
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

function keyOf({ keys, missing }: KeyOrder, match: number): IndexKey {
  return keys instanceof Numbers ? keys.at(match) : (keys[match] ?? missing);
}

function compareKeys({ nulls, missing, direction }: KeyOrder, a: IndexKey, b: IndexKey): number {
  if (a === b) return 0;
  if (nulls !== undefined && (a === missing || b === missing)) return (a === missing) === (nulls === 'first') ? -1 : 1;
  return a < b === (direction === 'asc') ? -1 : 1;
}
