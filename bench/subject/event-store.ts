import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { spawnEventStore } from '../../test/support/eventstore/eventstore-process.ts';

/** The EventStoreDB that is measured on: the one BENCH_EVENTSTORE_URL names, else the test server as a process of its own. */
export type StoreSubject = {
  readonly url: string;
  /** Said beside every figure, as one is a database and the other a stand-in of one. */
  readonly name: string;
  stop(): Promise<void>;
};

const named = process.env['BENCH_EVENTSTORE_URL'];

/** Empty, where it is the test server, which keeps everything in memory unless it is to be durable. */
export async function startEventStore({ isDurable = false }: { readonly isDurable?: boolean } = {}): Promise<StoreSubject> {
  if (named !== undefined) return { url: named, name: 'BENCH_EVENTSTORE_URL', stop: async () => undefined };
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-bench-store-'));
  const store = await spawnEventStore(isDurable ? { file: join(folder, 'log') } : {});
  return {
    url: store.url, name: isDurable ? 'test server, on disk' : 'test server',
    stop: async () => {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
