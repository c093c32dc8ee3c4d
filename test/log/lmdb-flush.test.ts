/** The log's LMDB environment: visible writes are flushed. */
import { open } from 'lmdb';
import { join } from 'node:path';
import { test } from 'tap';

import { logStart } from '../../src/log/log.ts';
import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';

test('LMDB reports that the log is opened without overlapping syncs', async (t) => {
  const dir = join(t.testdir(), 'log');
  const log = await openLmdbLog({
    dir,
    onFatal: (error) => {
      throw error;
    },
  });
  // A process has one environment of a file, and LMDB answers by the flags of the one that is open.
  t.throws(() => open({ path: dir, noSubdir: false, overlappingSync: true }), /opened without this flag/u);
  t.equal(await log.head(), logStart, 'the log goes on');
  await log.close();
});
