/** A plugin that stops between the head of a request for its type and the request's last byte. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { test } from 'tap';

import { manifestYaml, moduleText, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { adminAuthorization, startTestServer, type TestServer } from '../../support/server/start-server.ts';

const widgets = '/apis/depot.example/v1/boxes';

type Slow = { readonly method: string; readonly path: string; readonly body: string; readonly type?: string };

const box = JSON.stringify({ metadata: { name: 'late' }, spec: {} });
const requests: readonly Slow[] = [
  { method: 'DELETE', path: widgets, body: '{"propagationPolicy":"Background"}' },
  { method: 'DELETE', path: `${widgets}?dryRun=All`, body: '{"propagationPolicy":"Background"}' },
  { method: 'DELETE', path: `${widgets}/early`, body: '{"propagationPolicy":"Background"}' },
  { method: 'POST', path: widgets, body: box },
  { method: 'PUT', path: `${widgets}/early`, body: box.replace('late', 'early') },
  {
    method: 'PATCH',
    path: `${widgets}/early`,
    body: '{"metadata":{"labels":{"a":"b"}}}',
    type: 'application/merge-patch+json',
  },
];

/** Sends everything but the last byte. */
async function begin(server: TestServer, { method, path, body, type = 'application/json' }: Slow): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    `Authorization: ${adminAuthorization}`,
    `Content-Type: ${type}`,
    `Content-Length: ${String(body.length)}`,
  ].join('\r\n');
  await once(socket, 'connect');
  socket.write(`${head}\r\n\r\n${body.slice(0, -1)}`);
  return socket;
}

async function end(socket: Socket, { body }: Slow): Promise<string> {
  socket.write(body.slice(-1));
  let text = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) text += chunk.toString('latin1');
  return text;
}

test('a request whose type is disabled meanwhile is refused, and not as a server error', async (t) => {
  const folder = await temporaryFolder(t);
  await writePlugins(folder, {
    depot: {
      'plugin.yaml': manifestYaml('depot', { main: 'main.mjs' }),
      'main.mjs': moduleText('boxes', { group: 'depot.example' }),
    },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: folder } });
  t.teardown(async () => server.remove());
  t.equal(
    (await server.call(widgets, { method: 'POST', body: { metadata: { name: 'early' }, spec: {} } })).status,
    201,
  );
  const begun = await Promise.all(requests.map(async (request) => ({ request, socket: await begin(server, request) })));
  // Their heads have been read once a later request has been answered.
  await server.call(widgets);
  const enable = async (enabled: boolean): Promise<unknown> =>
    server.call('/apis/plugin.svc.run/v1alpha1/plugins/depot', {
      method: 'PATCH',
      body: { spec: { enabled } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  await enable(false);
  while ((await server.call(widgets)).status !== 404);
  for (const { request, socket } of begun) {
    const text = await end(socket, request);
    t.match(text, /^HTTP\/1\.1 503 /u, `${request.method} ${request.path}`);
  }
  await enable(true);
  while ((await server.call(widgets)).status !== 200);
  const list = (await (await server.call(widgets)).json()) as {
    readonly items: readonly { readonly metadata: object }[];
  };
  t.match(list.items, [{ metadata: { name: 'early', version: 0 } }]);
  t.equal(list.items.length, 1, 'nothing was written');
});
