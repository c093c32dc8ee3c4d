import { connect, type Socket } from 'node:net';
import { setTimeout as passes } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import t, { test } from 'tap';

import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const server = await startTestServer();
t.teardown(() => server.remove());
const widgets = '/apis/example.com/v1alpha1/widgets';
const objects = 40;
const clients = 100;
const askedAtOnce = 200;
for (let index = 0; index < objects; index += 1) {
  await server.call(widgets, {
    method: 'POST',
    body: {
      metadata: { name: `w${String(index)}`, annotations: { filling: 'x'.repeat(200_000) } },
      spec: { title: 'W', size: index },
    },
  });
}

/** A client that asks and reads nothing. */
function unread(target: string, times: number): Socket {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: ${adminAuthorization}\r\n\r\n`.repeat(times));
  return socket;
}

// What nobody holds any more is no memory held: without this the collector's mood would be measured.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What buffers hold outside the heap, once it no longer grows. */
async function bufferedBytes(): Promise<number> {
  let before = -1;
  collectGarbage();
  for (
    let { arrayBuffers } = process.memoryUsage();
    arrayBuffers !== before;
    { arrayBuffers } = process.memoryUsage()
  ) {
    before = arrayBuffers;
    await passes(300);
    collectGarbage();
  }
  return before;
}

test('large unread lists cost little memory, and do not delay a short list', async (t) => {
  const before = await bufferedBytes();
  const sockets = Array.from({ length: clients }, () => unread(widgets, 1));
  const growth = (await bufferedBytes()) - before;
  t.ok(growth < 100 * 1_048_576, `${String(clients)} lists of 8 MB hold ${String(growth)} bytes`);
  const short = await server.call(`${widgets}?limit=1`);
  t.equal(((await short.json()) as { items: unknown[] }).items.length, 1);
  const waiting = server.call(widgets);
  for (const socket of sockets) socket.destroy();
  t.equal(
    ((await (await waiting).json()) as { items: unknown[] }).items.length,
    objects,
    'a long one has its turn when they are gone',
  );
});

test('identical simultaneous lists are read once', async (t) => {
  const before = await bufferedBytes();
  const socket = unread(`${widgets}?limit=4`, askedAtOnce);
  const growth = (await bufferedBytes()) - before;
  t.ok(growth < 50 * 1_048_576, `${String(askedAtOnce)} pages of 0.8 MB hold ${String(growth)} bytes`);
  socket.destroy();
});
