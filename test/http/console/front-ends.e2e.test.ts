import { mkdtempSync } from 'node:fs';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';
import { brotliCompressSync } from 'node:zlib';

import t, { test } from 'tap';

import { manifest, writePlugin } from '../../console/front-ends/garden.ts';
import { tgz } from '../../packages/archives.ts';
import { ask } from '../../support/ask.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';

const list = '/apis/api.console.svc.run/v1alpha1/frontends';
const script = `export default {}; // ${'x'.repeat(600)}`;
const root = mkdtempSync(join(tmpdir(), 'ledgerplane-front-ends-'));
let server: TestServer;

t.before(async () => {
  await writePlugin(root, 'garden', {
    'console/index.js': script,
    'console/index.css': 'p { color: red }',
    'console/page.html': '<script>alert(1)</script>',
    'console/assets/leaf.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'plugin.yaml': manifest('garden', '1.2.0'),
    'secret.js': 'secret',
  });
  await writeFile(join(root, 'garden', 'console', 'index.js.br'), brotliCompressSync(script));
  await symlink('../secret.js', join(root, 'garden', 'console', 'secret.js'));
  await writePlugin(root, 'unbuilt', { 'plugin.yaml': manifest('unbuilt', '1.0.0') });
  server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
});
t.teardown(async () => {
  await server.remove();
  await rm(root, { recursive: true, force: true });
});

type Listed = { readonly plugin: string; readonly version: string; readonly module: string; readonly styles?: string };

async function listed(): Promise<readonly Listed[]> {
  return ((await (await server.call(list)).json()) as { readonly items: readonly Listed[] }).items;
}

/** The folder of the addresses of the plugin garden. */
async function folder(): Promise<string> {
  const found = (await listed()).find(({ plugin }) => plugin === 'garden');
  return found?.module.replace(/index\.js$/u, '') ?? '';
}

test('all users, and no visitors, see the list of the front ends of started plugins', async (t) => {
  t.match(
    (await listed()).filter(({ plugin }) => plugin === 'garden'),
    [
      {
        plugin: 'garden',
        version: '1.2.0',
        module: /^\/console\/plugins\/garden\/[0-9a-f]{24}\/index\.js$/u,
        styles: /^\/console\/plugins\/garden\/[0-9a-f]{24}\/index\.css$/u,
      },
    ],
  );
  await new Administration(server.url).user('ann');
  t.equal((await ask(server.url, list, { headers: as('ann') })).status, 200);
  t.equal((await ask(server.url, list)).status, 401);
});

test('files are public, compressed and kept for ever, with the policy of the console', async (t) => {
  const address = `${await folder()}index.js`;
  const answer = await fetch(server.url + address, { headers: { 'accept-encoding': 'br' } });
  t.equal(answer.status, 200);
  t.equal(await answer.text(), script);
  t.equal(answer.headers.get('content-encoding'), 'br');
  t.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  t.match(answer.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/u);
  t.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8');
  const tag = answer.headers.get('etag') ?? '';
  t.equal(
    (await fetch(server.url + address, { headers: { 'accept-encoding': 'br', 'if-none-match': tag } })).status,
    304,
  );
  t.equal((await fetch(server.url + address, { method: 'POST' })).status, 405);
  const image = await fetch(`${server.url}${await folder()}assets/leaf.svg`);
  t.equal(image.headers.get('content-type'), 'image/svg+xml');
});

