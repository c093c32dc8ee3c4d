import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test, type Test } from 'tap';

import type { HttpDependencies } from '../../../src/http/http-server.ts';
import { connectionsCheckMs, lingerMs } from '../../../src/limits/requests.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { widgetType } from '../../support/watched-type.ts';
import { startEdge } from '../edge-server.ts';
import { RawConnection, readAnswers } from './wire.ts';

const type = widgetType();
const head = (target: string, ...more: readonly string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: x', 'Authorization: admin', ...more, '', ''].join('\r\n');
const offer = ['Connection: Upgrade', 'Upgrade: websocket'];

async function given(t: Test, watch?: HttpDependencies['watch']) {
  const registry = new TypeRegistry();
  registry.register(type);
  registry.serve(type.key);
  const clock = new FakeClock();
  const edge = await startEdge({ registry, clock, ...(watch === undefined ? {} : { watch }) });
  t.teardown(async () => edge.stop());
  return { edge, clock, connection: new RawConnection(edge.port) };
}

/** Resolves once the server has no connection any more. */
async function noneLeft({ http: { server } }: Awaited<ReturnType<typeof startEdge>>): Promise<void> {
  const count = async (): Promise<number> =>
    new Promise((resolve) => {
      server.getConnections((_error, connections) => {
        resolve(connections);
      });
    });
  while ((await count()) > 0)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

test('an error thrown while serving a connection ends that connection only', async (t) => {
  const { edge, connection } = await given(t, {
    open: () => undefined,
    upgrade: () => {
      throw new Error('broken');
    },
  });
  const fail = (): never => {
    throw new Error('no');
  };
  const broken = (): Socket => Object.defineProperty(new Socket(), 'writable', { get: fail });
  const sockets = [broken(), broken(), broken()];
  edge.http.server.emit('clientError', new Error('malformed'), sockets[0]);
  for (const [index, event] of ['upgrade', 'connect'].entries()) {
    const socket = sockets[index + 1]!;
    socket.on = fail;
    edge.http.server.emit(event, { socket }, socket, Buffer.alloc(0));
  }
  t.ok(sockets.every(({ destroyed }) => destroyed));
  t.equal(edge.lines.filter(({ level }) => level === 'error').length, 3);
  await connection.send(head(type.path, ...offer));
  await connection.closed();
  await noneLeft(edge);
});

test('a violation of HTTP is answered once, after the answers before it', async (t) => {
  for (const garbage of ['GARBAGE\r\n\r\n', 'GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n']) {
    const { edge, connection } = await given(t);
    let release: () => void = () => undefined;
    const handler = async () =>
      new Promise<{ body: string }>((resolve) => {
        release = () => {
          resolve({ body: 'slow' });
        };
      });
    edge.pluginRoutes.mount('slow', { sockets: [], routes: [{ method: 'GET', path: '/apis/g/v1/slow', handler }] });
    await connection.send(head('/apis/g/v1/slow'), garbage, garbage, garbage);
    for (let turn = 0; turn < 20; turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    t.equal(connection.text, '', 'nothing before the first answer');
    release();
    await connection.closed();
    const { answers, rest } = readAnswers(connection.text);
    t.strictSame([answers.map(({ status }) => status), rest], [[200, 400], '']);
    await noneLeft(edge);
  }
});

test('garbage in a body gets the answer of its request, or ends a connection that is answered already', async (t) => {
  const { edge, connection } = await given(t);
  const post = ['POST /nowhere HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', '', ''].join('\r\n');
  await connection.send(post);
  await connection.until((text) => readAnswers(text).answers.length === 1);
  await connection.send('zz\r\n');
  await connection.closed();
  t.strictSame(
    readAnswers(connection.text).answers.map(({ status }) => status),
    [401],
    'one request, one answer',
  );
  await noneLeft(edge);
});

test('a peer that stays connected after its last answer is disconnected', async (t) => {
  const { edge, clock } = await given(t);
  const socket = new RawConnection(edge.port);
  socket.socket.removeAllListeners('end');
  await socket.send('GARBAGE\r\n\r\n');
  await socket.until((text) => readAnswers(text).answers.length === 1);
  clock.advance(lingerMs);
  await noneLeft(edge);
  socket.socket.destroy();
});

test('watches that wait for a slot end with their connection', async (t) => {
  let [opened, closed] = [0, 0];
  const watch = {
    open: (_request: unknown, _req: IncomingMessage, res: ServerResponse) => {
      opened += 1;
      res.writeHead(200).flushHeaders();
      res.once('close', () => {
        closed += 1;
      });
    },
    upgrade: () => undefined,
  };
  const { edge, connection } = await given(t, watch);
  await connection.send(head(`${type.path}?watch=true`).repeat(5));
  while (opened < 5)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  connection.socket.destroy();
  await noneLeft(edge);
  while (closed < 5)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  t.equal(closed, 5);
});

test('a request that arrives too slowly ends at the next check, at most a second later', async (t) => {
  const { edge } = await given(t);
  const { server } = edge.http;
  const symbol = Object.getOwnPropertySymbols(server).find(({ description = '' }) =>
    description.endsWith('connectionsCheckingInterval'),
  );
  t.match(symbol === undefined ? undefined : Reflect.get(server, symbol), { _repeat: connectionsCheckMs });
  Object.assign(server, { headersTimeout: 50, requestTimeout: 50 });
  const body = ['POST /nowhere HTTP/1.1', 'Host: x', 'Content-Length: 9', '', 'half'].join('\r\n');
  for (const [bytes, statuses] of [
    ['GET / HTTP/1.1\r\nHo', [408]],
    ['', [408]],
    [body, [401]],
  ] as const) {
    const connection = new RawConnection(edge.port);
    await connection.send(bytes);
    await connection.closed();
    t.strictSame(
      readAnswers(connection.text).answers.map(({ status }) => status),
      statuses,
      bytes,
    );
  }
  await noneLeft(edge);
});

test('a declined upgrade has no effect on its connection', async (t) => {
  const { edge, connection } = await given(t);
  edge.pluginRoutes.mount('echo', {
    sockets: [],
    routes: [
      { method: 'POST', path: '/apis/g/v1/echo', handler: ({ body }: { readonly body?: unknown }) => ({ body }) },
    ],
  });
  const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];
  const headers = ['Host: x', 'Authorization: admin', ...h2c, 'Content-Length: 5'];
  const post = ['POST /apis/g/v1/echo HTTP/1.1', ...headers, '', ''];
  for (let asked = 1; asked <= 4; asked += 1) {
    // As Java's client sends it: the head first, the body when it comes to it.
    await connection.send(post.join('\r\n'), `1234${String(asked)}`);
    await connection.until((text) => readAnswers(text).answers.length === asked);
    t.equal(readAnswers(connection.text).answers.at(-1)?.body, `1234${String(asked)}`);
  }
  t.notOk(connection.isClosed);
  await edge.http.close(60_000);
  await connection.closed();
});
