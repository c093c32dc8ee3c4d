import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import { FakeClock } from './fake-clock.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../server/start-server.ts';

/** A complete server with a fake clock. Only the test and its teardown advance the clock. */
export class StoppedTime {
  readonly clock = new FakeClock();
  #server: TestServer | undefined;

  static async start(t: Test, options: Omit<TestServerOptions, 'clock'> = {}): Promise<StoppedTime> {
    const stopped = new StoppedTime();
    stopped.#server = await startTestServer({ ...options, clock: stopped.clock });
    t.teardown(async () => passing(stopped.clock, stopped.server.remove()));
    return stopped;
  }

  /** The running server. */
  get server(): TestServer {
    if (this.#server === undefined) throw new Error('no server was started');
    return this.#server;
  }

  async restart(): Promise<void> {
    this.#server = await passing(this.clock, this.server.restart());
  }
}

/**
 * Advances the clock until `waiting` settles: a server that closes checks repeatedly for connections that have become
 * idle. On a busy machine that is many steps, so a test that depends on a later timer bounds them with `atMostMs`.
 */
export async function passing<T>(clock: FakeClock, waiting: Promise<T>, atMostMs = Infinity): Promise<T> {
  const state = { isOver: false };
  const settled = waiting.finally(() => {
    state.isOver = true;
  });
  const stepMs = 20;
  for (let passedMs = 0; !state.isOver; passedMs += stepMs) {
    if (passedMs < atMostMs) clock.advance(stepMs);
    await nextTurn();
  }
  return settled;
}
