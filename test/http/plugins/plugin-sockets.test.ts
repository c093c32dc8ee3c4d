import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'tap';
import { WebSocket } from 'ws';

import { watchKeepAliveMs } from '../../../src/limits/watches.ts';
import {
  pluginSocketMessageBytesMax,
  pluginSocketQueuedMessagesMax,
  pluginSocketUnreadMs,
} from '../../../src/http/plugin-routes/route-limits.ts';
import type { PluginSocket, SocketHandler } from '../../../src/plugin/api/plugin.ts';
import { base, edgeOf, socketPath, withResolvers } from './plugin-stream-edge.ts';

async function closing(socket: WebSocket): Promise<readonly [number, string]> {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  return [code, reason.toString()];
}

test('a socket is open until its handler settles, and its messages are in order', async (t) => {
  const { edge, open } = await edgeOf(t, {
    socket: async ({ messages, send }, { params, user }) => {
      send(`${params['name'] ?? ''} ${user.name}`);
      for await (const message of messages) {
        if (message === 'end') return;
        send(typeof message === 'string' ? { text: message } : message);
      }
    },
  });
  const socket = open();
  const got: string[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    got.push(`${isBinary ? 'binary ' : ''}${data.toString()}`);
  });
  await once(socket, 'open');
  socket.send('hello');
  socket.send(Buffer.from('bytes'));
  socket.send('end');
  t.strictSame(await closing(socket), [1000, '']);
  t.strictSame(got, ['a admin', '{"text":"hello"}', 'binary bytes']);
  t.strictSame(edge.pluginRoutes.streams(), []);
});

test('the close code names how a socket ended', async (t) => {
  const never: SocketHandler = async ({ messages }) => {
    for await (const _ of messages);
    await new Promise(() => undefined);
  };
  const ends: readonly (readonly [
    string,
    SocketHandler,
    number,
    (given: Awaited<ReturnType<typeof edgeOf>>, socket: WebSocket) => void,
  ])[] = [
    [
      'throws at once',
      () => {
        throw new Error('broken');
      },
      1011,
      () => undefined,
    ],
    ['rejects', async () => Promise.reject(new Error('broken')), 1011, () => undefined],
    [
      'closes',
      ({ close }) => {
        close(4001, 'mine');
      },
      4001,
      () => undefined,
    ],
    [
      'closes wrongly',
      ({ close }) => {
        close(1005);
      },
      1011,
      () => undefined,
    ],
    [
      'the plugin stops',
      never,
      1012,
      ({ edge }) => {
        edge.pluginRoutes.unmount('feeds');
      },
    ],
    [
      'the plugin is loaded again',
      never,
      1012,
      ({ edge }) => {
        edge.pluginRoutes.announce('feeds', { routes: [], sockets: [] });
      },
    ],
    [
      'the server stops',
      never,
      1012,
      ({ edge }) => {
        edge.pluginRoutes.closeStreams();
      },
    ],
    [
      'the right is lost',
      never,
      4403,
      ({ edge }) => {
        edge.pluginRoutes.recheck(() => false);
      },
    ],
    [
      'too large a message comes',
      never,
      1009,
      (_given, socket) => {
        socket.send('x'.repeat(pluginSocketMessageBytesMax + 1));
      },
    ],
    [
      'too large a message is sent',
      ({ send }) => {
        send('x'.repeat(pluginSocketMessageBytesMax + 1));
      },
      1011,
      () => undefined,
    ],
    [
      'a value that is not JSON is sent',
      ({ send }) => {
        send(undefined);
      },
      1011,
      () => undefined,
    ],
  ];
  for (const [what, handler, code, act] of ends) {
    let signal: AbortSignal | undefined;
    const given = await edgeOf(t, {
      socket: (socket, request) => {
        ({ signal } = request);
        return handler(socket, request);
      },
    });
    const socket = given.open();
    await once(socket, 'open');
    const closed = closing(socket);
    act(given, socket);
    t.equal((await closed)[0], code, what);
    t.equal(signal?.aborted, true, what);
    t.strictSame(given.edge.pluginRoutes.streams(), [], what);
    if (code === 1011)
      t.match(
        given.edge.lines.filter(({ level }) => level === 'error'),
        [{ message: 'the handler of a plugin socket failed, so the socket is closed', fields: { plugin: 'feeds' } }],
        what,
      );
  }
});

