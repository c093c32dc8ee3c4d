import { FoundedLog } from '../../src/log/founded-log.ts';
import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { DrawnLog, type Step } from './drawn-log.ts';

const uuid = (): string => '00000000-0000-4000-8000-000000000000';
const founding = { domain: 'svc.run', now: 0, uuid };

/** An embedded log of the steps in `dir`, opened anew for reading: nothing of it is in memory. */
export async function writtenLog(dir: string, steps: readonly Step[]): Promise<FoundedLog> {
  const onFatal = (error: Error): never => {
    throw error;
  };
  const written = new FoundedLog(await openLmdbLog({ dir, onFatal }));
  await written.found(founding);
  const drawn = new DrawnLog(written);
  for (const step of steps) await drawn.take(step);
  await written.close();
  const log = new FoundedLog(await openLmdbLog({ dir, onFatal, isReadOnly: true }));
  await log.found(founding);
  return log;
}
