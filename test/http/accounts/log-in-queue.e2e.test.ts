import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test, type Test } from 'tap';

import { noHashCost, Passwords } from '../../../src/auth/passwords/password.ts';
import { passwordHashesWaitingPerNetworkMax } from '../../../src/limits/access.ts';
import { resetSocket } from '../../support/reset-socket.ts';
import { adminAuthorization, startTestServer, testPassword } from '../../support/server/start-server.ts';

/** Hashes that wait for the test once it holds them, counted. */
class HeldPasswords extends Passwords {
  /** The passwords in the order in which their verifications began. */
  readonly begun: string[] = [];
  readonly #ends = new Set<() => void>();
  #isHeld = false;

  constructor() {
    super(noHashCost);
  }

  get verified(): number {
    return this.begun.length;
  }

  override async verify(password: string, stored: string | undefined): Promise<boolean> {
    this.begun.push(password);
    if (this.#isHeld)
      await new Promise<void>((resolve) => {
        this.#ends.add(resolve);
      });
    return super.verify(password, stored);
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const end of this.#ends) end();
  }

  /** Resolves once so many wait. */
  async waiting(count: number): Promise<void> {
    while (this.turns.waiting !== count)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  }
}

type LogIn = { readonly username: string; readonly password: string };

async function given(t: Test) {
  const passwords = new HeldPasswords();
  const server = await startTestServer({ passwords });
  t.teardown(async () => {
    passwords.release();
    await server.remove();
  });
  const jane = { metadata: { name: 'jane' }, spec: { password: 'a secret of jane' } };
  t.equal((await server.call('/api/v1alpha1/users', { method: 'POST', body: jane })).status, 201);
  const port = Number(new URL(server.url).port);
  const textOf = (logIn: LogIn): string => {
    const body = JSON.stringify(logIn);
    const head = `Host: x\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}`;
    return `POST /login HTTP/1.1\r\n${head}\r\n\r\n${body}`;
  };
  const send = (from: string, text: string): Socket =>
    connect({ port, host: '127.0.0.1', localAddress: from })
      .on('error', () => undefined)
      .on('connect', function write(this: Socket) {
        this.write(text);
      });
  const logIn = async (from: string, body: LogIn): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const to = { port, host: '127.0.0.1', localAddress: from, method: 'POST', path: '/login' };
      const req = request({ ...to, agent: false, headers }).on('error', reject);
      req.on('response', (res) => {
        res.resume().on('end', () => {
          resolve(res.statusCode ?? 0);
        });
      });
      req.end(JSON.stringify(body));
    });
  /** Both hashes are under way for others, so that what comes waits. */
  const occupy = async (): Promise<void> => {
    passwords.hold();
    const before = passwords.verified;
    for (const name of ['one', 'two']) send('127.0.0.9', textOf({ username: name, password: 'x' }));
    while (passwords.verified < before + 2)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  };
  return { passwords, server, textOf, send, logIn, occupy };
}

const jane: LogIn = { username: 'jane', password: 'a secret of jane' };
const others = Array.from({ length: 20 }, (_, index) => ({ username: `nobody${String(index)}`, password: 'x' }));

test('requests whose connection closes leave the queue, on every path into it', async (t) => {
  const { passwords, textOf, send, logIn, occupy } = await given(t);
  await occupy();
  const basic = (place: number): string => {
    const authorization = `Basic ${Buffer.from(`nobody${String(place)}:x`).toString('base64')}`;
    return `GET /apis HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`;
  };
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  const webSocket = `Connection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n`;
  const ways: Readonly<Record<string, readonly string[]>> = {
    'each on its own': others.map(textOf),
    'one behind the other': [others.map(textOf).join('')],
    'by Basic': others.map((_, index) => basic(index)),
    'by Basic, one behind the other': [others.map((_, index) => basic(index)).join('')],
    'as WebSockets': others.map((_, index) => basic(index).replace('\r\n\r\n', `\r\n${webSocket}\r\n`)),
    'as events': others.map((_, index) => basic(index).replace('\r\n\r\n', '\r\nAccept: text/event-stream\r\n\r\n')),
  };
  const leavings = {
    end: (socket: Socket) => socket.end(),
    destroy: (socket: Socket) => socket.destroy(),
    reset: resetSocket,
  };
  for (const [way, texts] of Object.entries(ways)) {
    for (const [leave, closed] of Object.entries(leavings)) {
      const sockets = texts.map((text) => send('127.0.0.2', text));
      await passwords.waiting(others.length);
      for (const socket of sockets) closed(socket);
      await passwords.waiting(0);
      t.pass(`${way}: ${leave}`);
    }
  }
  const answer = logIn('127.0.0.2', jane);
  await passwords.waiting(1);
  passwords.release();
  t.equal(await answer, 200);
});