test('a plugin that does not read its messages gets a bounded number, and its socket is closed', async (t) => {
  const never = new Promise<void>(() => undefined);
  const held = withResolvers<PluginSocket>();
  const { clock, open } = await edgeOf(t, {
    socket: async (socket) => {
      held.resolve(socket);
      return never;
    },
  });
  const socket = open();
  await once(socket, 'open');
  for (let count = 0; count < pluginSocketQueuedMessagesMax + 1; count += 1) socket.send('x'.repeat(10_000));
  const plugin = await held.promise;
  const iterator = plugin.messages[Symbol.asyncIterator]();
  t.match(await iterator.next(), { done: false });
  const closed = closing(socket);
  for (let passed = 0; passed <= 2 * pluginSocketUnreadMs && socket.readyState === WebSocket.OPEN; passed += 1_000) {
    clock.advance(1_000);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (passed === 0)
      for (let count = 0; count < 4 * pluginSocketQueuedMessagesMax; count += 1) socket.send('x'.repeat(10_000));
  }
  t.match(await closed, [1013, /does not read/u]);
});

test('a caller that does not read blocks nothing: send returns false, then the socket closes', async (t) => {
  const held = withResolvers<PluginSocket>();
  const { open } = await edgeOf(t, {
    socket: async (socket) => {
      held.resolve(socket);
      await new Promise(() => undefined);
    },
  });
  const socket = open();
  await once(socket, 'open');
  socket.pause();
  const plugin = await held.promise;
  let received = 0;
  while (plugin.send('x'.repeat(100_000))) received += 1;
  t.ok(received > 0 && received < 1_000, `${String(received)} messages were taken`);
  for (let count = 0; count < 100; count += 1) t.notOk(plugin.send('x'.repeat(100_000)));
  socket.resume();
  await plugin.drained();
  t.equal((await closing(socket))[0], 1013);
});

test('a peer that answers no ping is disconnected', async (t) => {
  const { clock, open, edge } = await edgeOf(t, {
    socket: async ({ messages }) => {
      for await (const _ of messages);
    },
  });
  const socket = open();
  await once(socket, 'open');
  socket.pause();
  clock.advance(4 * watchKeepAliveMs);
  t.strictSame(edge.pluginRoutes.streams(), []);
  socket.terminate();
});

test('a socket is refused before the handshake, and only a socket route serves one', async (t) => {
  const { edge, open } = await edgeOf(t, { socket: () => undefined });
  const status = async (headers: Readonly<Record<string, string>>): Promise<number | undefined> => {
    const socket = open(headers);
    const [, response] = (await once(
      socket.on('error', () => undefined),
      'unexpected-response',
    )) as [unknown, { statusCode?: number }];
    return response.statusCode;
  };
  t.equal(await status({ authorization: 'nobody' }), 401, 'not allowed');
  t.equal(await status({ 'sec-fetch-site': 'cross-site' }), 403, "of another site's page");
  const asked = get(edge.url + socketPath, {
    agent: false,
    headers: { authorization: 'admin', connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '7' },
  });
  const [unmade] = (await once(asked, 'response')) as [IncomingMessage];
  t.equal(unmade.resume().statusCode, 400, 'no handshake');
  t.match(
    [(await edge.call(socketPath)).status, (await edge.call(socketPath)).headers.get('upgrade')],
    [400, 'websocket'],
    'asked without an upgrade',
  );
  const posted = await edge.call(socketPath, { method: 'POST' });
  t.match([posted.status, posted.headers.get('allow')], [405, 'GET']);
  edge.pluginRoutes.announce('feeds', {
    routes: [],
    sockets: [{ path: `${base}/feeds/{name}/socket`, handler: () => undefined }],
  });
  t.equal(await status({}), 503, 'announced');
  edge.pluginRoutes.unmount('feeds');
  t.equal(await status({}), 404, 'gone');
});
