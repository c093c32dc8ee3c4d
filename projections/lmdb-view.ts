import type { Database, RootDatabase, Transaction } from 'lmdb';

import { decodeCheckpoint, type Checkpoint } from './checkpoint.ts';
import { holdTransaction, openReadOnly } from './lmdb-read-only.ts';

/** The tables in the order of comparison: the smallest first. */
export const viewedTables = ['meta', 'gone', 'heads', 'secrets', 'rows'] as const;
export type ViewedTable = (typeof viewedTables)[number];

export type ViewedEntry = { readonly key: string; readonly value: Buffer };

/** The tables in one committed state; valid until `release`. */
export type TablesSnapshot = {
  checkpoint(): Checkpoint | undefined;
  /** The entries from the key `from` on, in the order of the keys' bytes. Each value is a copy of the stored bytes. */
  entries(table: ViewedTable, from?: string): Iterable<ViewedEntry>;
  release(): void;
};

/** The library's types leave out the options. */
type Readable = Database<Buffer, string> & {
  get(key: string, options: { readonly transaction: Transaction }): Buffer | undefined;
};

/**
 * A second handle on tables that another thread may write; it reads the stored bytes. A snapshot prevents LMDB from
 * reusing freed pages, so release it after a comparison.
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
