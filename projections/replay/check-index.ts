import { deepEqual } from '../../src/base/json.ts';
import type { Steps } from '../../src/base/steps.ts';
import type { Difference } from '../../src/read/replay.ts';
import { entryOfFact } from '../../src/resource/type/index-definition.ts';
import type { IndexEntry, IndexKey } from '../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { encodeEntry, isEntryUnder } from '../index/entry-codec.ts';
import { presentOf } from '../index/index-entries.ts';
import { labelTerm, markedPosting, type OrdersView } from '../index/index-orders.ts';
import { ordinalMask, type OrderView } from '../index/order-view.ts';
import { decodeRow, entryOfRow, sourceOfRow } from '../row.ts';

export type CheckedIndex = {
  readonly type: ResourceType;
  /** The orders to check, which do not change during the check. */
  readonly orders: OrdersView;
  /** Returns the row of an object at the log position of the orders. The row is valid until the next call. */
  readonly row: (name: string) => Buffer | undefined;
};

type Found = Steps<Difference | undefined>;

/**
 * Returns the first difference between the indexes of a type and the rows of its objects. The entry of each object is
 * computed again by the functions that the fold uses. Each order must be sorted and must have exactly the postings that
 * the objects require.
 */
export function* checkIndex(checked: CheckedIndex): Found {
  const { type, orders } = checked;
  const wanted: Postings = { byIndex: type.indexes.map(() => 0), labels: 0 };
  const names = orders.byIndex[0];
  if (names === undefined) return undefined;
  for (const { chunk, from, to } of names.spans(0, names.size)) {
    for (const posting of chunk.ordinals.subarray(from, to)) {
      const difference = differenceOfEntry(checked, posting & ordinalMask, wanted);
      if (difference !== undefined) return difference;
      yield;
    }
  }
  const byDefault = yield* orderProblem(orders, orders.byDefault, { table: `the default order of ${type.key}` });
  if (byDefault !== undefined) return byDefault;
  for (const [index, sequence] of orders.byIndex.entries()) {
    const table = tableOf(type, index);
    const postings = wanted.byIndex[index] ?? 0;
    const size = sizeProblem(sequence, postings, table);
    const belongs = (ordinal: number, key: IndexKey, posting: number): boolean =>
      belongsTo(orders, index, { ordinal, key, posting });
    const found = size ?? (yield* orderProblem(orders, sequence, { table, belongs }));
    if (found !== undefined) return found;
  }
  const table = `index metadata.labels of ${type.key}`;
  const belongs = (ordinal: number, key: IndexKey): boolean =>
    termsOf(orders.rows.labels(ordinal)).includes(String(key));
  return (
    sizeProblem(orders.byLabel, wanted.labels, table) ??
    (yield* orderProblem(orders, orders.byLabel, { table, belongs }))
  );
}

/**
 * The number of steps of `checkIndex` without a difference: one for each object, and one for each posting of each
 * order.
 */
export function stepsOfCheck({ orders: { byDefault, byIndex, byLabel } }: CheckedIndex): number {
  const sequences = [byDefault, byLabel, ...byIndex, ...byIndex.slice(0, 1)];
  return sequences.reduce((sum, { size }) => sum + size, 0);
}

/** The number of postings that the objects must have in the orders. */
type Postings = {
  readonly byIndex: number[];
  labels: number;
};

function tableOf(type: ResourceType, place: number): string {
  return `index ${type.indexes[place]?.name ?? String(place)} of ${type.key}`;
}

