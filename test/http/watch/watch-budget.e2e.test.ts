/** Watchers that read nothing, at a whole server with small bounds. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test, type Test } from 'tap';

import type { OutboxBounds } from '../../../src/watch/outbox.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../../support/server/start-server.ts';

const widgets = '/apis/example.com/v1alpha1/widgets';
const mebibyte = 1_048_576;
const objectBytes = 200_000;
/** The system takes some of what a watcher does not read, before it counts as unread. */
const writesMax = 400;

type Seen = {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
};

async function served(t: Test, streamBounds: OutboxBounds) {
  const server = await startTestServer({ streamBounds });
  t.teardown(async () => server.remove());
  const administration = new Administration(server.url);
  await administration.role('watches-widgets', {
    rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['watch', 'list', 'get'] }],
  });
  for (const user of ['bob', 'dave']) await administration.user(user);
  await administration.bind('watch-all', 'watches-widgets', 'bob', 'dave');
  let written = 0;
  return {
    server,
    write: async (bytes = objectBytes): Promise<void> => {
      written += 1;
      const response = await server.call(widgets, {
        method: 'POST',
        body: {
          metadata: { name: `w${String(written).padStart(4, '0')}`, annotations: { filling: 'x'.repeat(bytes) } },
          spec: { title: 'W', size: 1 },
        },
      });
      if (response.status !== 201) throw new Error(await response.text());
      await response.arrayBuffer();
    },
    names: () => Array.from({ length: written }, (_, index) => `w${String(index + 1).padStart(4, '0')}`),
  };
}

async function position(server: TestServer): Promise<string> {
  const list = (await (await server.call(`${widgets}?limit=1`)).json()) as {
    readonly metadata: { readonly resourceVersion: string };
  };
  return list.metadata.resourceVersion;
}

async function metric(server: TestServer, name: string): Promise<number> {
  const text = await (await server.call('/metrics')).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'mu').exec(text)?.[1]);
}

const watchers = async (server: TestServer): Promise<number> => metric(server, 'ledgerplane_watchers');
const unread = async (server: TestServer): Promise<number> => metric(server, 'ledgerplane_stream_buffer_bytes');

/** A watch that is not read. */
async function watch(server: TestServer, user: string, resourceVersion: string): Promise<IncomingMessage> {
  const headers = user === 'admin' ? { authorization: adminAuthorization } : as(user);
  const [response] = (await once(
    get(`${server.url}${widgets}?watch=true&resourceVersion=${resourceVersion}`, { headers, agent: false }),
    'response',
  )) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(String(response.statusCode));
  response.pause();
  return response;
}

/** Reads until `isEnough` or the connection's end: whole events only. */
async function read(response: IncomingMessage, isEnough: (seen: readonly Seen[]) => boolean): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  let rest = '';
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      seen.push(...lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Seen));
      if (isEnough(seen)) break;
    }
  } catch {
    // It was cut off within an event.
  }
  return seen;
}

const namesIn = (seen: readonly Seen[]): readonly string[] => seen.map(({ object: { metadata } }) => metadata.name);

for (const [title, users, bounds] of [
  ['of a user', ['bob', 'bob', 'dave'], { accountBytesMax: 4 * mebibyte, bytesMax: 1_000 * mebibyte }],
  ['of all', ['dave', 'bob', 'bob'], { accountBytesMax: 1_000 * mebibyte, bytesMax: 4 * mebibyte }],
] as const) {
  test(`past the limit ${title} the watcher furthest behind is disconnected, and resumes without a gap`, async (t) => {
    const { server, write, names } = await served(t, { ...bounds, watcherBytesMax: 1_000 * mebibyte });
    const start = await position(server);
    const furthest = await watch(server, users[0], start);
    // How much of a stream the system takes differs between systems and watchers. The others begin once its share of
    // the furthest one is full, and so far behind that they cannot overtake it.
    while ((await unread(server)) < 2 * mebibyte) await write();
    const skipped = names().length;
    const later = await position(server);
    const others = [await watch(server, users[1], later), await watch(server, users[2], later)];
    t.equal(await watchers(server), 3);
    for (let turn = 0; turn < writesMax && (await watchers(server)) === 3; turn += 1) {
      await write();
      t.ok((await unread(server)) <= bounds.bytesMax);
    }
    t.equal(await watchers(server), 2, 'one was cut off');
    const all = names();
    const before = await read(furthest, () => false);
    t.ok(furthest.closed && before.length < all.length);
    t.strictSame(namesIn(before), all.slice(0, before.length), 'whole events, from its start');
    for (const other of others)
      t.strictSame(
        namesIn(await read(other, (seen) => seen.length === all.length - skipped)),
        all.slice(skipped),
        'the others go on',
      );
    const last = before.at(-1)?.object.metadata.resourceVersion ?? start;
    const resumed = await read(
      await watch(server, users[0], last),
      (seen) => seen.length === all.length - before.length,
    );
    t.strictSame(namesIn(resumed), all.slice(before.length));
  });
}

/**
 * A watch behind answers on one connection of which nothing is read: the system's buffer is nearly full of them, so
 * most of what the watch joins with stays here.
 */
function watchBehind(
  server: TestServer,
  user: string,
  { resourceVersion, answers }: { readonly resourceVersion: string; readonly answers: number },
): Socket {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  const request = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${as(user)['authorization'] ?? ''}\r\n\r\n`;
  socket.write(
    request(`${widgets}/w0001`).repeat(answers) + request(`${widgets}?watch=true&resourceVersion=${resourceVersion}`),
  );
  return socket;
}

/** Resolves once the peer has sent `word` so often. */
async function reading(socket: Socket, word: string, count: number): Promise<void> {
  let [text, found] = ['', 0];
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1');
    const parts = text.split(word);
    text = parts.pop()?.slice(-word.length) ?? '';
    found += parts.length;
    if (found >= count) return;
  }
  throw new Error(`it ended after ${String(found)}`);
}

test('many unread joins of one audience cost their bytes once', async (t) => {
  const [joins, objects] = [40, 9];
  const { server, write } = await served(t, {
    accountBytesMax: 64 * mebibyte,
    bytesMax: 64 * mebibyte,
    watcherBytesMax: 4 * mebibyte,
  });
  const resourceVersion = await position(server);
  // Recent changes are cached while somebody watches.
  const first = await watch(server, 'dave', resourceVersion);
  first.resume();
  for (let object = 0; object < objects; object += 1) await write();
  const joined = Array.from({ length: joins }, (_, index) =>
    watchBehind(server, index % 2 === 0 ? 'bob' : 'dave', { resourceVersion, answers: 11 }),
  );
  while ((await watchers(server)) < joins + 1) await position(server);
  const held = await unread(server);
  t.ok(held > objectBytes, `${String(held)} bytes are held`);
  t.ok(held < 2 * objects * objectBytes, `${String(held)} bytes are held for all`);
  await Promise.all(joined.map(async (socket) => reading(socket, '{"type":"ADDED"', objects)));
});
