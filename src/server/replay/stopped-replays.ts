import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { isTrustworthy } from '../../../projections/lmdb-use.ts';
import type { StoppedReplays } from '../../cli/audit/replay-command.ts';
import { commandError, CommandFailure, usageError } from '../../cli/failure.ts';
import type { CommandContext } from '../../cli/command-context.ts';
import { StartError } from '../../base/start-error.ts';
import { decodeConfig, type Config } from '../../config/config.ts';
import { readEnvironment } from '../../config/environment.ts';
import { takeDataDir } from '../../disk/data-dir.ts';
import { reserveOf } from '../../disk/disk-reserve.ts';
import { diskSpaceNow } from '../../disk/disk-space.ts';
import { resourceFailure } from '../../disk/resource-failure.ts';
import { decodeDiff, decodeReplay } from '../../read/decode-replay.ts';
import { removeReplays } from './replay-thread.ts';
import { Replays } from './replays.ts';

/** Replays for a stopped server, without models in memory. The lock of DATA_DIR excludes other processes. */
export const stoppedReplays: StoppedReplays = {
  lines: async function* (kind, body, context) {
    const asked = kind === 'diffs' ? decodeDiff(body) : decodeReplay(body);
    if (!asked.ok) throw usageError(asked.detail);
    const config = configOf(context);
    const { dataDir, eventLog } = config;
    if (eventLog.kind === 'embedded' && !existsSync(join(dataDir, 'log', 'data.mdb')))
      throw usageError(`DATA_DIR ${dataDir} has no log`);
    const lock = await locked(dataDir);
    const ending = new AbortController();
    try {
      removeReplays(dataDir);
      if (asked.value.until === undefined) {
        assertTables(join(dataDir, 'read-models'), 'read models');
        assertTables(join(dataDir, 'audit-models'), 'audit indexes');
      }
      const reserveBytes = reserveOf(diskSpaceNow(dataDir), config.diskReserveBytes);
      const replays = new Replays({ config, reserveBytes, clock: context.clock, live: undefined });
      const started = await replays.start({ ...asked.value, mayRead: () => true, signal: ending.signal });
      if (!started.ok) throw commandError(started.detail);
      yield* started.lines;
    } catch (error) {
      const failed = resourceFailure(error);
      throw failed === undefined ? error : new CommandFailure(failed.message, failed.exitCode);
    } finally {
      ending.abort();
      removeReplays(dataDir);
      await lock.release();
    }
  },
};

function configOf({ folder, variables }: CommandContext): Config {
  const decoded = decodeConfig(readEnvironment(folder, variables), folder);
  if (!decoded.ok) throw usageError(decoded.mistakes.join('\n'));
  return decoded.config;
}

async function locked(dataDir: string): ReturnType<typeof takeDataDir> {
  try {
    return await takeDataDir(dataDir);
  } catch (error) {
    if (error instanceof StartError)
      throw new CommandFailure(`${error.message}: run the command without --stopped`, error.exitCode);
    throw error;
  }
}

/** Refuses invalid tables, because opening invalid tables could end the process. */
function assertTables(dir: string, what: string): void {
  if (!isTrustworthy(dir))
    throw commandError(`the ${what} are missing or not valid: the next start rebuilds them from the log`);
}
