/**
 * Appends through the adapter while the driver's table of pending replies is cleared under them: duplicate answers, and
 * another client of the same process that fails and is disposed of. Prints the results, one line a fact.
 */
import { binaryEvent, EventStoreDBClient } from '@eventstore/db-client';

import { openEventStoreLog } from '../../../src/log/eventstore/eventstore-log.ts';
import { isStrayAppendReply } from '../../../src/log/eventstore/eventstore-stray.ts';
import { logStart, streamName } from '../../../src/log/log.ts';
import { startEventStore } from '../../support/eventstore/eventstore.ts';
import { unavailable } from '../../support/eventstore/faults.ts';
import { collect, proposed } from '../../support/memory/log-events.ts';
import { quickClock } from '../../support/clocks/quick-clock.ts';

let strays = 0;
let others = 0;
process.on('uncaughtException', (error) => {
  if (isStrayAppendReply(error)) strays += 1;
  else others += 1;
});
process.on('unhandledRejection', (error) => {
  if (isStrayAppendReply(error)) strays += 1;
  else others += 1;
});

async function insist(name: string): Promise<void> {
  for (;;) {
    const outcome = await log.append(streamName(`object:w/${name}`), [proposed(name)], 'absent');
    if (outcome.ok) return;
    if (outcome.reason === 'conflict') throw new Error('its own event is no conflict');
  }
}

const store = await startEventStore();
const neighbour = await startEventStore();
const log = openEventStoreLog({ url: store.url, clock: quickClock() });
const client = EventStoreDBClient.connectionString(neighbour.url);
await insist('first');
await client.appendToStream('other', binaryEvent({ type: 'X', data: new Uint8Array() }));

store.faults.append = ({ number }) => (number % 10 === 0 ? { kind: 'twice' } : undefined);
const writers = Array.from({ length: 60 }, (_, index) => insist(index.toString()));
// What the other client has in flight is rejected, and so is what the adapter has: the table is one.
neighbour.faults.append = () => ({ kind: 'no-answer', written: false });
const rejected = client
  .appendToStream('other', binaryEvent({ type: 'X', data: new Uint8Array() }))
  .catch(() => undefined);
neighbour.rejectInFlight(unavailable);
await rejected;
await client.dispose();
await Promise.all(writers);
const all = await collect(log.readAll({ after: logStart }));
process.stdout.write(
  `strays ${strays.toString()}\nothers ${others.toString()}\nevents ${all.length.toString()}\n` +
    `ids ${new Set(all.map(({ id }) => id)).size.toString()}\n`,
);
await log.close();
await store.stop();
await neighbour.stop();
process.exit(0);
