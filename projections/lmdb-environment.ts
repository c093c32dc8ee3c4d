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
  /** Creates missing files, so that the library's open cannot fail on a full disk. */
  readonly prepare?: PrepareTables | undefined;
};

/**
 * An LMDB environment of tables that are derived from the log. Only `transactionSync` writes it, without flushing: a
 * crash of the process loses nothing, because the kernel has the pages; after a crash of the machine the tables are
 * deleted and rebuilt from the log (consistency protocol, 2; `lmdb-use.ts`).
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
    this.root = open({ path, noSubdir: true, noSync: true, maxDbs: databases, maxReaders: 1024, encoding: 'binary' });
  }

  /** Marks the tables as in use, once all of them are open. */
  opened(): void {
    markUse(this.#dir, { clean: false });
  }

  /** Runs `write` in one transaction, visible to every read when this returns. An exception rolls all of it back. */
  commit(write: () => void): void {
    this.root.transactionSync(write);
    this.root.resetReadTxn();
  }

  /** Flushes, so that the tables are valid also after a reboot. */
  async close(): Promise<void> {
    await this.root.close();
    const file = openSync(join(this.#dir, tablesFile), 'r+');
    fsyncSync(file);
    closeSync(file);
    markUse(this.#dir, { clean: true });
  }
}
