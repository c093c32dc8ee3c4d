import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type Test } from 'tap';
import { WebSocket } from 'ws';

import type { Authenticated } from '../../../src/auth/authentication/authenticated.ts';
import type { Shown } from '../../../src/auth/authentication/authenticator.ts';
import { pluginSocketWaitingBytesMax } from '../../../src/http/plugin-routes/route-limits.ts';
import { watchJoinedWriteBytesMax } from '../../../src/limits/watches.ts';
import type { PluginSocket, RouteHandler, SocketHandler } from '../../../src/plugin/api/plugin.ts';
import { Frames } from '../../../src/watch/frames.ts';
import { startEdge } from '../edge-server.ts';

const base = '/apis/api.example.com/v1';
const mebibyte = 1_048_576;
const bounds = { bytesMax: 100 * mebibyte, accountBytesMax: 4 * mebibyte, watcherBytesMax: 4 * mebibyte };

const named = ({ authorization }: Shown): Authenticated => ({
  ok: true,
  subject: { kind: 'user', name: authorization ?? '', credential: { kind: 'password', uid: 'u' } },
});

type Served = { readonly events?: RouteHandler; readonly socket?: SocketHandler };

/** An edge at which everybody is the user they say they are, with one plugin. */
async function edgeOf(t: Test, { events, socket }: Served, changes: Partial<typeof bounds> = {}) {
  const edge = await startEdge({ bounds: { ...bounds, ...changes }, authenticate: named });
  t.teardown(() => edge.stop());
  edge.pluginRoutes.mount('feeds', {
    routes: events === undefined ? [] : [{ method: 'GET', path: `${base}/events`, handler: events }],
    sockets: socket === undefined ? [] : [{ path: `${base}/socket`, handler: socket }],
  });
  const connections: Socket[] = [];
  edge.http.server.on('connection', (connection: Socket) => {
    connections.push(connection);
  });
  /** Unlike TCP's, the buffers of a Unix socket do not grow while nothing is read. */
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-'));
  const path = join(folder, 'socket');
  const local = createServer((connection) => {
    edge.http.server.emit('connection', connection);
  }).listen(path);
  t.teardown(async () => {
    local.close();
    await rm(folder, { recursive: true });
  });
  await once(local, 'listening');
  /** A socket of a client that reads nothing. */
  const open = async (user: string): Promise<WebSocket> => {
    const opened = new WebSocket(`ws+unix://${path}:${base}/socket`, { headers: { authorization: user } });
    await once(opened, 'open');
    opened.pause();
    t.teardown(() => {
      opened.terminate();
    });
    return opened;
  };
  return { edge, open, connections, held: (user: string) => edge.outboxes.budget.bytesOf(`user:${user}`) };
}

/** Streams that plugins serve, by user. */
class Streams<T> {
  readonly #all: { readonly user: string; readonly signal: AbortSignal; readonly stream: T }[] = [];

  add(user: string, signal: AbortSignal, stream: T): void {
    this.#all.push({ user, signal, stream });
  }

  of(user: string): readonly T[] {
    return this.#all.filter((one) => one.user === user).map(({ stream }) => stream);
  }

  ended(user: string): number {
    return this.#all.filter((one) => one.user === user && one.signal.aborted).length;
  }
}

async function socketsOf(t: Test, changes: Partial<typeof bounds> = {}) {
  const streams = new Streams<PluginSocket>();
  const given = await edgeOf(
    t,
    {
      socket: async (socket, { user, signal }) => {
        streams.add(user.name, signal, socket);
        await new Promise(() => undefined);
      },
    },
    changes,
  );
  return { ...given, streams };
}

/** Sends as much as is taken of it. */
async function fill({ send }: PluginSocket, bytes: number): Promise<number> {
  let sent = 0;
  for (; send('x'.repeat(bytes)); sent += 1) if (sent % 100 === 0) await nextTurn();
  return sent;
}

test("unread bytes of one user's sockets stay within the user's limit, and other users are unaffected", async (t) => {
  const { open, held, streams } = await socketsOf(t);
  await open('bob');
  for (const bob of streams.of('bob')) await fill(bob, 100_000);
  const ofBob = held('bob');
  t.ok(ofBob > mebibyte / 2 && ofBob < 2 * mebibyte, `${String(ofBob)} bytes wait for bob`);
  let most = 0;
  for (let count = 0; count < 8; count += 1) await open('ada');
  for (const ada of streams.of('ada')) {
    await fill(ada, 100_000);
    most = Math.max(most, held('ada'));
  }
  t.ok(most > bounds.accountBytesMax / 2 && most <= bounds.accountBytesMax, `${String(most)} bytes at most`);
  t.ok(streams.ended('ada') >= 4, `${String(streams.ended('ada'))} of ada's 8 were ended`);
  t.strictSame([streams.ended('bob'), held('bob')], [0, ofBob]);
});

