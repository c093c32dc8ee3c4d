import type { Steps } from '../../src/base/steps.ts';
import type { AuditKey, AuditSnapshot } from '../audit/audit-view.ts';
import type { AuditTableName } from '../audit/audit-tables.ts';
import { differenceOfBytes, differenceOfPresence, type Sides } from './differing-bytes.ts';
import { mergedBy } from './merge-entries.ts';

/** By part of the audit models: the number of compared entries. */
export type CountedParts = Record<string, number>;

/** The first entry that differs, with the table and key that store the entry. */
export type DifferentEntry = Sides & {
  /** The name of the table's database. */
  readonly table: string;
  readonly key: AuditKey;
  readonly detail: string;
};

const entriesPerStep = 256;

/** Returns the first difference between the live audit tables and the tables of a replay, both at one position. */
export function* compareAudit(
  [live, replayed]: readonly [live: AuditSnapshot, replayed: AuditSnapshot],
  tables: readonly AuditTableName[],
  counted: CountedParts,
): Steps<DifferentEntry | undefined> {
  for (const { part, name } of tables) {
    let count = counted[part] ?? 0;
    for (const { key, left, right } of mergedBy(compareKeys, live.entries(name), replayed.entries(name))) {
      const detail =
        left === undefined || right === undefined
          ? differenceOfPresence({ live: left, replayed: right })
          : differenceOfBytes(left, right);
      if (detail !== undefined) return { table: name, key, detail, live: left, replayed: right };
      count += 1;
      if (count % entriesPerStep !== 0) continue;
      counted[part] = count;
      yield;
    }
    counted[part] = count;
  }
  return undefined;
}

/** Compares two keys of one table in the order of LMDB. */
function compareKeys(one: AuditKey, other: AuditKey): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return Buffer.compare(bytesOf(one), bytesOf(other));
}

function bytesOf(key: AuditKey): Uint8Array {
  return key instanceof Uint8Array ? key : Buffer.from(String(key));
}
