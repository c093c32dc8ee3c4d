import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls, TLSSocket, type ConnectionOptions } from 'node:tls';
import { test, type Test } from 'tap';

import { headersTimeoutMs, lingerMs, requestTurnMs } from '../../../src/limits/requests.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { selfSigned } from '../../support/server/self-signed.ts';
import { readAnswers } from '../connections/wire.ts';
import { startEdge } from '../edge-server.ts';

const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const certificate = selfSigned();

async function given(t: Test) {
  const clock = new FakeClock();
  const edge = await startEdge({ clock, certificate });
  t.teardown(async () => edge.stop());
  return { edge, clock };
}

function open(port: number): Socket {
  return connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
}

async function openTls(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket.on('error', () => undefined);
}

/** All that comes until the connection is closed. */
async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
  return text;
}

async function answered(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1');
  socket.write(request);
  while (readAnswers(text).answers.length === 0) text += String((await once(socket, 'data'))[0]);
  socket.removeAllListeners('data');
  return text;
}

/** Resolves once the server has accepted `count` connections. */
async function accepted({ http: { server } }: Awaited<ReturnType<typeof startEdge>>, count: number): Promise<void> {
  const open = async (): Promise<number> =>
    new Promise((resolve) => {
      server.getConnections((_error, connections) => {
        resolve(connections);
      });
    });
  while ((await open()) !== count)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

test('what is not TLS gets a 400 that says so, whatever it is', async (t) => {
  const { edge, clock } = await given(t);
  for (const first of [request, 'DELETE / HTTP/1.1\r\n', 'x', '\r\n', '\x80\x2e\x01\x03\x01', '\0'.repeat(100_000)]) {
    const socket = open(edge.port);
    socket.write(first, 'latin1');
    const { answers, rest } = readAnswers(await textOf(socket));
    t.equal(rest, '');
    t.match(answers, [{ status: 400, body: /"this port accepts HTTPS only: use https:\/\/ in the URL"/u }]);
    t.equal(answers[0]?.headers.get('connection'), 'close');
  }
  const silent = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
  silent.write(request);
  await once(silent, 'data');
  clock.advance(lingerMs);
  await accepted(edge, 0);
  t.pass('a peer that stays after the answer is cut off');
  silent.destroy();
});

test('a connection that does not finish its handshake is closed when late headers are', async (t) => {
  const { edge, clock } = await given(t);
  const hello = Buffer.from([22, 3, 1, 2, 0]);
  const sockets = [Buffer.alloc(0), hello.subarray(0, 1), hello].map((bytes) => {
    const socket = open(edge.port);
    socket.write(bytes);
    return socket;
  });
  await accepted(edge, sockets.length);
  clock.advance(headersTimeoutMs - 1);
  await accepted(edge, sockets.length);
  const closed = sockets.map(textOf);
  clock.advance(1);
  t.strictSame(await Promise.all(closed), ['', '', '']);
  t.equal(clock.timers, 0);
});

test('a connection after its handshake outlives that time', async (t) => {
  const { edge, clock } = await given(t);
  const socket = await openTls(edge.port);
  await answered(socket);
  clock.advance(headersTimeoutMs);
  t.match(await answered(socket), /^HTTP\/1\.1 200/u);
  t.equal(clock.timers, 0);
  socket.destroy();
});

test('TLS 1.2 and 1.3 are spoken, and nothing older', async (t) => {
  const { edge } = await given(t);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await openTls(edge.port, {
      minVersion: version,
      maxVersion: version,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    t.strictSame([socket.getProtocol(), socket.alpnProtocol], [version, 'http/1.1']);
    socket.destroy();
  }
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
  await t.rejects(openTls(edge.port, old), /protocol|alert/iu);
});

test('a stop closes connections without a request, at any step of a handshake', async (t) => {
  const { edge } = await given(t);
  const sockets = [open(edge.port), open(edge.port), await openTls(edge.port), await openTls(edge.port)];
  sockets[1]?.write(Buffer.from([22]));
  await answered(sockets[3]!);
  await accepted(edge, sockets.length);
  const closed = Promise.all(sockets.map(textOf));
  const stopped = edge.http.close(60_000);
  await closed;
  await stopped;
  t.notOk(edge.lines.some(({ level }) => level === 'warn'));
});

test('a new certificate is for new connections, and cuts none', async (t) => {
  const { edge } = await given(t);
  const before = await openTls(edge.port);
  const other = selfSigned();
  edge.http.useCertificate(other);
  t.match(await answered(before), /^HTTP\/1\.1 200/u);
  const after = await openTls(edge.port);
  t.not(after.getPeerCertificate().fingerprint256, before.getPeerCertificate().fingerprint256);
  const resumed = await openTls(edge.port, {
    ca: other.certificate,
    servername: 'localhost',
    rejectUnauthorized: true,
  });
  t.ok(resumed.authorized);
  for (const socket of [before, after, resumed]) socket.destroy();
});

test('a client cannot begin a second handshake on its connection', async (t) => {
  const { edge } = await given(t);
  const socket = await openTls(edge.port, { maxVersion: 'TLSv1.2' });
  t.match(await answered(socket), /^HTTP\/1\.1 200/u);
  const refused = once(socket, 'error') as Promise<[NodeJS.ErrnoException]>;
  socket.renegotiate({}, () => undefined);
  t.match((await refused)[0], { code: 'ERR_SSL_NO_RENEGOTIATION' });
  const other = await openTls(edge.port);
  t.match(await answered(other), /^HTTP\/1\.1 200/u, 'others are served');
  other.destroy();
});

test('handshakes that begin in one turn take turns, and all end', async (t) => {
  const clock = new FakeClock();
  const edge = await startEdge({ clock, certificate });
  t.teardown(async () => edge.stop());
  const count = 24;
  const plain = Array.from({ length: count }, () => open(edge.port));
  await accepted(edge, count);
  // Each look at the clock takes as long as a turn has for handshakes.
  let now = 0;
  clock.monotonic = () => (now += requestTurnMs);
  let [secured, most] = [0, 0];
  edge.http.server.prependListener('connection', (socket) => {
    if (socket instanceof TLSSocket) secured += 1;
  });
  const clients = plain.map((socket) => connectTls({ socket, rejectUnauthorized: false }).on('error', () => undefined));
  for (let before = 0; secured < count; before = secured) {
    await nextTurn();
    most = Math.max(most, secured - before);
  }
  t.ok(most <= 4, `${String(most)} in one turn`);
  for (const client of clients) client.destroy();
});
