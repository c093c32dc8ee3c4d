import { join } from 'node:path';

import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import { privateDir } from '../disk/data-dir.ts';
import { prepareStoreFiles } from '../disk/store-files.ts';
import { openLmdbLog } from '../log/lmdb/lmdb-log.ts';
import type { EventLog, LogState } from '../log/log.ts';
import { refuseDamagedFile, refuseLostLog } from '../disk/store-file.ts';

export type OpenLogOptions = {
  readonly clock: Clock;
  /** The log failed in a way that this process must not outlive. */
  readonly onFatal: (error: Error) => void;
  /** The log has ceased to answer, or answers again. */
  readonly onState: (state: LogState) => void;
  /** The log is followed anew after a subscription was lost. */
  readonly onResubscribed?: () => void;
};

export type OpenedLog = {
  readonly log: EventLog;
  /** What it is, as the ready line tells it. */
  readonly name: 'embedded log' | 'EventStoreDB';
};

export type OpenLog = (config: Pick<Config, 'eventLog' | 'dataDir'>, options: OpenLogOptions) => Promise<OpenedLog>;

/** The log that a configuration names. One that is elsewhere need not answer yet. */
export const openLog: OpenLog = async ({ eventLog, dataDir }, options) => {
  if (eventLog.kind === 'eventstore') {
    // The driver is heavy, and most servers have no use for it.
    const { openEventStoreLog } = await import('../log/eventstore/eventstore-log.ts');
    return { log: openEventStoreLog({ url: eventLog.url, prefix: eventLog.prefix, ...options }), name: 'EventStoreDB' };
  }
  refuseLostLog(dataDir);
  const dir = privateDir(join(dataDir, 'log'));
  refuseDamagedFile(join(dir, 'data.mdb'), 'restore DATA_DIR/log from a backup');
  prepareStoreFiles({ data: join(dir, 'data.mdb'), lock: join(dir, 'lock.mdb'), isFolder: true });
  return { log: await openLmdbLog({ dir, onFatal: options.onFatal }), name: 'embedded log' };
};
