import { join } from 'node:path';
import { open } from 'lmdb';

import { decodeRow } from '../../projections/row.ts';

type Pages = {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
};

/** The maximum number of rows from which the mean size of an index entry is computed. */
const sampledRows = 2_000;

/**
 * Returns the bytes on disk of all indexes of the objects in a stopped server's folder: the pages of every table but
 * the rows, and the index entries in the rows.
 */
export async function indexBytes(dataDir: string, count: number): Promise<number> {
  const root = open({
    path: join(dataDir, 'read-models', 'tables.mdb'),
    noSubdir: true,
    readOnly: true,
    maxDbs: 64,
    encoding: 'binary',
  });
  try {
    let pages = 0;
    for (const key of root.getKeys()) {
      const name = String(key);
      if (name !== 'rows') pages += pageBytes(root.openDB({ name, encoding: 'binary' }).getStats() as Pages);
    }
    const rows = root.openDB<Buffer, string>({ name: 'rows', encoding: 'binary' });
    let [sampled, entries] = [0, 0];
    for (const { value } of rows.getRange({ start: 'widgets.', limit: sampledRows })) {
      sampled += 1;
      entries += decodeRow(value).entry.length;
    }
    return pages + (entries / sampled) * count;
  } finally {
    await root.close();
  }
}

function pageBytes({ pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages }: Pages): number {
  return (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize;
}