function differenceOfEntry(checked: CheckedIndex, ordinal: number, wanted: Postings): Difference | undefined {
  const { type, orders } = checked;
  const name = orders.rows.name(ordinal);
  const at = { table: `indexes of ${type.key}`, key: name };
  const row = checked.row(name);
  if (row === undefined) return { ...at, detail: 'the indexes hold an object that has no row' };
  const { entry, isKept, isShown } = entryAgain(type, row);
  if (!isShown) return { ...at, detail: 'the response stored in the row differs from the one computed from the event' };
  if (!isKept)
    return { ...at, detail: 'the index entry stored in the row differs from the one computed from the object' };
  const { rows } = orders;
  if (rows.created(ordinal) !== entry.created || !deepEqual(rows.labels(ordinal), entry.labels))
    return { ...at, detail: 'the creation time or the labels in the indexes are not those of the object' };
  wanted.labels += Object.keys(entry.labels).length;
  for (const [index, keys] of entry.keys.entries()) {
    const column = rows.columns[index];
    // The row was found by its name, and the creation times were compared above.
    if (column !== undefined && !rows.isOfRow(column) && !deepEqual(column.keys(ordinal), keys))
      return { table: tableOf(type, index), key: name, detail: 'the values in the index are not those of the object' };
    const postings = orders.multi[index] === true ? Math.max(1, keys.length) : 1;
    wanted.byIndex[index] = (wanted.byIndex[index] ?? 0) + postings;
  }
  return undefined;
}

type EntryAgain = {
  readonly entry: IndexEntry;
  readonly isKept: boolean;
  readonly isShown: boolean;
};

/**
 * Computes the index entry of an object again. `isKept`: whether the stored entry equals the computed entry. `isShown`:
 * whether the stored response equals the computed response. `isKept` and `isShown` are true for a row that was stored
 * under another declaration.
 */
function entryAgain(type: ResourceType, row: Buffer): EntryAgain {
  let failures = 0;
  const { indexes, fingerprint } = type;
  const kept = Buffer.from(entryOfRow(row));
  const { object, answer = sourceOfRow(row) } = presentOf(row, type);
  const entry = entryOfFact(indexes, object, () => {
    failures += 1;
  });
  const isUsed = isEntryUnder(kept, fingerprint) || isEntryUnder(kept, fingerprint, false);
  const isKept = !isUsed || encodeEntry(entry, fingerprint, failures === 0).equals(kept);
  return {
    entry,
    isKept,
    isShown: !isUsed || answer.equals(decodeRow(row).answer),
  };
}

function sizeProblem({ size }: OrderView, wanted: number, table: string): Difference | undefined {
  if (size === wanted) return undefined;
  return { table, key: '', detail: `there are ${String(size)} postings, but the objects require ${String(wanted)}` };
}

type KeyPosting = {
  readonly ordinal: number;
  readonly key: IndexKey;
  readonly posting: number;
};

function belongsTo({ rows, multi }: OrdersView, place: number, { ordinal, key, posting }: KeyPosting): boolean {
  const column = rows.columns[place];
  if (column === undefined || multi[place] !== true) return column !== undefined;
  const keys = column.keys(ordinal);
  if (keys.length === 0) return key === column.missing && posting === markedPosting(ordinal, 0, 1);
  const at = keys.indexOf(key);
  return at !== -1 && posting === markedPosting(ordinal, at, keys.length);
}

function termsOf(labels: IndexEntry['labels']): readonly string[] {
  return Object.entries(labels).map(([key, value]) => labelTerm(key, value));
}

type Ordered = {
  readonly table: string;
  /** Whether the object requires this posting. */
  readonly belongs?: (ordinal: number, key: IndexKey, posting: number) => boolean;
};

function* orderProblem({ rows }: OrdersView, sequence: OrderView, { table, belongs = () => true }: Ordered): Found {
  let before: { readonly key: IndexKey; readonly ordinal: number } | undefined;
  for (const { chunk, from, to } of sequence.spans(0, sequence.size)) {
    for (let offset = from; offset < to; offset += 1) {
      const posting = chunk.ordinals[offset] ?? 0;
      const ordinal = posting & ordinalMask;
      const key = sequence.keyIn(chunk, offset);
      const name = rows.name(ordinal);
      if (!belongs(ordinal, key, posting))
        return { table, key: name, detail: 'a posting does not belong to the object' };
      if (before !== undefined && (key === before.key ? rows.compare(ordinal, before.ordinal) <= 0 : key < before.key))
        return { table, key: name, detail: 'a posting of the object is out of order' };
      before = { key, ordinal };
      yield;
    }
  }
  return undefined;
}
