import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';

import { watchTurnMs } from '../../../src/limits/watches.ts';
import { ToilingClock } from '../../support/clocks/toiling-clock.ts';
import { WatchServer } from '../../support/server/watch-server.ts';
import { transports, Watching, type Transport } from '../../support/watching.ts';

const count = 500;

type Cause = {
  readonly what: string;
  readonly cause: (server: WatchServer) => void;
  /** What the client is shown: the code of the ERROR event, and the close code of a WebSocket. */
  readonly error: number | undefined;
  readonly closeCode: number;
};

const causes: readonly Cause[] = [
  {
    what: 'a right is lost',
    cause: ({ hub }) => {
      hub.recheck(() => false);
    },
    error: 403,
    closeCode: 4403,
  },
  {
    what: 'a type goes',
    cause: ({ hub, type }) => {
      hub.closeType(type.key);
    },
    error: 503,
    closeCode: 1012,
  },
  {
    what: 'the server stops',
    cause: ({ hub }) => {
      hub.closeAll();
    },
    error: undefined,
    closeCode: 1012,
  },
];

async function openAll(server: WatchServer, transport: Transport): Promise<readonly Watching[]> {
  const { origin, pathname } = new URL(server.url());
  return Promise.all(Array.from({ length: count }, async () => Watching.open(origin, `${pathname}?`, { transport })));
}

/**
 * The most watches that left in one turn, the one of the cause included, and how many turns it took until `rest` are
 * left.
 */
async function leaving(
  { hub }: WatchServer,
  before: number,
  rest = 0,
): Promise<{ readonly most: number; readonly turns: number }> {
  let [left, most, turns] = [hub.size, before - hub.size, 0];
  for (; left > rest; left = hub.size) {
    await nextTurn();
    most = Math.max(most, left - hub.size);
    turns += 1;
  }
  return { most, turns };
}

async function endsInTurns(t: Test, { cause, error, closeCode }: Cause, transport: Transport): Promise<void> {
  const clock = new ToilingClock();
  const server = await WatchServer.start(t, { clock });
  await server.write('before');
  const watches = await openAll(server, transport);
  for (const watch of watches) await watch.until(({ texts }) => texts.length === 1);
  t.equal(server.hub.size, count);
  clock.lookMs = 1;
  cause(server);
  const left = leaving(server, count);
  await server.write('after');
  const { most, turns } = await left;
  clock.lookMs = 0;
  t.ok(most <= watchTurnMs, `${String(most)} in one turn`);
  t.ok(turns >= count / watchTurnMs, `${String(turns)} turns`);
  const codes = await Promise.all(watches.map(async (watch) => watch.ended()));
  t.strictSame([...new Set(codes)], [transport === 'websocket' ? closeCode : 0]);
  const expected = ['ADDED Widget before', ...(error === undefined ? [] : [`ERROR Status ${String(error)}`])];
  const stories = new Set(watches.map(({ story }) => story.join()));
  t.strictSame([...stories], [expected.join()], 'nothing of what came after the cause');
}

for (const cause of causes) {
  for (const transport of transports) {
    test(`${cause.what}: ${String(count)} watches (${transport}) end in many turns, each with its reason`, async (t) =>
      endsInTurns(t, cause, transport));
  }
}

test('during a check of rights a watcher that loses them receives nothing, and others miss nothing', async (t) => {
  const clock = new ToilingClock();
  const server = await WatchServer.start(t, { clock });
  const { origin, pathname } = new URL(server.url());
  const open = async (path: string): Promise<readonly Watching[]> =>
    Promise.all(
      Array.from({ length: count / 2 }, async () => Watching.open(origin, `${path}?`, { transport: 'json' })),
    );
  const losing = await open(pathname);
  const keeping = await open(`${pathname}/after`);
  clock.lookMs = 1;
  server.hub.recheck(({ name }) => name === 'after');
  const left = leaving(server, count, keeping.length);
  await server.write('after');
  const { most, turns } = await left;
  t.ok(most <= watchTurnMs, `${String(most)} in one turn`);
  t.ok(turns >= losing.length / watchTurnMs, `${String(turns)} turns`);
  for (const watch of keeping) await watch.until(({ texts }) => texts.length > 0);
  clock.lookMs = 0;
  for (const watch of losing) await watch.ended();
  t.strictSame([...new Set(losing.map(({ story }) => story.join()))], ['ERROR Status 403']);
  t.strictSame([...new Set(keeping.map(({ story }) => story.join()))], ['ADDED Widget after']);
  for (const watch of keeping) watch.leave();
});
