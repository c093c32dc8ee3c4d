import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'tap';
import { WebSocket } from 'ws';

import { frameHeader } from '../../../src/http/watch/watch-socket.ts';
import { watchAheadWaitMs, watchClientFrameBytesMax, watchKeepAliveMs } from '../../../src/limits/watches.ts';
import { resetSocket } from '../../support/reset-socket.ts';
import { WatchServer } from '../../support/server/watch-server.ts';

type Event = {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
    readonly reason?: string;
    readonly code?: number;
  };
};

/** A client that keeps its received messages. */
class Client {
  readonly socket: WebSocket;
  readonly texts: string[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  pings = 0;
  #woken: () => void = () => undefined;

  constructor(
    server: WatchServer,
    query = '',
    options: { readonly name?: string; readonly protocols?: readonly string[]; readonly autoPong?: boolean } = {},
  ) {
    this.socket = new WebSocket(
      server.url(query, options.name).replace('http:', 'ws:'),
      [...(options.protocols ?? [])],
      { autoPong: options.autoPong ?? true },
    );
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) throw new Error('a watch sends text');
      this.texts.push(data.toString('utf8'));
      this.#woken();
    });
    this.socket.on('ping', () => {
      this.pings += 1;
      this.#woken();
    });
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString('utf8') };
      this.#woken();
    });
    this.socket.on('error', () => undefined);
  }

  async opened(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  async until(holds: (client: Client) => boolean): Promise<void> {
    while (!holds(this)) {
      if (this.closed !== undefined) throw new Error(`closed with ${String(this.closed.code)} ${this.closed.reason}`);
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
    }
  }

  async closing(): Promise<number> {
    while (this.closed === undefined)
      await new Promise<void>((resolve) => {
        this.#woken = resolve;
      });
    return this.closed.code;
  }

  async events(count: number): Promise<readonly Event[]> {
    await this.until(({ texts }) => texts.length >= count);
    return this.texts.map((text) => JSON.parse(text) as Event);
  }

  async story(count: number): Promise<readonly string[]> {
    return (await this.events(count)).map(
      ({ type, object }) => `${type} ${object.metadata.name ?? '-'}@${object.metadata.resourceVersion ?? ''}`,
    );
  }
}

