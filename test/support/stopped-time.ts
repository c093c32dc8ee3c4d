import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import { FakeClock } from './fake-clock.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './start-server.ts';

/** A whole server whose time passes only when the test says so, and at its end. */
export class StoppedTime {
  readonly clock = new FakeClock();
  #server: TestServer | undefined;

  static async start(t: Test, options: Omit<TestServerOptions, 'clock'> = {}): Promise<StoppedTime> {
    const stopped = new StoppedTime();
    stopped.#server = await startTestServer({ ...options, clock: stopped.clock });
    t.teardown(async () => passing(stopped.clock, stopped.server.remove()));
    return stopped;
  }

  /** The one that runs now. */
  get server(): TestServer {
    if (this.#server === undefined) throw new Error('no server was started');
    return this.#server;
  }

  async restart(): Promise<void> {
    this.#server = await passing(this.clock, this.server.restart());
  }
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
