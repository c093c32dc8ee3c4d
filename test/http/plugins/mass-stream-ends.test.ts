import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import type { Authenticated } from '../../../src/auth/authentication/authenticated.ts';
import type { Shown } from '../../../src/auth/authentication/authenticator.ts';
import type { Subject } from '../../../src/command/subject.ts';
import { watchTurnMs } from '../../../src/limits/watches.ts';
import type { PluginSocket, ServerSentEvent } from '../../../src/plugin/api/plugin.ts';
import { ToilingClock } from '../../support/clocks/toiling-clock.ts';
import { Watching } from '../../support/watching.ts';
import { startEdge } from '../edge-server.ts';

const base = '/apis/api.example.com/v1';
const count = 300;

const named = ({ authorization }: Shown): Authenticated => ({
  ok: true,
  subject: { kind: 'user', name: authorization ?? '', credential: { kind: 'password', uid: 'u' } },
});

/** Sends to all open streams, as a broadcasting plugin does. */
class Feed {
  readonly sockets: PluginSocket[] = [];
  ended = 0;
  #wake: () => void = () => undefined;
  #next = this.#pending();

  say(): void {
    for (const { send } of this.sockets) send('"said"');
    this.#wake();
    this.#next = this.#pending();
  }

  async *events(signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    signal.addEventListener('abort', () => {
      this.ended += 1;
    });
    for (;;) {
      await this.#next;
      yield { data: '"said"' };
    }
  }

  async serve(socket: PluginSocket, signal: AbortSignal): Promise<void> {
    this.sockets.push(socket);
    signal.addEventListener('abort', () => {
      this.ended += 1;
    });
    await new Promise(() => undefined);
  }

  async #pending(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

async function given(t: Test, transport: 'sse' | 'websocket') {
  const clock = new ToilingClock();
  const feed = new Feed();
  const edge = await startEdge({ clock, authenticate: named });
  t.teardown(() => edge.stop());
  edge.pluginRoutes.mount('feeds', {
    routes: [{ method: 'GET', path: `${base}/events`, handler: ({ signal }) => ({ events: feed.events(signal) }) }],
    sockets: [{ path: `${base}/socket`, handler: async (socket, { signal }) => feed.serve(socket, signal) }],
  });
  const path = `${base}/${transport === 'sse' ? 'events' : 'socket'}`;
  const streams = await Promise.all(
    Array.from({ length: count }, async () =>
      Watching.open(edge.url, path, { transport, headers: { authorization: 'ada' } }),
    ),
  );
  const open = (): number => edge.pluginRoutes.streams().reduce((sum, { count: some }) => sum + some, 0);
  t.equal(open(), count);
  return { clock, feed, edge, streams, open };
}

for (const [transport, stopped, lost] of [
  ['sse', 0, 0],
  ['websocket', 1012, 4403],
] as const) {
  for (const cause of ['a plugin stops', 'a right is lost', 'the server stops'] as const) {
    test(`${cause}: ${String(count)} streams (${transport}) end in many turns, and receive nothing more`, async (t) => {
      const {
        clock,
        feed,
        edge: { pluginRoutes },
        streams,
        open,
      } = await given(t, transport);
      clock.lookMs = 1;
      if (cause === 'a plugin stops') pluginRoutes.unmount('feeds');
      else if (cause === 'a right is lost') pluginRoutes.recheck(() => false);
      else pluginRoutes.closeStreams();
      feed.say();
      t.ok(open() > count - watchTurnMs, `${String(open())} in the turn of the cause`);
      let turns = 0;
      for (let before = open(); before > 0; turns += 1) {
        await nextTurn();
        if (before - open() > watchTurnMs) t.fail(`${String(before - open())} in one turn`);
        before = open();
      }
      t.ok(turns >= count / watchTurnMs, `${String(turns)} turns`);
      clock.lookMs = 0;
      const codes = await Promise.all(streams.map(async (stream) => stream.ended()));
      t.strictSame([...new Set(codes)], [cause === 'a right is lost' ? lost : stopped]);
      t.strictSame(
        streams.flatMap(({ texts }) => texts),
        [],
      );
      t.equal(feed.ended, count, 'the plugin knows of each');
    });
  }
  test(`a caller that keeps the right receives everything that is sent during the check (${transport})`, async (t) => {
    const {
      clock,
      feed,
      edge: { pluginRoutes },
      streams,
    } = await given(t, transport);
    const asked: Subject[] = [];
    clock.lookMs = 1;
    pluginRoutes.recheck((subject) => {
      asked.push(subject);
      return true;
    });
    feed.say();
    for (const stream of streams) await stream.until(({ texts }) => texts.length > 0);
    clock.lookMs = 0;
    t.strictSame([...new Set(streams.map(({ texts }) => texts.join()))], ['"said"']);
    t.equal(asked.length, count);
    for (const stream of streams) stream.leave();
  });
}