test('a password change leaves the queue when its connection closes, and writes nothing', async (t) => {
  const { passwords, server, send, occupy } = await given(t);
  const body = JSON.stringify({ spec: { password: 'another secret of jane' } });
  const head = [
    'Host: x',
    `Authorization: ${adminAuthorization}`,
    'Content-Type: application/merge-patch+json',
    `Content-Length: ${String(body.length)}`,
  ].join('\r\n');
  await occupy();
  const socket = send('127.0.0.1', `PATCH /api/v1alpha1/users/jane HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  await passwords.waiting(1);
  socket.destroy();
  await passwords.waiting(0);
  passwords.release();
  const answer = await server.call('/api/v1alpha1/users/jane');
  const { metadata } = (await answer.json()) as { readonly metadata: { readonly version: number } };
  t.equal(metadata.version, 0);
});

test('a new password beyond the bound of the queue is 429, and nothing is written', async (t) => {
  const { passwords, server, occupy } = await given(t);
  const users = '/api/v1alpha1/users';
  const make = async (name: string): Promise<Response> =>
    server.call(users, { method: 'POST', body: { metadata: { name }, spec: { password: `a secret of ${name}` } } });
  await occupy();
  const names = Array.from({ length: passwordHashesWaitingPerNetworkMax }, (_, index) => `user${String(index)}`);
  const made = names.map(make);
  await passwords.waiting(names.length);
  const refused = await make('late');
  t.match([refused.status, Number(refused.headers.get('retry-after')) >= 1], [429, true]);
  t.match(await refused.json(), { message: /too many password hashes are queued/u });
  passwords.release();
  t.strictSame(new Set((await Promise.all(made)).map(({ status }) => status)), new Set([201]));
  t.equal((await server.call(`${users}/late`)).status, 404);
});

test('equal simultaneous log-ins share one hash, and each gets a session', async (t) => {
  const { passwords, server, logIn, occupy } = await given(t);
  await occupy();
  const before = passwords.verified;
  const answers = Array.from({ length: 40 }, () => logIn('127.0.0.3', jane));
  await passwords.waiting(1);
  passwords.release();
  t.strictSame(new Set(await Promise.all(answers)), new Set([200]));
  t.equal(passwords.verified, before + 1);
  const sessions = await server.call('/api/v1alpha1/sessions?limit=500');
  const { items } = (await sessions.json()) as { readonly items: readonly unknown[] };
  t.equal(items.length, 40);
});

test('a first log-in precedes networks that retry, and a known user precedes most others', async (t) => {
  const { passwords, textOf, send, logIn, occupy } = await given(t);
  t.equal(await logIn('127.0.0.4', jane), 200);
  const addresses = Array.from({ length: 30 }, (_, index) => `127.0.1.${String(index + 1)}`);
  const failing = addresses.map(async (from) => logIn(from, { username: `nobody at ${from}`, password: 'x' }));
  t.strictSame(new Set(await Promise.all(failing)), new Set([401]));
  await occupy();
  for (const from of addresses) {
    for (const name of ['one', 'two']) send(from, textOf({ username: `${name} at ${from}`, password: 'x' }));
  }
  await passwords.waiting(60);
  const first = logIn('127.0.0.5', { username: 'admin', password: testPassword });
  const known = logIn('127.0.0.4', { username: 'jane', password: 'wrong' });
  await passwords.waiting(62);
  const before = passwords.verified;
  passwords.release();
  t.equal(await first, 200);
  t.equal(await known, 401);
  await passwords.waiting(0);
  const begun = passwords.begun.slice(before);
  const [firstAt, knownAt] = [begun.indexOf(testPassword), begun.indexOf('wrong')];
  t.ok(firstAt >= 0 && firstAt < 4, `the first log-in was number ${String(firstAt)} of 62`);
  t.ok(knownAt >= 0 && knownAt < 4, `the known user was number ${String(knownAt)} of 62`);
});

test('a full queue answers 429 at once, with a Retry-After', async (t) => {
  const { passwords, textOf, send, occupy, server } = await given(t);
  await occupy();
  for (let index = 0; index < 64; index += 1) {
    send(`127.0.2.${String(index + 1)}`, textOf({ username: `nobody${String(index)}`, password: 'x' }));
  }
  await passwords.waiting(64);
  const body = JSON.stringify({ username: 'nobody', password: 'x' });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/login`, { method: 'POST', headers, body });
  t.match([answer.status, Number(answer.headers.get('retry-after')) >= 1], [429, true]);
});
