import type { Database, RootDatabase, Transaction } from 'lmdb';

import { decodeCheckpoint, type Checkpoint } from '../checkpoint.ts';
import { holdTransaction, openReadOnly } from '../lmdb-read-only.ts';
import type { AuditTableName } from './audit-tables.ts';
import { columnsTable, typesIn } from './columns/column-tables.ts';

/** A text, an unsigned 32-bit number or plain bytes, depending on the encoding of the table's keys. */
export type AuditKey = string | number | Uint8Array;
type AuditEntry = {
  readonly key: AuditKey;
  readonly value: Buffer;
};

/** The tables of the audit models in one committed state; valid until `release`. */
export type AuditSnapshot = {
  checkpoint(): Checkpoint | undefined;
  /** The stored format number of each part of the audit models, by the part's name. */
  formats(): ReadonlyMap<string, number>;
  /** The keys of the types with stored columns. Empty if the view was opened without `columnsTable`. */
  columnTypes(): readonly string[];
  /** The entries of a table, in the order of the keys. Each value is a copy of the stored bytes. */
  entries(name: string): Iterable<AuditEntry>;
  release(): void;
};

/** The type declarations of the `lmdb` package lack these options of `get`. */
type Readable = Database<Buffer, AuditKey> & {
  get(key: AuditKey, options: { readonly transaction: Transaction }): Buffer | undefined;
};

/** A read-only handle on audit tables that another thread may write. */
export class AuditView {
  readonly #root: RootDatabase;
  readonly #meta: Readable;
  readonly #tables: ReadonlyMap<string, Readable>;

  constructor(dir: string, names: readonly AuditTableName[]) {
    this.#root = openReadOnly(dir, names.length + 2);
    const openTable = (name: string, keyEncoding: AuditTableName['keys']): Readable =>
      this.#root.openDB({ name, keyEncoding, encoding: 'binary' });
    this.#meta = openTable('meta', 'ordered-binary');
    this.#tables = new Map(names.map(({ name, keys }) => [name, openTable(name, keys)]));
  }

  snapshot(): AuditSnapshot {
    const { transaction, release } = holdTransaction(this.#root);
    return {
      checkpoint: () => {
        const text = this.#meta.get('checkpoint', { transaction });
        return text === undefined ? undefined : decodeCheckpoint(text.toString());
      },
      formats: () => formatsIn(this.#meta.get('formats', { transaction })?.toString()),
      columnTypes: () => typesIn(textsIn(this.#tables.get(columnsTable.name)?.getKeys({ transaction }) ?? [])),
      entries: (name) => this.#tables.get(name)?.getRange({ transaction }) ?? [],
      release,
    };
  }

  /** The current number of entries in the tables of `names`. */
  size(): number {
    let sum = 0;
    for (const table of this.#tables.values()) {
      // lmdb's type declarations lack the members of the result.
      const { entryCount = 0 }: { readonly entryCount?: number } = table.getStats();
      sum += entryCount;
    }
    return sum;
  }

  async close(): Promise<void> {
    await this.#root.close();
  }
}

function* textsIn(keys: Iterable<AuditKey>): Generator<string> {
  for (const key of keys) if (typeof key === 'string') yield key;
}

function formatsIn(text = '[]'): ReadonlyMap<string, number> {
  const formats: unknown = JSON.parse(text);
  const entries: readonly unknown[] = Array.isArray(formats) ? formats : [];
  return new Map(entries.filter(isFormat));
}

function isFormat(entry: unknown): entry is readonly [name: string, format: number] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number';
}
