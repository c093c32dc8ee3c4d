import { join } from 'node:path';
import { open, type RootDatabase, type Transaction } from 'lmdb';

import { tablesFile } from './lmdb-use.ts';

/** A read transaction on one committed state of the tables. `release` may be called repeatedly. */
export type HeldTransaction = {
  readonly transaction: Transaction;
  readonly release: () => void;
};

/** Opens the tables in `dir` for reading the stored bytes, while another thread may write the tables. */
export function openReadOnly(dir: string, databases: number): RootDatabase {
  const path = join(dir, tablesFile);
  return open({
    path,
    noSubdir: true,
    readOnly: true,
    maxDbs: databases,
    maxReaders: 1024,
    encoding: 'binary',
  });
}

export function holdTransaction(root: RootDatabase): HeldTransaction {
  // Without `resetReadTxn`, lmdb may reuse an older read transaction, which lacks later commits.
  root.resetReadTxn();
  const transaction: Transaction = root.useReadTransaction();
  let isHeld = true;
  return {
    transaction,
    release: () => {
      if (isHeld) transaction.done();
      isHeld = false;
    },
  };
}
