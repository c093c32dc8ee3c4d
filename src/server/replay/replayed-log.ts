import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { systemClock } from '../../base/clock.ts';
import { FoundedLog, readFounding } from '../../log/founded-log.ts';
import { openLmdbLog } from '../../log/lmdb/lmdb-log.ts';
import { logStart, type EventLog, type LogPosition } from '../../log/log.ts';
import { RefusedError } from './replay-errors.ts';
import type { ReplayTask } from './replay-task.ts';

/** Opens the configured log for reading. Another thread may write to an embedded log at the same time. */
export async function openReplayedLog({ config }: ReplayTask): Promise<FoundedLog> {
  const raw = await open(config);
  try {
    if ((await readFounding(raw)) === undefined)
      throw new RefusedError(
        'not-found',
        'the log has no identity, because it is empty or an earlier version wrote it',
      );
    const log = new FoundedLog(raw);
    await log.found({ domain: config.platformDomain, now: systemClock.now(), uuid: randomUUID });
    return log;
  } catch (error) {
    await raw.close();
    throw error;
  }
}

async function open({ eventLog, dataDir }: ReplayTask['config']): Promise<EventLog> {
  if (eventLog.kind === 'embedded')
    return openLmdbLog({ dir: join(dataDir, 'log'), isReadOnly: true, onFatal: () => undefined });
  // The driver is loaded only if needed, because it is large and most servers do not use it.
  const { openEventStoreLog } = await import('../../log/eventstore/eventstore-log.ts');
  return openEventStoreLog({ url: eventLog.url, prefix: eventLog.prefix, clock: systemClock });
}

/** Returns the position of the log's first event; undefined for an empty log. */
export async function firstPosition(log: Pick<EventLog, 'readAll'>): Promise<LogPosition | undefined> {
  for await (const [first] of log.readAll({ after: logStart })) if (first !== undefined) return first.position;
  return undefined;
}
