import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

import t, { test } from 'tap';

import { snapshotsPerUserMax } from '../../../src/limits/lists.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(() => server.remove());
const widgets = '/apis/example.com/v1alpha1/widgets';
const objects = 40;
const slow = 80;
for (let index = 0; index < objects; index += 1) {
  await server.call(widgets, {
    method: 'POST',
    body: {
      metadata: { name: `w${String(index)}`, annotations: { filling: 'x'.repeat(200_000) } },
      spec: { title: 'W', size: index },
    },
  });
}

/** A client that asks for a long list, and reads its head at most. */
function unread(): Socket {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`GET ${widgets} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${adminAuthorization}\r\n\r\n`);
  return socket;
}

test("eighty stalled readers do not block another user's long lists, and lose their slots to each other", async (t) => {
  const administration = new Administration(server.url);
  await administration.user('bob');
  await administration.role('lists-widgets', {
    rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['list'] }],
  });
  await administration.bind('bob-lists', 'lists-widgets', 'bob');
  const sockets = Array.from({ length: slow }, unread);
  const first = await Promise.race(
    sockets.map(async (socket) => {
      await once(socket, 'readable');
      return socket;
    }),
  );
  const listed = await server.call(widgets, { headers: as('bob') });
  t.equal(((await listed.json()) as { items: unknown[] }).items.length, objects);
  t.equal(sockets.filter(({ readableLength }) => readableLength > 0).length, snapshotsPerUserMax, 'the others wait');
  t.notOk(first.closed);
  // A queued list gets a slot once a holder has read nothing for ten seconds.
  const waiting = sockets.find(({ readableLength }) => readableLength === 0);
  if (waiting !== undefined) await once(waiting, 'readable');
  first.resume();
  await once(first, 'close');
  for (const socket of sockets) socket.destroy();
  const again = await server.call(widgets);
  t.equal(((await again.json()) as { items: unknown[] }).items.length, objects);
});
