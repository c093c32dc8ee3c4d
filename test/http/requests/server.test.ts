import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { test } from 'tap';

import { systemClock } from '../../../src/base/clock.ts';
import { snapshotHoldMsMax, snapshotSlotsMax, snapshotsMax } from '../../../src/limits/lists.ts';
import { logPosition } from '../../../src/log/log.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { SnapshotsExhaustedError, type ListPage, type ObjectReader } from '../../../src/read/objects.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { MemoryObjects } from '../../support/memory/memory-objects.ts';
import { widgetType } from '../../support/watched-type.ts';
import { startEdge } from '../edge-server.ts';

const type = widgetType();

function servedRegistry(): TypeRegistry {
  const registry = new TypeRegistry();
  registry.register(type);
  registry.serve(type.key);
  return registry;
}

/** A reader whose lists are streams of `slices`, and which counts the open ones. */
class StreamingReader extends MemoryObjects {
  open = 0;
  mostOpen = 0;
  readonly #slice: Uint8Array;
  readonly #slices: number;

  constructor(slice: Uint8Array, slices: number) {
    super(new MemoryLog(), systemClock, []);
    this.#slice = slice;
    this.#slices = slices;
  }

  override list(): ListPage {
    const items = (): AsyncIterable<Uint8Array> => {
      if (this.open >= snapshotsMax) throw new SnapshotsExhaustedError(this.open);
      this.open += 1;
      this.mostOpen = Math.max(this.mostOpen, this.open);
      return this.#items();
    };
    return {
      position: logPosition(1n),
      total: this.#slices,
      count: this.#slices,
      next: undefined,
      remaining: 0,
      items,
    };
  }

  async *#items(): AsyncGenerator<Uint8Array> {
    try {
      for (let slice = 0; slice < this.#slices; slice += 1) yield await Promise.resolve(this.#slice);
    } finally {
      this.open -= 1;
    }
  }
}

test('a type with indexes under construction answers 503, and a removed one 404', async (t) => {
  const registry = new TypeRegistry();
  registry.register(type);
  const edge = await startEdge({ registry });
  t.teardown(() => edge.stop());
  for (const path of [type.path, `${type.path}/x`, `${type.path}?watch=true`]) {
    const response = await edge.call(path);
    t.match(
      [response.status, response.headers.get('retry-after'), await response.json()],
      [503, '1', { reason: 'ServiceUnavailable' }],
      path,
    );
  }
  t.match(await (await edge.call('/apis')).json(), { groups: [] }, 'discovery names the served types');
  registry.serve(type.key);
  t.equal((await edge.call(type.path)).status, 200);
  registry.remove(type.key);
  t.equal((await edge.call(type.path)).status, 404);
});

test('an unready server names the reason', async (t) => {
  const reasons = ['read models are catching up'];
  const edge = await startEdge({ readiness: () => reasons });
  t.teardown(() => edge.stop());
  const response = await edge.call('/readyz');
  t.match([response.status, await response.text()], [503, 'not ready\n- read models are catching up\n']);
  reasons.pop();
  t.equal((await edge.call('/readyz')).status, 200);
  t.equal((await edge.call('/livez')).status, 200);
});

test("an unexpected error is 500, with its detail only in the log under the request's id", async (t) => {
  const reader = new MemoryObjects(new MemoryLog(), systemClock, []);
  reader.get = () => {
    throw new Error('secret detail');
  };
  const edge = await startEdge({ registry: servedRegistry(), reader });
  t.teardown(() => edge.stop());
  const response = await edge.call(`${type.path}/x`, { headers: { 'x-request-id': 'my-id' } });
  const text = await response.text();
  t.match([response.status, JSON.parse(text)], [500, { reason: 'InternalError', requestId: 'my-id' }]);
  t.notOk(text.includes('secret'));
  const [line] = edge.lines;
  t.match(line, { level: 'error', fields: { requestId: 'my-id', error: /secret detail/u } });
});

test('a watch reaches its endpoint by all three transports', async (t) => {
  const edge = await startEdge({ registry: servedRegistry() });
  t.teardown(() => edge.stop());
  t.equal(await (await edge.call(`${type.path}?watch=true`)).text(), 'open');
  t.equal(await (await edge.call(`${type.path}/x?watch=1`)).text(), 'open');
  t.equal(await (await edge.call(type.path, { headers: { accept: 'text/event-stream' } })).text(), 'open');
  t.equal(((await (await edge.call(`${type.path}?watch=false`)).json()) as { kind: string }).kind, 'WidgetList');
  const upgraded = await new Promise<string>((resolve) => {
    let answer = '';
    const socket = connect(edge.port, '127.0.0.1', () => {
      socket.write(
        `GET ${type.path} HTTP/1.1\r\nHost: x\r\nAuthorization: admin\r\nConnection: Upgrade\r\n` +
          'Upgrade: websocket\r\n\r\n',
      );
    });
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        answer += chunk;
      })
      .on('close', () => {
        resolve(answer);
      });
  });
  t.equal(upgraded, 'upgraded');
});

test('streamed lists hold at most as many snapshots as the limit', async (t) => {
  const reader = new StreamingReader(Buffer.from('{"a":1}'), 3);
  const edge = await startEdge({ registry: servedRegistry(), reader });
  t.teardown(() => edge.stop());
  const answers = await Promise.all(
    Array.from(
      { length: snapshotsMax * 2 },
      async () => (await edge.call(type.path)).json() as Promise<{ items: unknown[] }>,
    ),
  );
  t.ok(answers.every(({ items }) => items.length === 3));
  t.ok(reader.mostOpen <= snapshotsMax);
  t.equal(reader.open, 0);
});

