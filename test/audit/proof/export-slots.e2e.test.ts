/** Exports are limited for each user and in total, so that they leave the threads of the process to other work. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { test } from 'tap';

import { exportsPerUserMax } from '../../../src/limits/audit.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { adminAuthorization, startTestServer } from '../../support/server/start-server.ts';

const exportPath = '/apis/audit.svc.run/v1alpha1/export';
/** More than the buffers of a socket hold. */
const objects = 40;
const objectBytes = 200_000;

test('a user waits behind the own exports, and other users do not', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  const administration = new Administration(server.url);
  await administration.user('bob');
  await administration.bind('bob-exports', 'role-template-audit-viewer', 'bob');
  for (let index = 0; index < objects; index += 1) {
    const annotations = { filling: 'x'.repeat(objectBytes) };
    const body = { metadata: { name: `w${String(index)}`, annotations }, spec: { title: 'W' } };
    await server.call('/apis/example.com/v1alpha1/widgets', { method: 'POST', body });
  }
  const unread = (): Socket => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined);
    const head = `GET ${exportPath} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${adminAuthorization}\r\n`;
    socket.write(`${head}Connection: close\r\n\r\n`);
    return socket;
  };
  const running = Array.from({ length: exportsPerUserMax }, unread);
  await Promise.all(running.map(async (socket) => once(socket, 'readable')));
  const waiting = unread();
  const other = await server.call(exportPath, { headers: as('bob') });
  t.match(await other.text(), /\n\{"kind":"End",/u);
  t.equal(waiting.readableLength, 0, 'the third export of the user waits');
  const [first] = running;
  first?.resume();
  await once(waiting, 'readable');
});
