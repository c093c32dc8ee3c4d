import { join } from 'node:path';

import { open } from 'lmdb';

/** A table of a stopped server's read models. */
export type Tampered = {
  get(key: string): Buffer | undefined;
  keys(): readonly string[];
  put(key: string, value: Buffer): void;
  remove(key: string): void;
};

/** Changes a table of a stopped server's read models, as anybody with its disk could. */
export async function tamper(dataDir: string, table: string, change: (entries: Tampered) => void): Promise<void> {
  const path = join(dataDir, 'read-models', 'tables.mdb');
  const root = open({ path, noSubdir: true, maxDbs: 6, encoding: 'binary' });
  const entries = root.openDB<Buffer, string>({ name: table, encoding: 'binary' });
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
