import { join } from 'node:path';
import { open, type RootDatabase, type Transaction } from 'lmdb';

import { tablesFile } from './lmdb-use.ts';

/**
 * A read transaction on one committed state of the tables, valid until `release`. `release` may be called repeatedly.
 */
export type HeldTransaction = {
  readonly transaction: Transaction;
  readonly release: () => void;
};

/** Opens the tables in `dir` for reading, while another thread may write them. Values are returned as stored bytes. */
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
  // Without this call, lmdb may reuse a read transaction of an earlier turn, which does not include later commits.
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
