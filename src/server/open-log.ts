import { join } from 'node:path';

import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import { privateDir } from '../disk/data-dir.ts';
import { prepareStoreFiles } from '../disk/store-files.ts';
import { openLmdbLog } from '../log/lmdb/lmdb-log.ts';
import type { EventLog, LogState } from '../log/log.ts';
import { refuseDamagedFile, refuseLostLog, refuseUnfinishedRestore } from '../disk/store-file.ts';

export type OpenLogOptions = {
  readonly clock: Clock;
  /** Called after a failure of the log that must end this process. */
  readonly onFatal: (error: Error) => void;
  /** Called when the log becomes unavailable or available. */
  readonly onState: (state: LogState) => void;
  /** Called when the log has renewed a lost subscription. */
  readonly onResubscribed?: () => void;
};

export type OpenedLog = {
  readonly log: EventLog;
  /** The kind of the log in the ready line. */
  readonly name: 'embedded log' | 'EventStoreDB';
};

export type OpenLog = (config: Pick<Config, 'eventLog' | 'dataDir'>, options: OpenLogOptions) => Promise<OpenedLog>;

/** Opens the configured log. An EventStoreDB may be unavailable at this time. */
export const openLog: OpenLog = async ({ eventLog, dataDir }, options) => {
  if (eventLog.kind === 'eventstore') {
    // The driver is loaded only if needed, because it is large and most servers do not use it.
    const { openEventStoreLog } = await import('../log/eventstore/eventstore-log.ts');
    return { log: openEventStoreLog({ url: eventLog.url, prefix: eventLog.prefix, ...options }), name: 'EventStoreDB' };
  }
  refuseUnfinishedRestore(dataDir);
  refuseLostLog(dataDir);
  const dir = privateDir(join(dataDir, 'log'));
  refuseDamagedFile(join(dir, 'data.mdb'), 'restore DATA_DIR/log from a backup');
  prepareStoreFiles({
    data: join(dir, 'data.mdb'),
    lock: join(dir, 'lock.mdb'),
    isFolder: true,
  });
  return { log: await openLmdbLog({ dir, onFatal: options.onFatal }), name: 'embedded log' };
};
