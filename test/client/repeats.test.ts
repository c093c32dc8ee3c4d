/** Calls that the server refuses for a short time are sent again if a second effect is impossible. */
import { test } from 'tap';

import type { RemoteClient } from '../../src/client/client.ts';
import { NotingClock, object, rejection, ScriptedServer, status, thing } from './scripted-server.ts';

/** Waits pass at once, and count as time. */
class PassingClock extends NotingClock {
  override monotonic(): number {
    return this.waits.reduce((sum, ms) => sum + ms, 0);
  }
}

const refused = { 'retry-after': '2' };
const unwritten = { details: { causes: [{ reason: 'NothingWritten', message: 'the request had no effect' }] } };
const one = object('a', 1);

type Call = (client: RemoteClient, signal?: AbortSignal) => Promise<unknown>;
const safe: Readonly<Record<string, Call>> = {
  get: async (client, signal) => client.get(thing, 'a', { signal }),
  list: async (client, signal) => client.list(thing, { signal }),
  pages: async (client, signal) => client.pages(thing, { signal }).next(),
  request: async (client, signal) => client.request('/apis', { signal }),
  'update of a version': async (client, signal) => client.update(thing, one, { signal }),
  'patch of a version': async (client, signal) => client.patch(thing, 'a', {}, { resourceVersion: '1', signal }),
  'patch of the status': async (client, signal) => client.patchStatus(thing, 'a', {}, { resourceVersion: '1', signal }),
  'delete of a uid': async (client, signal) => client.delete(thing, 'a', { uid: 'uid-a', signal }),
};
const unsafe: Readonly<Record<string, Call>> = {
  create: async (client) => client.create(thing, { metadata: { name: 'a' } }),
  update: async (client) => client.update(thing, { metadata: { name: 'a' } }),
  patch: async (client) => client.patch(thing, 'a', { spec: {} }),
  'patch of a uid': async (client) => client.patch(thing, 'a', {}, { uid: 'uid-a' }),
  delete: async (client) => client.delete(thing, 'a'),
  'request with a method': async (client) => client.request('/apis/x', { method: 'POST', ifMatch: '"1"' }),
};
const answer = { ...one, items: [], metadata: { ...one.metadata, resourceVersion: '1' } };

test('a call without a second effect is sent again after a 503, when the server says', async (t) => {
  const server = await ScriptedServer.start(t);
  for (const [name, call] of Object.entries(safe)) {
    const clock = new PassingClock();
    const done = call(server.client({ clock }));
    const first = await server.asked();
    first.json(503, status(503, 'ServiceUnavailable'), refused);
    const second = await server.asked();
    second.json(200, answer);
    await done;
    t.strictSame([second.method, second.url.href], [first.method, first.url.href], name);
    t.strictSame(clock.waits, [2_100], name);
  }
});

test('any other write is sent again only if the first one certainly had no effect', async (t) => {
  const server = await ScriptedServer.start(t);
  for (const [name, call] of Object.entries(unsafe)) {
    const failed = rejection(call(server.client({ clock: new PassingClock() })));
    (await server.asked()).json(503, status(503, 'ServiceUnavailable'), refused);
    t.match(await failed, { status: 503, retryAfterSeconds: 2 }, name);
    for (const [code, members] of [
      [503, unwritten],
      [429, {}],
    ] as const) {
      const done = call(server.client({ clock: new PassingClock() }));
      (await server.asked()).json(code, status(code, 'Refused', members), refused);
      (await server.asked()).json(200, answer);
      await done;
    }
  }
  t.equal(server.requests.length, Object.keys(unsafe).length * 5);
});

test('repetitions end after the limit, at a signal, and without Retry-After', async (t) => {
  const server = await ScriptedServer.start(t);
  const refuse = async (headers: Readonly<Record<string, string>> = refused): Promise<void> => {
    (await server.asked()).json(503, status(503, 'ServiceUnavailable'), headers);
  };
  const call = safe['get']!;
  const bounded = rejection(call(server.client({ clock: new PassingClock(), retryMs: 5_000 })));
  for (let sent = 0; sent < 3; sent += 1) await refuse();
  t.match(await bounded, { status: 503 }, 'the third repetition would begin after 6.3 s');
  for (const [options, headers] of [
    [{ retryMs: 0 }, refused],
    [{}, { 'retry-after': '31' }],
    [{}, {}],
  ] as const) {
    const failed = rejection(call(server.client({ clock: new PassingClock(), ...options })));
    await refuse(headers);
    t.match(await failed, { status: 503 });
  }
  const over = new AbortController();
  const ended = rejection(call(server.client(), over.signal));
  await refuse();
  over.abort(new Error('enough'));
  t.match(await ended, { message: 'enough' });
  t.equal(server.requests.length, 7);
});