/** A handshake by hand, to say what no library would. */
async function rawSocket(
  server: WatchServer,
  lines: readonly string[] = [],
): Promise<{ readonly socket: Socket; readonly head: string }> {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  const handshake = [
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...lines,
  ];
  socket.write(`GET ${server.type.path} HTTP/1.1\r\n${handshake.join('\r\n')}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  return { socket, head: head.toString('latin1') };
}

/** Client frames are masked; with a mask of zeros the payload stays readable. */
function clientFrame(opcode: number, payload: Buffer, final = true): Buffer {
  const header =
    payload.length < 126
      ? Buffer.from([0, 0x80 | payload.length])
      : Buffer.from([0, 0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  header[0] = (final ? 0x80 : 0) | opcode;
  return Buffer.concat([header, Buffer.alloc(4), payload]);
}

async function closeCodeOf(socket: Socket): Promise<number> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
  });
  await once(socket, 'close');
  const received = Buffer.concat(chunks);
  const at = received.lastIndexOf(0x88);
  return at === -1 ? 1006 : received.readUInt16BE(at + 2);
}

test('each event is one text message, with the exact bytes of the answer', async (t) => {
  const server = await WatchServer.start(t);
  await server.write('a', { text: 'ä' });
  const client = await new Client(server).opened();
  await client.events(1);
  t.equal(
    client.texts[0],
    `{"type":"ADDED","object":${Buffer.from(server.objects.get(server.type.key, 'a')?.bytes ?? []).toString('utf8')}}`,
  );
  await server.write('a', {});
  await server.write('a', 'deleted');
  t.strictSame(await client.story(3), ['ADDED a@1', 'MODIFIED a@2', 'DELETED a@3']);
});

test('frames of every length class are complete', async (t) => {
  const server = await WatchServer.start(t);
  const client = await new Client(server).opened();
  for (const length of [1, 200, 65_000, 70_000, 700_000]) await server.write('a', { text: 'x'.repeat(length) });
  await client.until(({ texts }) => texts.length === 5);
  t.ok(client.texts.every((text, index) => text.includes(`"resourceVersion":"${String(index + 1)}"`)));
  t.strictSame([...frameHeader(125)], [0x81, 125]);
  t.strictSame([...frameHeader(126)], [0x81, 126, 0, 126]);
  t.strictSame([...frameHeader(65_535)], [0x81, 126, 0xff, 0xff]);
  t.strictSame([...frameHeader(65_536)], [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
});

test('a batch is several messages in one write', async (t) => {
  const server = await WatchServer.start(t);
  const client = await new Client(server).opened();
  for (const name of ['a', 'b', 'c']) await server.writer.write(name, {});
  await server.objects.fold();
  t.strictSame(await client.story(3), ['ADDED a@1', 'ADDED b@2', 'ADDED c@3']);
});

test('a disconnected client resumes with neither gap nor repeat', async (t) => {
  const server = await WatchServer.start(t);
  const first = await new Client(server).opened();
  await server.write('a');
  t.strictSame(await first.story(1), ['ADDED a@1']);
  first.socket.terminate();
  await server.write('a');
  await server.write('b');
  const second = await new Client(server, 'resourceVersion=1').opened();
  await server.write('c');
  t.strictSame(await second.story(3), ['MODIFIED a@2', 'ADDED b@3', 'ADDED c@4']);
});

test('one object is watched by name, before it exists', async (t) => {
  const server = await WatchServer.start(t);
  const client = await new Client(server, '', { name: 'b' }).opened();
  for (const name of ['a', 'b', 'c']) await server.write(name);
  t.strictSame(await client.story(1), ['ADDED b@2']);
});

test('a position ahead of the log gets an ERROR message, then a normal close', async (t) => {
  const server = await WatchServer.start(t);
  const client = await new Client(server, 'resourceVersion=9').opened();
  server.clock.advance(watchAheadWaitMs);
  const [error] = await client.events(1);
  t.match(error, { type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  t.equal(await client.closing(), 1000);
});

test('an invalid watch is answered in HTTP, without an upgrade', async (t) => {
  const server = await WatchServer.start(t);
  for (const [query, status] of [
    ['resourceVersion=x', 400],
    ['sendInitialEvents=true', 422],
  ] as const) {
    const client = new Client(server, query);
    const [, res] = (await once(client.socket, 'unexpected-response')) as [unknown, IncomingMessage];
    t.equal(res.statusCode, status);
    t.match(JSON.parse(await textOf(res)), { kind: 'Status', code: status });
    t.equal(res.headers['x-request-id'], 'r-1');
  }
  t.equal(server.hub.size, 0);
});

test('an invalid handshake is refused', async (t) => {
  const server = await WatchServer.start(t);
  const { head } = await rawSocket(server, ['Sec-WebSocket-Key: short']);
  t.match(head, /^HTTP\/1\.1 400 /u);
  t.equal(server.hub.size, 0);
});

test('only a known subprotocol is confirmed', async (t) => {
  const server = await WatchServer.start(t);
  const known = await new Client(server, '', { protocols: ['other', 'base64.binary.k8s.io'] }).opened();
  t.equal(known.socket.protocol, 'base64.binary.k8s.io');
  const { head } = await rawSocket(server, ['Sec-WebSocket-Protocol: other']);
  t.match(head, /^HTTP\/1\.1 101 /u);
  t.notMatch(head, /sec-websocket-protocol/iu);
});

test('each reason to close has its close code, and an ERROR before it', async (t) => {
  const server = await WatchServer.start(t);
  const ends: readonly (readonly [code: number, what: string, end: () => void, status?: number])[] = [
    [
      4403,
      'rights lost',
      () => {
        server.hub.recheck(() => false);
      },
      403,
    ],
    [
      1012,
      'type gone',
      () => {
        server.hub.closeType(server.type.key);
      },
      503,
    ],
    [
      1000,
      'timed out',
      () => {
        server.clock.advance(6_000);
      },
    ],
    [
      1012,
      'shutting down',
      () => {
        server.hub.closeAll();
      },
    ],
  ];
  for (const [code, what, end, status] of ends) {
    const client = await new Client(server, 'timeoutSeconds=5').opened();
    end();
    t.equal(await client.closing(), code, what);
    const errors = client.texts.map((text) => JSON.parse(text) as Event).filter(({ type }) => type === 'ERROR');
    t.strictSame(
      errors.map(({ object }) => object.code),
      status === undefined ? [] : [status],
      what,
    );
  }
  const refused = new Client(server);
  const [, res] = (await once(refused.socket, 'unexpected-response')) as [unknown, IncomingMessage];
  t.equal(res.statusCode, 503);
  res.resume();
});

test('a silent socket is pinged, and stays open while the peer answers', async (t) => {
  const server = await WatchServer.start(t);
  const client = await new Client(server).opened();
  for (let period = 1; period <= 4; period += 1) {
    const [connection] = server.connections;
    const answered = connection === undefined ? undefined : once(connection, 'data');
    server.clock.advance(watchKeepAliveMs);
    await client.until(({ pings }) => pings === period);
    await answered;
  }
  t.equal(client.closed, undefined);
  t.equal(server.hub.size, 1);
});

test('a peer that answers no ping for two periods is disconnected', async (t) => {
  const server = await WatchServer.start(t);
  const client = await new Client(server, '', { autoPong: false }).opened();
  server.clock.advance(watchKeepAliveMs);
  await client.until(({ pings }) => pings === 1);
  server.clock.advance(2 * watchKeepAliveMs - 2_000);
  t.equal(server.hub.size, 1, 'not yet');
  server.clock.advance(3_000);
  t.equal(await client.closing(), 1006);
  t.equal(server.hub.size, 0);
});

test('client messages are not read, in one frame or in many', async (t) => {
  const server = await WatchServer.start(t);
  const { socket } = await rawSocket(server);
  socket.write(clientFrame(1, Buffer.from('hello')));
  socket.write(clientFrame(2, Buffer.alloc(watchClientFrameBytesMax)));
  socket.write(
    Buffer.concat([
      clientFrame(1, Buffer.from('in '), false),
      clientFrame(0, Buffer.from('two')),
      clientFrame(9, Buffer.from('ping')),
    ]),
  );
  const [pong] = (await once(socket, 'data')) as [Buffer];
  t.same(pong, Buffer.concat([Buffer.from([0x8a, 4]), Buffer.from('ping')]));
  await server.write('a');
  const [frame] = (await once(socket, 'data')) as [Buffer];
  t.equal(frame[0], 0x81, 'and the watch goes on');
  socket.destroy();
});

const violations: Readonly<Record<string, readonly [number, Buffer]>> = {
  'a frame past the bound': [1009, clientFrame(1, Buffer.alloc(watchClientFrameBytesMax + 1, 0x61))],
  'fragments that together pass the bound': [
    1009,
    Buffer.concat([
      clientFrame(1, Buffer.alloc(watchClientFrameBytesMax, 0x61), false),
      clientFrame(0, Buffer.alloc(1, 0x61)),
    ]),
  ],
  'too many fragments': [
    1008,
    Buffer.concat([
      clientFrame(1, Buffer.from('a'), false),
      ...Array.from({ length: 80 }, () => clientFrame(0, Buffer.from('a'), false)),
    ]),
  ],
  'a frame without a mask': [1002, Buffer.from([0x81, 1, 0x61])],
  'an unknown opcode': [1002, clientFrame(5, Buffer.alloc(0))],
  'reserved bits': [1002, Buffer.from([0xf1, 0x80, 0, 0, 0, 0])],
  'a continuation of nothing': [1002, clientFrame(0, Buffer.from('x'))],
  'a fragmented ping': [1002, clientFrame(9, Buffer.alloc(0), false)],
  'a length of 2^63': [1009, Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0])],
  'text that is no UTF-8': [1007, clientFrame(1, Buffer.from([0xff, 0xfe]))],
  'a close with half a code': [1002, clientFrame(8, Buffer.from([3]))],
};

for (const [what, [code, bytes]] of Object.entries(violations)) {
  test(`${what} closes that socket with ${String(code)}, and no other one`, async (t) => {
    const server = await WatchServer.start(t);
    const other = await new Client(server).opened();
    const { socket } = await rawSocket(server);
    const closed = closeCodeOf(socket);
    socket.write(bytes);
    // The end of a connection that the server closes is the client's to acknowledge.
    socket.once('data', () => {
      socket.end(clientFrame(8, Buffer.from([3, 232])));
    });
    t.equal(await closed, code);
    await server.write('a');
    t.strictSame(await other.story(1), ['ADDED a@1']);
    t.equal(server.hub.size, 1);
  });
}

test('half a frame delays no other watcher', async (t) => {
  const server = await WatchServer.start(t);
  const { socket } = await rawSocket(server);
  socket.write(clientFrame(1, Buffer.from('hello')).subarray(0, 7));
  await server.write('a');
  const [frame] = (await once(socket, 'data')) as [Buffer];
  t.equal(frame[0], 0x81);
  // Not `once`: a reset is an error first.
  const closed = new Promise((resolve) => {
    [...server.connections][0]?.once('close', resolve);
  });
  resetSocket(socket);
  await closed;
  t.equal(server.hub.size, 0);
});

test("after the client's close frame only its answer follows", async (t) => {
  const server = await WatchServer.start(t);
  const { socket } = await rawSocket(server);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
  });
  socket.write(clientFrame(8, Buffer.from([3, 232])));
  while (Buffer.concat(chunks).length < 4) await once(socket, 'data');
  await server.write('a');
  if (!socket.closed) await once(socket, 'close');
  t.same(Buffer.concat(chunks), Buffer.from([0x88, 2, 3, 232]));
});

test('a reader that stops is closed with 1013 once it reads again, and others continue', async (t) => {
  const server = await WatchServer.start(t);
  const slow = await new Client(server).opened();
  const quick = await new Client(server).opened();
  slow.socket.pause();
  const text = 'x'.repeat(500_000);
  let writes = 0;
  for (; server.hub.size === 2 && writes < 200; writes += 1) {
    await server.write('a', { text });
    await quick.until(({ texts }) => texts.length === writes + 1);
  }
  t.equal(server.hub.size, 1, `after ${String(writes)} writes`);
  await server.write('z');
  await quick.until(({ texts }) => texts.length === writes + 1);
  slow.socket.resume();
  t.equal(await slow.closing(), 1013);
  t.match(slow.closed?.reason, /resume/u);
  const versions = slow.texts.map((event) => (JSON.parse(event) as Event).object.metadata.resourceVersion);
  t.strictSame(
    versions,
    versions.map((_, index) => String(index + 1)),
    'the received events are a prefix',
  );

  const resumed = await new Client(server, `resourceVersion=${String(versions.length)}`).opened();
  await resumed.until(({ texts }) => texts.at(-1)?.includes('"name":"z"') === true);
  t.equal(resumed.texts.length, writes + 1 - versions.length);
});
