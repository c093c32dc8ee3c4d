import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { test, type Test } from 'tap';

import { widget } from '../../plugins/example/widget.ts';
import { connect } from '../../src/client/client.ts';
import { repository } from '../architecture/repository.ts';
import { startTestServer, testPassword } from '../support/server/start-server.ts';
import { tokenOf } from './client-token.ts';
import { until } from './scripted-server.ts';
import { TcpProxy } from '../support/server/tcp-proxy.ts';

/** An example as its reader starts it, up to its first line. */
async function run(
  t: Test,
  path: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly [ChildProcess, string]> {
  const child = spawn(process.execPath, [join(repository, 'examples', path)], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return [child, line];
}

test('the controller labels widgets, also after a restart of the server, and lets them go', async (t) => {
  let server = await startTestServer();
  const proxy = await TcpProxy.start(server.url);
  t.teardown(async () => {
    await proxy.close();
    await server.remove();
  });
  const token = await tokenOf(server);
  const client = connect({ url: proxy.url, token });
  const informer = client.informer(widget);
  const sizeOf = (): string | undefined => informer.get('lamp')?.metadata.labels?.['size'];
  const env = { LEDGERPLANE_SERVER: proxy.url, LEDGERPLANE_TOKEN: token };
  const [controller, line] = await run(t, 'controller/controller.mjs', env);
  t.equal(line, 'the controller is running');
  await client.create(widget, { metadata: { name: 'lamp' }, spec: { title: 'Lamp', size: 3 } });
  await until(() => sizeOf() === 'small');
  server = await server.restart();
  proxy.target = Number(new URL(server.url).port);
  proxy.cut();
  await server.call('/apis/example.com/v1alpha1/widgets/lamp', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { size: 30 } },
  });
  await until(() => sizeOf() === 'large');
  await server.call('/apis/example.com/v1alpha1/widgets/lamp', { method: 'DELETE' });
  await until(() => informer.get('lamp') === undefined);
  informer.stop();
  const exited = once(controller, 'exit');
  controller.kill('SIGTERM');
  t.strictSame(await exited, [0, null], 'it ends by itself');
});

test('the page and all its modules are served, and its session reads, watches and writes', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  const [, line] = await run(t, 'table/serve.mjs', { LEDGERPLANE_SERVER: server.url, PORT: '0' });
  const url = /http:\/\/[^/]+/u.exec(line)?.[0] ?? '';
  const html = await (await fetch(`${url}/`)).text();
  const script = /<script type="module" src="([^"]+)">/u.exec(html)?.[1] ?? '';
  const loaded = await modulesFrom(t, new URL(script, `${url}/`).href);
  t.ok([...loaded.keys()].some((path) => path.endsWith('/ledgerplane/client/client.js')));
  const page = loaded.get(`${url}/${script}`) ?? '';
  for (const [, selector = ''] of page.matchAll(/querySelector\('([^']+)'\)/gu))
    t.match(html, selector.startsWith('[') ? 'role="status"' : `<${selector}`, `the page has ${selector}`);
  for (const path of ['/ledgerplane/../../package.json', '/ledgerplane/..%2f..%2fpackage.json', '/ledgerplane/none.js'])
    t.match(String((await fetch(url + path)).status), /^4\d\d$/u, path);

  // What the page's script does, with a browser's headers: rendering is not tested here.
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ username: 'admin', password: testPassword }),
  });
  const { csrfToken } = (await login.json()) as { readonly csrfToken: string };
  const [cookie = ''] = (login.headers.getSetCookie()[0] ?? '').split(';');
  const client = connect({
    url,
    session: { csrfToken },
    fetch: async (target, init) =>
      fetch(target, { ...init, headers: { ...(init.headers as Record<string, string>), cookie, origin: url } }),
  });
  const informer = client.informer(widget);
  await informer.synced;
  const { metadata } = await client.create(widget, { metadata: { name: 'lamp' }, spec: { title: 'Lamp' } });
  await until(() => informer.get('lamp') !== undefined);
  await client.delete(widget, 'lamp', { uid: metadata.uid });
  await until(() => informer.size === 0);
  informer.stop();
});

/** Every module that a browser loads for `url`: each is JavaScript, by its type and for a parser. */
async function modulesFrom(t: Test, url: string, loaded = new Map<string, string>()): Promise<Map<string, string>> {
  if (loaded.has(url)) return loaded;
  const answer = await fetch(url);
  const text = await answer.text();
  loaded.set(url, text);
  t.strictSame([answer.status, answer.headers.get('content-type')], [200, 'text/javascript'], url);
  t.equal(await parses(text), 0, `${url} parses`);
  for (const [, from = ''] of text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)';$/gmu)) {
    t.match(from, /^\.\.?\//u, `${url} imports a path`);
    await modulesFrom(t, new URL(from, url).href, loaded);
  }
  return loaded;
}

async function parses(text: string): Promise<unknown> {
  const child = spawn(process.execPath, ['--check', '--input-type=module', '-'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(text);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
