import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';

import { discard, isTrustworthy, markUse, tablesFile } from './lmdb-use.ts';

export type PrepareTables = (files: {
  readonly data: string;
  readonly lock: string;
  readonly isFolder: boolean;
}) => void;

export type EnvironmentOptions = {
  /** The number of named databases. */
  readonly databases: number;
  /** Creates missing files, so that opening the environment cannot fail on a full disk. */
  readonly prepare?: PrepareTables | undefined;
};

/**
 * An LMDB environment of tables that are derived from the log. Only `close` flushes the tables to disk. After a crash
 * of the machine, the tables are rebuilt from the log (docs/spec/consistency.md, 2).
 */
export class LmdbEnvironment {
  readonly #dir: string;
  readonly root: RootDatabase;

  constructor(dir: string, { databases, prepare = () => undefined }: EnvironmentOptions) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!isTrustworthy(dir)) discard(dir);
    this.#dir = dir;
    const path = join(dir, tablesFile);
    prepare({ data: path, lock: `${path}-lock`, isFolder: false });
    this.root = open({
      path,
      noSubdir: true,
      noSync: true,
      maxDbs: databases,
      maxReaders: 1024,
      encoding: 'binary',
    });
  }

  /** Marks the tables as in use. Call `opened` after all tables are open. */
  opened(): void {
    markUse(this.#dir, { clean: false });
  }

  /** Runs `write` in one transaction. An exception rolls back the transaction. */
  commit(write: () => void): void {
    this.root.transactionSync(write);
    this.root.resetReadTxn();
  }

  /** Closes and flushes the tables, so that the tables remain valid after a reboot. */
  async close(): Promise<void> {
    await this.root.close();
    const file = openSync(join(this.#dir, tablesFile), 'r+');
    fsyncSync(file);
    closeSync(file);
    markUse(this.#dir, { clean: true });
  }
}
