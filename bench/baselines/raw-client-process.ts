import { randomUUID } from 'node:crypto';

import {
  BACKWARDS,
  binaryEvent,
  END,
  EventStoreDBClient,
  NO_STREAM,
  START,
  streamNameFilter,
} from '@eventstore/db-client';

/**
 * The orders to the process that measures EventStoreDB's driver. The process uses the driver as in the driver's
 * documentation.
 */
export type RawOrder =
  | {
      readonly kind: 'append';
      readonly writers: number;
      readonly warmUp: number;
      readonly count: number;
      readonly data: Uint8Array;
      readonly metadata: unknown;
    }
  | { readonly kind: 'subscribe'; readonly prefix: string; readonly count: number }
  | { readonly kind: 'last'; readonly stream: string };

export type RawReport =
  | {
      readonly kind: 'done';
      readonly perSecond: number;
      readonly seconds: number;
      readonly last?: { readonly data: Uint8Array; readonly metadata: unknown };
    }
  | { readonly kind: 'failed'; readonly message: string };

const url = process.argv[2] ?? '';
const client = EventStoreDBClient.connectionString(url);

type AppendOrder = Extract<RawOrder, { kind: 'append' }>;

async function append({ writers, warmUp, count, data, metadata }: AppendOrder): Promise<RawReport> {
  const run = randomUUID();
  let sent = 0;
  let answered = 0;
  let [beganAt, endedAt] = [0, 0];
  const write = async (until = warmUp + count): Promise<void> => {
    while (sent < until) {
      const stream = `raw-${run}-${(sent += 1).toString()}`;
      await client.appendToStream(
        stream,
        binaryEvent({ id: randomUUID(), type: 'ObjectCreated', data, metadata: metadata as Record<string, unknown> }),
        { expectedRevision: NO_STREAM },
      );
      answered += 1;
      if (answered === warmUp) beganAt = performance.now();
      if (answered === warmUp + count) endedAt = performance.now();
    }
  };
  // Opens the connection before the concurrent appends. While the driver connects, it completes the first of many
  // appends last, which would distort the measured time.
  await write(1);
  await Promise.all(Array.from({ length: writers }, async () => write()));
  return done(count, (endedAt - beganAt) / 1_000);
}

async function subscribe(prefix: string, count: number): Promise<RawReport> {
  const beganAt = performance.now();
  const subscription = client.subscribeToAll({
    fromPosition: START,
    filter: streamNameFilter({ prefixes: [prefix], checkpointInterval: 1_000 }),
  });
  let come = 0;
  for await (const resolved of subscription) {
    if (resolved.event !== undefined) come += 1;
    if (come === count) break;
  }
  const seconds = (performance.now() - beganAt) / 1_000;
  await subscription.unsubscribe().catch(() => undefined);
  return done(count, seconds);
}

async function lastOf(stream: string): Promise<RawReport> {
  for await (const { event } of client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 })) {
    if (event?.isJson === false) return { ...done(1, 1), last: { data: event.data, metadata: event.metadata } };
  }
  return { kind: 'failed', message: `${stream} has no binary event` };
}

function done(count: number, seconds: number): Extract<RawReport, { kind: 'done' }> {
  return { kind: 'done', perSecond: count / seconds, seconds };
}

async function run(order: RawOrder): Promise<RawReport> {
  if (order.kind === 'append') return append(order);
  return order.kind === 'subscribe' ? subscribe(order.prefix, order.count) : lastOf(order.stream);
}

process.on('message', (order: RawOrder) => {
  run(order).then(
    (report) => process.send?.(report),
    (error: unknown) => process.send?.({ kind: 'failed', message: String(error) } satisfies RawReport),
  );
});
process.on('disconnect', () => {
  process.exit(0);
});
