import { MemoryLog, memoryDisk } from '../support/memory/memory-log.ts';
import { runLogContract } from './log-contract.ts';

runLogContract('memory', async () => {
  const disk = memoryDisk();
  const log = new MemoryLog(disk);
  return await Promise.resolve({
    log,
    reopen: async () => {
      await log.close();
      return new MemoryLog(disk);
    },
  });
});
