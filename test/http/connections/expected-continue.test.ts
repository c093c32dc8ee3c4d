import { test } from 'tap';

import { startEdge } from '../edge-server.ts';
import { RawConnection, readAnswers } from './wire.ts';

const path = '/apis/g/v1/echo';
const line = (method: string, target: string, ...headers: readonly string[]): string =>
  [`${method} ${target} HTTP/1.1`, 'Host: x', 'Authorization: admin', ...headers, '', ''].join('\r\n');
const expecting = line('POST', path, 'Content-Length: 5', 'Expect: 100-continue');
const interim = 'HTTP/1.1 100 Continue\r\n\r\n';

test('100 Continue comes when its request is next, once and never within an answer', async (t) => {
  const edge = await startEdge();
  t.teardown(async () => edge.stop());
  let release: () => void = () => undefined;
  edge.pluginRoutes.mount('echo', {
    sockets: [],
    routes: [
      {
        method: 'GET',
        path: '/apis/g/v1/slow',
        handler: async () =>
          new Promise<{ body: string }>((resolve) => {
            release = () => {
              resolve({ body: 'slow' });
            };
          }),
      },
      {
        method: 'POST',
        path,
        handler: async ({ body }) => Promise.resolve({ body }),
      },
    ],
  });
  const alone = new RawConnection(edge.port);
  await alone.send(expecting);
  t.equal(await alone.until((text) => text.endsWith('\r\n\r\n')), interim);
  await alone.send('12345');
  await alone.until((text) => text.endsWith('12345'));
  alone.socket.destroy();

  for (const isWhole of [true, false]) {
    const connection = new RawConnection(edge.port);
    await connection.send(line('GET', '/apis/g/v1/slow'), expecting + (isWhole ? '12345' : ''));
    for (let turn = 0; turn < 20; turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    t.equal(connection.text, '', 'nothing before the first answer');
    release();
    if (!isWhole) {
      await connection.until((text) => text.endsWith(interim));
      await connection.send('12345');
    }
    const text = await connection.until((got) => got.endsWith('12345'));
    t.equal(text.split(interim).length, 2, 'once');
    const { answers, rest } = readAnswers(text);
    t.strictSame(
      [answers.map(({ status, body }) => [status, body]), rest],
      [
        [
          [200, '"slow"'],
          [200, '12345'],
        ],
        '',
      ],
    );
    connection.socket.destroy();
  }
});