test('a long list is refused with a retry delay while watches hold every snapshot', async (t) => {
  const reader = new StreamingReader(Buffer.from('{"a":1}'), 3);
  const edge = await startEdge({ registry: servedRegistry(), reader });
  t.teardown(() => edge.stop());
  reader.open = snapshotsMax;
  const response = await edge.call(type.path);
  t.match(
    [response.status, response.headers.get('retry-after'), await response.json()],
    [429, '1', { reason: 'TooManyRequests' }],
  );
  reader.open = 0;
  t.equal((await edge.call(type.path)).status, 200);
});

test('a list that fits one answer takes no snapshot slot', async (t) => {
  const reader = new MemoryObjects(new MemoryLog(), systemClock, []);
  const edge = await startEdge({ registry: servedRegistry(), reader });
  t.teardown(() => edge.stop());
  const places = Array.from({ length: snapshotSlotsMax }, (_, index) =>
    reader.snapshots.tryTake({ user: `u${String(index)}`, address: `a${String(index)}` }),
  );
  t.ok(places.every((slot) => slot !== undefined));
  t.equal(reader.snapshots.tryTake({ user: 'admin', address: '127.0.0.1' }), undefined, 'all are taken');
  reader.snapshots.take = async () => Promise.resolve(undefined);
  t.match(await (await edge.call(type.path)).json(), { kind: 'WidgetList', items: [] });
  t.equal(reader.snapshots.held, snapshotSlotsMax);
});

test('a reader too slow for its snapshot is disconnected, and one that leaves releases it', async (t) => {
  const clock = new FakeClock();
  const reader: ObjectReader & StreamingReader = new StreamingReader(Buffer.alloc(1_048_576, '1'), 1_000);
  const edge = await startEdge({ registry: servedRegistry(), reader, clock });
  t.teardown(() => edge.stop());
  const slow = connect(edge.port, '127.0.0.1', () => {
    slow.write(`GET ${type.path} HTTP/1.1\r\nHost: x\r\nAuthorization: admin\r\n\r\n`);
  });
  await new Promise<void>((resolve) => {
    slow.once('data', () => {
      slow.pause();
      resolve();
    });
  });
  t.equal(reader.open, 1);
  const cut = new Promise<void>((resolve) => {
    slow
      .once('close', () => {
        resolve();
      })
      .on('error', () => undefined);
  });
  clock.advance(snapshotHoldMsMax);
  slow.resume();
  await cut;
  t.match(edge.lines, [{ level: 'warn', message: /took too long/u }]);
  const leaving = new AbortController();
  const response = await edge.call(type.path, { signal: leaving.signal });
  t.equal(response.status, 200);
  leaving.abort();
  for (let turn = 0; turn < 10_000 && reader.open > 0; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  t.equal(reader.open, 0);
});

test('closing completes requests in flight, and disconnects the rest', async (t) => {
  const registry = servedRegistry();
  let called: (release: () => void) => void = () => undefined;
  const calling = new Promise<() => void>((resolve) => {
    called = resolve;
  });
  const watch = {
    open: () => undefined,
    upgrade: (_request: unknown, _req: unknown, socket: Duplex) => {
      socket.write('open');
    },
  };
  const edge = await startEdge({ registry, clock: systemClock, watch });
  edge.pluginRoutes.mount('slow', {
    sockets: [],
    routes: [
      {
        method: 'GET',
        path: '/apis/g/v1/slow/{how}',
        handler: async ({ params }) =>
          new Promise((resolve) => {
            if (params['how'] === 'soon')
              called(() => {
                resolve({ body: 'done' });
              });
          }),
      },
    ],
  });
  const soon = edge.call('/apis/g/v1/slow/soon');
  const never = edge.call('/apis/g/v1/slow/never').catch((error: unknown) => error);
  // A watch that left HTTP and does not end.
  const watcher = connect(edge.port, '127.0.0.1', () => {
    watcher.write(
      `GET ${type.path} HTTP/1.1\r\nHost: x\r\nAuthorization: admin\r\nConnection: Upgrade\r\n` +
        'Upgrade: websocket\r\n\r\n',
    );
  });
  await new Promise<void>((resolve) => {
    watcher
      .once('data', () => {
        resolve();
      })
      .on('error', () => undefined);
  });
  const release = await calling;
  const closed = edge.http.close(200);
  release();
  t.equal(await (await soon).json(), 'done');
  await t.rejects(fetch(`${edge.url}/healthz`), 'nothing new is accepted');
  await closed;
  t.type(await never, Error);
  t.equal(edge.lines.at(-1)?.level, 'warn');
});

test('a silent connection does not keep the server from closing', async (t) => {
  const edge = await startEdge({ registry: servedRegistry(), clock: new FakeClock() });
  const silent = connect(edge.port, '127.0.0.1');
  const ended = new Promise<void>((resolve) => {
    silent
      .once('close', () => {
        resolve();
      })
      .on('error', () => undefined);
  });
  t.equal((await edge.call('/healthz')).status, 200, 'by then it is known there, too');
  await edge.http.close(60_000);
  await ended;
  t.strictSame(
    edge.lines.filter(({ level }) => level === 'warn'),
    [],
  );
});
