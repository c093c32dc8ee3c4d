import { join } from 'node:path';

import { open, type Key } from 'lmdb';

/** A table of a stopped server. */
export type Tampered<TableKey extends Key = string> = {
  get(key: TableKey): Buffer | undefined;
  keys(): readonly TableKey[];
  put(key: TableKey, value: Buffer): void;
  remove(key: TableKey): void;
};

export type TamperedTable = {
  readonly folder: 'read-models' | 'audit-models';
  readonly table: string;
  readonly keyEncoding?: 'uint32' | 'binary';
};

/** Changes a table of a stopped server's read models, as anybody with its disk could. */
export async function tamper(dataDir: string, table: string, change: (entries: Tampered) => void): Promise<void> {
  await tamperWith(dataDir, { folder: 'read-models', table }, change);
}

/** The same for a table of either kind of models, and any keys. */
export async function tamperWith<TableKey extends Key>(
  dataDir: string,
  { folder, table, keyEncoding }: TamperedTable,
  change: (entries: Tampered<TableKey>) => void,
): Promise<void> {
  const path = join(dataDir, folder, 'tables.mdb');
  const root = open({ path, noSubdir: true, maxDbs: 32, encoding: 'binary' });
  const keys = keyEncoding === undefined ? {} : { keyEncoding };
  const entries = root.openDB<Buffer, TableKey>({ name: table, encoding: 'binary', ...keys });
  change({
    get: (key) => entries.get(key),
    keys: () => [...entries.getKeys()],
    put: (key, value) => {
      entries.putSync(key, value);
    },
    remove: (key) => {
      entries.removeSync(key);
    },
  });
  await root.close();
}
