import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'tap';

import type { Subject } from '../../../src/command/subject.ts';
import { jsonAnswer, refusal, takenOver } from '../../../src/http/answer.ts';
import { readJson } from '../../../src/http/body/read-body.ts';
import { RequestMemory } from '../../../src/http/body/request-memory.ts';
import { heldBytesMax } from '../../../src/limits/writes.ts';
import { HeldBytes } from '../../../src/write/admission/held-bytes.ts';
import { Writers } from '../../../src/write/admission/writers.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { startEdge } from '../edge-server.ts';

const megabyte = Buffer.alloc(1_048_575, 0x20);

test('half-sent bodies of one user are bounded, block no other user, and are released', async (t) => {
  const held = new HeldBytes();
  const subjectOf = (name = ''): Subject => ({ kind: 'user', name, credential: { kind: 'password', uid: name } });
  const edge = await startEdge({
    memory: new RequestMemory({ held, writers: Writers.unlimited(new FakeClock()), clock: new FakeClock() }),
    authenticate: ({ authorization }) => ({ ok: true, subject: subjectOf(authorization) }),
    platformRoutes: [
      {
        method: 'POST',
        path: '/mine',
        route: async (_params, exchange) => {
          const body = await readJson(exchange);
          if (body.ok) return jsonAnswer({ held: held.sum }, 200);
          return body.problem === undefined ? takenOver : refusal(body.problem);
        },
      },
    ],
  });
  t.teardown(() => edge.stop());
  const sockets: Socket[] = [];
  let refused = 0;
  let closed = 0;
  const send = async (): Promise<void> => {
    const socket = connect(edge.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('data', (data) => {
      if (data.toString('latin1').startsWith('HTTP/1.1 429')) refused += 1;
    });
    socket.on('close', () => {
      closed += 1;
    });
    socket.on('error', () => undefined);
    await new Promise<void>((sent) => {
      socket.write(
        'POST /mine HTTP/1.1\r\nHost: x\r\nAuthorization: mallory\r\nContent-Type: application/json\r\n' +
          'Content-Length: 1048576\r\n\r\n',
      );
      socket.write(megabyte, () => {
        sent();
      });
    });
  };
  const most = heldBytesMax / 2 / 1_048_576;
  for (let batch = 0; batch < (most + 16) / 16; batch += 1) await Promise.all(Array.from({ length: 16 }, send));
  const post = async (name: string, body: string) =>
    fetch(`${edge.url}/mine`, {
      method: 'POST',
      headers: { authorization: name, 'content-type': 'application/json' },
      body,
    });
  while (refused === 0) await post('another', '{}');
  t.ok(held.sum <= heldBytesMax / 2 + 4_096, `${String(held.sum)} bytes are held`);
  const alice = await post('alice', JSON.stringify({ text: 'x'.repeat(1_000_000) }));
  t.equal(alice.status, 200, 'another user has room');
  for (const socket of sockets) socket.destroy();
  while (closed < sockets.length || held.sum > 0) await post('another', '{}').then(async (response) => response.text());
  t.equal((await post('mallory', '{}')).status, 200);
});

test('the buffer of a body counts, and a body in tiny chunks is read as one', async (t) => {
  const held = new HeldBytes();
  let most = 0;
  const edge = await startEdge({
    memory: new RequestMemory({ held, writers: Writers.unlimited(new FakeClock()), clock: new FakeClock() }),
    platformRoutes: [
      {
        method: 'POST',
        path: '/mine',
        route: async (_params, exchange) => {
          const body = await readJson(exchange);
          most = held.sum;
          return body.ok ? jsonAnswer(body.value, 200) : takenOver;
        },
      },
    ],
  });
  t.teardown(() => edge.stop());
  const list = `[${Array.from({ length: 10_000 }, () => '{}').join(',')}]`;
  t.equal((await edge.call('/mine', { method: 'POST', body: list })).status, 200);
  t.ok(most > 10_000 * 64 + list.length, `${String(most)} bytes for ${String(list.length)}`);
  const socket = connect(edge.port, '127.0.0.1');
  socket.write(
    'POST /mine HTTP/1.1\r\nHost: x\r\nAuthorization: admin\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  socket.write(`${Array.from(list, (character) => `1\r\n${character}\r\n`).join('')}0\r\n\r\n`);
  const answer: Buffer[] = [];
  socket.on('data', (data) => {
    answer.push(data);
  });
  await once(socket, 'close');
  t.ok(Buffer.concat(answer).toString('latin1').endsWith(list));
});
