import type { Database, RootDatabase, Transaction } from 'lmdb';

import { decodeCheckpoint, type Checkpoint } from './checkpoint.ts';
import { holdTransaction, openReadOnly } from './lmdb-read-only.ts';

/** The tables in the order of comparison. */
export const viewedTables = ['meta', 'gone', 'heads', 'secrets', 'references', 'rows'] as const;
export type ViewedTable = (typeof viewedTables)[number];

export type ViewedEntry = {
  readonly key: string;
  readonly value: Buffer;
};

/** One committed state of the tables, valid until `release`. */
export type TablesSnapshot = {
  checkpoint(): Checkpoint | undefined;
  /** The entries in the byte order of their keys, beginning with the key `from`. The values are copies. */
  entries(table: ViewedTable, from?: string): Iterable<ViewedEntry>;
  release(): void;
};

/** The type declarations of the `lmdb` package lack this option of `get`. */
type Readable = Database<Buffer, string> & {
  get(key: string, options: { readonly transaction: Transaction }): Buffer | undefined;
};

/**
 * A read-only handle on tables that another thread may write. An open snapshot prevents LMDB from reusing freed pages.
 */
export class LmdbView {
  readonly #root: RootDatabase;
  readonly #tables: ReadonlyMap<ViewedTable, Readable>;

  constructor(dir: string) {
    this.#root = openReadOnly(dir, viewedTables.length + 1);
    const openTable = (name: ViewedTable): Readable => this.#root.openDB({ name, encoding: 'binary' });
    this.#tables = new Map(viewedTables.map((name) => [name, openTable(name)]));
  }

  snapshot(): TablesSnapshot {
    const { transaction, release } = holdTransaction(this.#root);
    return {
      checkpoint: () => {
        const text = this.#tables.get('meta')?.get('checkpoint', { transaction });
        return text === undefined ? undefined : decodeCheckpoint(text.toString());
      },
      entries: (table, from) => {
        const options = { transaction, ...(from === undefined ? {} : { start: from }) };
        return this.#tables.get(table)?.getRange(options) ?? [];
      },
      release,
    };
  }

  async close(): Promise<void> {
    await this.#root.close();
  }
}
