import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventStorePrefixDefault } from '../../src/config/eventstore-prefix.ts';
import type { LogAt } from '../../test/support/memory/event-log.ts';
import { spawnEventStore } from '../../test/support/eventstore/eventstore-process.ts';

/**
 * The EventStoreDB that is measured on: the one BENCH_EVENTSTORE_URL names, else the test server as a process of its
 * own.
 */
export type StoreSubject = Required<LogAt> & {
  /** Of the server, where it runs on this machine and is known: BENCH_EVENTSTORE_PID of one that is named. */
  readonly pid: number | undefined;
  /** Said beside every figure, as one is a database and the other a stand-in of one. */
  readonly name: string;
  stop(): Promise<void>;
};

const named = process.env['BENCH_EVENTSTORE_URL'];
const pidText = process.env['BENCH_EVENTSTORE_PID'];
const namedPid = pidText === undefined ? undefined : Number(pidText);

/**
 * An empty log: of a database that is named nothing but streams of its own. The test server keeps everything in memory
 * unless it is to be durable.
 */
export async function startEventStore({
  isDurable = false,
}: { readonly isDurable?: boolean } = {}): Promise<StoreSubject> {
  if (named !== undefined)
    return {
      url: named,
      prefix: `bench-${randomUUID()}-`,
      name: 'BENCH_EVENTSTORE_URL',
      pid: namedPid,
      stop: async () => undefined,
    };
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-bench-store-'));
  const store = await spawnEventStore(isDurable ? { file: join(folder, 'log') } : {});
  return {
    url: store.url,
    prefix: eventStorePrefixDefault,
    pid: store.pid(),
    name: isDurable ? 'test server, on disk' : 'test server',
    stop: async () => {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
