/**
 * The port's promises on EventStoreDB: on the server that stands in for it, and on a real one where TEST_EVENTSTORE_URL
 * names one. That one is shared: each clause has streams of its own.
 */
import { randomUUID } from 'node:crypto';

import { test } from 'tap';
import type { Test } from 'tap';

import { systemClock } from '../../src/base/clock.ts';
import { openEventStoreLog } from '../../src/log/eventstore/eventstore-log.ts';
import { startEventStore } from '../support/eventstore/eventstore.ts';
import { runLogContract } from './log-contract.ts';
import type { LogUnderTest } from './log-contract.ts';

const realUrl = process.env['TEST_EVENTSTORE_URL'];

runLogContract(
  'eventstore',
  async (t: Test): Promise<LogUnderTest> => {
    const store = await startEventStore();
    const open = (): ReturnType<typeof openEventStoreLog> => openEventStoreLog({ url: store.url, clock: systemClock });
    let log = open();
    t.teardown(async () => {
      await log.close();
      await store.stop();
    });
    return {
      log,
      reopen: async () => {
        await log.close();
        await store.restart();
        return (log = open());
      },
    };
  },
  { isFarAway: true },
);

if (realUrl === undefined) {
  test(
    'eventstore, a real one: not tried, as TEST_EVENTSTORE_URL names none',
    { skip: 'set TEST_EVENTSTORE_URL to try it' },
    () => undefined,
  );
} else {
  runLogContract(
    'eventstore, a real one',
    async (t: Test): Promise<LogUnderTest> => {
      const prefix = `test-${randomUUID()}-`;
      const open = (): ReturnType<typeof openEventStoreLog> =>
        openEventStoreLog({ url: realUrl, prefix, clock: systemClock });
      let log = open();
      t.teardown(() => log.close());
      return {
        log,
        reopen: async () => {
          await log.close();
          return (log = open());
        },
      };
    },
    { isFarAway: true },
  );
}
