import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import { FakeClock } from './fake-clock.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './start-server.ts';

/** A whole server whose time passes only when the test says so, and at its end. */
export async function startInStoppedTime(t: Test, options: Omit<TestServerOptions, 'clock'> = {}): Promise<{ readonly server: TestServer; readonly clock: FakeClock }> {
  const clock = new FakeClock();
  const server = await startTestServer({ ...options, clock });
  t.teardown(async () => passing(clock, server.remove()));
  return { server, clock };
}

/** What waits for time to pass: a server that closes looks again and again for connections that have become idle. */
export async function passing<T>(clock: FakeClock, waiting: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const settled = waiting.finally(() => { state.isOver = true; });
  while (!state.isOver) {
    clock.advance(20);
    await nextTurn();
  }
  return settled;
}
