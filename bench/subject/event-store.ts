import { spawnEventStore } from '../../test/support/eventstore/eventstore-process.ts';

/** The EventStoreDB that is measured on: the one BENCH_EVENTSTORE_URL names, else the test server as a process of its own. */
export type StoreSubject = {
  readonly url: string;
  /** Said beside every figure, as one is a database and the other a stand-in of one. */
  readonly name: string;
  stop(): Promise<void>;
};

const named = process.env['BENCH_EVENTSTORE_URL'];

/** Empty, where it is the test server. Without `file` what is in it ends with it. */
export async function startEventStore(file?: string): Promise<StoreSubject> {
  if (named !== undefined) return { url: named, name: 'BENCH_EVENTSTORE_URL', stop: async () => undefined };
  const store = await spawnEventStore(file === undefined ? {} : { file });
  return { url: store.url, name: 'test server', stop: async () => store.stop() };
}
