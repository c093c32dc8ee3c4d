import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventStorePrefixDefault } from '../../src/config/eventstore-prefix.ts';
import type { LogAt } from '../../test/support/memory/event-log.ts';
import { spawnEventStore } from '../../test/support/eventstore/eventstore-process.ts';

/**
 * The EventStoreDB of the measured server: the database that BENCH_EVENTSTORE_URL names, or otherwise the test server
 * in a separate process.
 */
export type StoreSubject = Required<LogAt> & {
  /** The process id of the database if it runs on this machine. BENCH_EVENTSTORE_PID sets it for a named database. */
  readonly pid: number | undefined;
  /** The name of the database. It is printed with every figure, since the database may be the test server. */
  readonly name: string;
  /**
   * Whether the database is a real EventStoreDB. Floors apply only to a real one, because the test server is several
   * times as fast.
   */
  readonly isReal: boolean;
  stop(): Promise<void>;
};

const named = process.env['BENCH_EVENTSTORE_URL'];
const pidText = process.env['BENCH_EVENTSTORE_PID'];
const namedPid = pidText === undefined ? undefined : Number(pidText);

/**
 * Returns an empty log. On a named database, new streams are used. The test server stores all events only in memory,
 * unless `isDurable` is set.
 */
export async function startEventStore({
  isDurable = false,
}: { readonly isDurable?: boolean } = {}): Promise<StoreSubject> {
  if (named !== undefined)
    return {
      url: named,
      prefix: `bench-${randomUUID()}-`,
      name: 'BENCH_EVENTSTORE_URL',
      isReal: true,
      pid: namedPid,
      stop: async () => undefined,
    };
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-bench-store-'));
  const store = await spawnEventStore(isDurable ? { file: join(folder, 'log') } : {});
  return {
    url: store.url,
    prefix: eventStorePrefixDefault,
    pid: store.pid(),
    isReal: false,
    name: isDurable ? 'test server, on disk' : 'test server',
    stop: async () => {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
