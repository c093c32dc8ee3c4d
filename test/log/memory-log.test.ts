import { test } from 'tap';

import { MemoryLog, memoryDisk } from '../support/memory/memory-log.ts';
import { logContract, type LogUnderTest } from './log-contract.ts';

async function makeMemoryLog(): Promise<LogUnderTest> {
  const disk = memoryDisk();
  const log = new MemoryLog(disk);
  return await Promise.resolve({
    log,
    reopen: async () => {
      await log.close();
      return new MemoryLog(disk);
    },
  });
}

for (const [sentence, prove] of logContract) test(`memory: ${sentence}`, (t) => prove(t, makeMemoryLog, {}));
