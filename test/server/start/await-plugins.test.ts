/** What `/readyz` says while plugins start. */
import { test } from 'tap';

import { awaitPlugins } from '../../../src/server/await-plugins.ts';
import { pluginsWaitMs } from '../../../src/limits/plugins.ts';
import { Readiness } from '../../../src/server/readiness.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';

test('the plugins that are starting are named, and none once all have started', async (t) => {
  const clock = new FakeClock();
  const readiness = new Readiness({ state: () => ({ reachable: true }) });
  readiness.done('read models');
  let starting = ['slow (loading the module)', 'other (not-started)'];
  const host = { start: () => new Promise<void>(() => undefined), starting: () => starting };
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const waited = awaitPlugins({ host, readiness, clock, log, signal: undefined });
  t.strictSame(readiness.reasons(), ['plugins are starting: slow (loading the module), other (not-started)']);
  starting = [];
  t.strictSame(readiness.reasons(), ['plugins are starting']);
  clock.advance(pluginsWaitMs);
  await waited;
});
