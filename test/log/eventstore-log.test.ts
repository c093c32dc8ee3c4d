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
import { logContract, type LogTraits, type LogUnderTest } from './log-contract.ts';

const realUrl = process.env['TEST_EVENTSTORE_URL'];

const traits: LogTraits = { isFarAway: true };

async function makeStandInLog(t: Test): Promise<LogUnderTest> {
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
}

for (const [sentence, prove] of logContract) test(`eventstore: ${sentence}`, (t) => prove(t, makeStandInLog, traits));

async function makeRealLog(t: Test, url: string): Promise<LogUnderTest> {
  const prefix = `test-${randomUUID()}-`;
  const open = (): ReturnType<typeof openEventStoreLog> => openEventStoreLog({ url, prefix, clock: systemClock });
  let log = open();
  t.teardown(() => log.close());
  return {
    log,
    reopen: async () => {
      await log.close();
      return (log = open());
    },
  };
}

if (realUrl === undefined) {
  test(
    'eventstore, a real one: not tried, as TEST_EVENTSTORE_URL names none',
    { skip: 'set TEST_EVENTSTORE_URL to try it' },
    () => undefined,
  );
} else {
  for (const [sentence, prove] of logContract)
    test(`eventstore, a real one: ${sentence}`, (t) => prove(t, async () => makeRealLog(t, realUrl), traits));
}