/** Sends a path as it is; `fetch` would resolve its dots. */
async function statusOf(path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test('nothing else of a plugin can be reached', async (t) => {
  const root = await folder();
  const names = [
    'none.js',
    'page.html',
    'secret.js',
    'index.js.br',
    'assets',
    '../secret.js',
    '..%2fsecret.js',
    'assets/',
  ];
  for (const name of names) t.ok([400, 404].includes((await statusOf(root + name)) ?? 0), name);
  t.equal(await statusOf(root.replace(/[0-9a-f]{24}/u, '0'.repeat(24)) + 'index.js'), 404);
  t.equal(await statusOf('/console/plugins/constructor/__proto__/index.js'), 404);
  // The console's own pages of a plugin have shorter addresses.
  t.equal(await statusOf('/console/plugins/garden/logs'), 200);
});

test('a file that has changed on the disk is not served under the former address', async (t) => {
  const address = `${await folder()}assets/leaf.svg`;
  const other = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(async () => other.remove());
  await writeFile(join(root, 'garden', 'console', 'assets', 'leaf.svg'), '<svg/>');
  t.equal((await fetch(other.url + address)).status, 404);
});

test('an unbuilt front end is reported, and does not keep the plugin from starting', async (t) => {
  t.notOk((await listed()).some(({ plugin }) => plugin === 'unbuilt'));
  const answer = await server.call('/apis/plugin.svc.run/v1alpha1/plugins/unbuilt');
  const { status } = (await answer.json()) as {
    readonly status: { readonly phase: string; readonly conditions: object[] };
  };
  t.equal(status.phase, 'started');
  const condition = { type: 'FrontEndMissing', reason: 'FilesRefused', message: /build the front end first/u };
  t.match(status.conditions.slice(1), [condition]);
});

/** A plugin whose module waits, so that a test can look at the server in the middle of a reload. */
const slow = (version: string, wait: string) => ({
  'console/index.js': `export default {}; // ${version}`,
  'main.mjs': `${wait} export default {};`,
  'plugin.yaml': manifest('slow', version, { main: 'main.mjs' }),
});

test('a reloaded plugin stays in the list until its next version has started or failed', async (t) => {
  const versions = async () => (await listed()).filter(({ plugin }) => plugin === 'slow').map(({ version }) => version);
  const phase = async (): Promise<string | undefined> => {
    const answer = await server.call('/apis/plugin.svc.run/v1alpha1/plugins/slow');
    return ((await answer.json()) as { readonly status?: { readonly phase?: string } }).status?.phase;
  };
  await writePlugin(root, 'slow', slow('1.0.0', ''));
  while ((await phase()) !== 'started') await passes(10);
  t.strictSame(await versions(), ['1.0.0']);
  const waits = new Promise<void>((resolve) => {
    Object.assign(globalThis, { slowModuleWaits: resolve });
  });
  let goOn = (): void => undefined;
  Object.assign(globalThis, { slowModule: new Promise<void>((resolve) => (goOn = resolve)) });
  await writePlugin(root, 'slow', slow('2.0.0', 'globalThis.slowModuleWaits(); await globalThis.slowModule;'));
  await waits;
  t.strictSame(await versions(), ['1.0.0']);
  goOn();
  while ((await versions())[0] === '1.0.0') await passes(10);
  t.strictSame(await versions(), ['2.0.0']);
  await writePlugin(root, 'slow', slow('3.0.0', 'throw new Error("out of order");'));
  while ((await phase()) !== 'failed') await passes(10);
  t.strictSame(await versions(), []);
});

test('a package whose front end is missing is refused', async (t) => {
  const body = new FormData();
  const archive = tgz([
    { name: 'package', kind: 'folder' },
    { name: 'package/plugin.yaml', content: manifest('empty', '1.0.0') },
  ]);
  body.append('file', new Blob([new Uint8Array(archive)]), 'empty.tgz');
  const authorization = `Basic ${Buffer.from('admin:correct horse battery staple').toString('base64')}`;
  const path = '/apis/api.console.svc.run/v1alpha1/plugins/install';
  const answer = await fetch(server.url + path, { method: 'POST', body, headers: { authorization } });
  t.equal(answer.status, 422);
  t.match(await answer.text(), /spec\.console \\"console\\": the folder does not exist/u);
});

test('CONSOLE=off has no list of front ends', async (t) => {
  const without = await startTestServer({ environment: { CONSOLE: 'off' } });
  t.teardown(async () => without.remove());
  t.equal((await without.call(list)).status, 404);
});
