import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Test } from 'tap';

import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import type { EventLog } from '../../src/log/log.ts';
import { runLogContract } from './log-contract.ts';
import type { LogUnderTest } from './log-contract.ts';

function openAt(t: Test, dir: string): Promise<EventLog> {
  return openLmdbLog({ dir, onFatal: (error) => t.fail('the log failed', { error }) });
}

async function makeLmdbLog(t: Test): Promise<LogUnderTest> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-log-'));
  let log = await openAt(t, dir);
  t.teardown(async () => {
    await log.close();
    await rm(dir, { recursive: true });
  });
  return {
    log,
    reopen: async () => {
      await log.close();
      log = await openAt(t, dir);
      return log;
    },
  };
}

runLogContract('lmdb', makeLmdbLog);