test('beyond the common limit the socket furthest behind is closed, of any user', async (t) => {
  const { edge, open, streams } = await socketsOf(t, { bytesMax: 2 * mebibyte });
  for (const user of ['ada', 'bob', 'eve']) await open(user);
  for (const user of ['ada', 'bob', 'eve']) for (const socket of streams.of(user)) await fill(socket, 100_000);
  t.ok(edge.outboxes.budget.bytes <= 2 * mebibyte, String(edge.outboxes.budget.bytes));
  t.ok(['ada', 'bob', 'eve'].some((user) => streams.ended(user) === 1));
});

test("unread bytes of a user's watches count for the same limit", async (t) => {
  const { edge, open, held, streams } = await socketsOf(t);
  let overflows = 0;
  const watch = edge.outboxes.open(
    { write: () => undefined, cut: () => undefined },
    {
      account: 'user:ada',
      onOverflow: () => {
        overflows += 1;
      },
    },
  );
  watch.push(new Frames(Buffer.alloc(bounds.accountBytesMax - mebibyte / 2)));
  t.equal(overflows, 0);
  await open('ada');
  for (const ada of streams.of('ada')) await fill(ada, 100_000);
  t.equal(overflows, 1, 'the watch is the furthest behind');
  t.ok(held('ada') <= bounds.accountBytesMax);
  watch.closed();
});

test('small messages are written one at a time, and each counts for more than its bytes', async (t) => {
  const { open, held, streams, connections } = await socketsOf(t, { accountBytesMax: bounds.bytesMax });
  await open('ada');
  for (const ada of streams.of('ada')) {
    await fill(ada, 50_000);
    t.ok(
      connections.every(({ writableLength }) => writableLength <= 2 * watchJoinedWriteBytesMax),
      'one large message',
    );
  }
  await open('eve');
  for (const eve of streams.of('eve')) await fill(eve, 1_000);
  const [, ofEve] = connections;
  t.ok(ofEve !== undefined && ofEve.writableLength <= watchJoinedWriteBytesMax, String(ofEve?.writableLength));
  t.ok(held('eve') > pluginSocketWaitingBytesMax * 1.2, `${String(held('eve'))} bytes are counted`);
});

test('messages arrive complete and in order before the end, text and bytes of every size', async (t) => {
  const sizes = [0, 1, 125, 126, 65_535, 65_536, 700_000];
  const { edge } = await edgeOf(t, {
    socket: async ({ send, drained }) => {
      for (const size of sizes)
        for (const message of ['é'.repeat(size / 2), new Uint8Array(size).fill(7)]) {
          if (send(message)) continue;
          await drained();
          send(message);
        }
    },
  });
  const client = new WebSocket(`${edge.url.replace('http', 'ws')}${base}/socket`, {
    headers: { authorization: 'ada' },
  });
  const got: (readonly [number, boolean])[] = [];
  client.on('message', (data: Buffer, isBinary) => {
    got.push([data.length, isBinary]);
  });
  const [code] = (await once(client, 'close')) as [number];
  t.equal(code, 1_000);
  t.strictSame(
    got,
    sizes.flatMap((size) => [
      [Math.floor(size / 2) * 2, false],
      [size, true],
    ]),
  );
});

test("unread events of one user stay within the user's limit, and another user's stream is unaffected", async (t) => {
  const streams = new Streams<undefined>();
  let most = 0;
  const given = await edgeOf(t, {
    events: ({ user, signal }) => {
      streams.add(user.name, signal, undefined);
      return {
        events: (async function* () {
          for (;;) {
            most = Math.max(most, given.held('ada'));
            yield await Promise.resolve({ data: 'x'.repeat(1_000_000) });
          }
        })(),
      };
    },
  });
  const leave = async (user: string): Promise<void> => {
    const asked = get(`${given.edge.url}${base}/events`, { agent: false, headers: { authorization: user } });
    asked.on('error', () => undefined);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    t.teardown(() => {
      asked.destroy();
    });
  };
  await leave('bob');
  for (let count = 0; count < 8; count += 1) await leave('ada');
  // Those that are left wait for their reader with one event each.
  while (streams.ended('ada') < 4) await given.edge.call('/healthz');
  for (let turn = 0; turn < 20; turn += 1) await given.edge.call('/healthz');
  most = Math.max(most, given.held('ada'));
  t.ok(most > bounds.accountBytesMax / 2 && most <= bounds.accountBytesMax, `${String(most)} bytes at most`);
  t.equal(streams.ended('bob'), 0);
  t.ok(given.held('bob') > 0 && given.held('bob') < 2 * mebibyte, String(given.held('bob')));
});
