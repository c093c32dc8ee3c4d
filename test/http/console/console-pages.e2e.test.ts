import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import t, { test } from 'tap';

import { acceptsEncoding } from '../../../src/http/console/accept-encoding.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';

let server: TestServer;

t.before(async () => {
  server = await startTestServer();
});

t.teardown(async () => server.remove());

type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
};

/** Sends a request whose body is not decompressed, unlike `fetch`. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(`${server.url}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    asking.on('error', reject).end();
  });
}

async function scriptPath(): Promise<string> {
  const page = (await ask('/console/')).body.toString();
  return /<script type="module"[^>]* src="([^"]+)"/u.exec(page)?.[1] ?? '';
}

test('a visitor gets the page at every address of the console, with a strict policy', async (t) => {
  for (const path of ['/console/', '/console/login', '/console/objects/example.com/v1alpha1/widgets/a.json/edit']) {
    const { status, headers, body } = await ask(path);
    t.equal(status, 200, path);
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'permissions-policy': /camera=\(\)/u,
      vary: 'Accept-Encoding',
    });
    const policy = String(headers['content-security-policy']);
    t.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/u);
    t.match(policy, /frame-ancestors 'none'/u);
    t.notMatch(policy, /unsafe|nonce|\*|https?:/u);
    t.notMatch(body.toString(), /<script>|<style|\son\w+=|\sstyle=/u);
  }
});

test('the page loads with the credentials of an ended session, and with wrong ones', async (t) => {
  for (const headers of [{ cookie: 'session=ended' }, { authorization: 'Bearer pat_wrong' }])
    t.equal((await ask('/console/', headers)).status, 200);
});

test('files of the build are compressed, revalidated and kept for ever by their names', async (t) => {
  const path = await scriptPath();
  t.match(path, /^\/console\/assets\/.+-[\w-]{8}\.js$/u);
  const plain = await ask(path);
  t.match(plain, { status: 200, headers: { 'content-type': /^text\/javascript/u, 'content-encoding': undefined } });
  t.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
  const brotli = await ask(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
  t.equal(brotli.headers['content-encoding'], 'br');
  t.ok(brotliDecompressSync(brotli.body).equals(plain.body));
  const gzip = await ask(path, { 'accept-encoding': 'gzip, br;q=0' });
  t.equal(gzip.headers['content-encoding'], 'gzip');
  t.ok(gunzipSync(gzip.body).equals(plain.body));
  const tags = [plain, brotli, gzip].map(({ headers }) => String(headers['etag']));
  t.equal(new Set(tags).size, 3, 'each encoding has a tag of its own');
  const known = await ask(path, { 'if-none-match': tags[0] ?? '' });
  t.match(known, { status: 304, body: Buffer.alloc(0) });
  const head = await ask(path, {}, 'HEAD');
  t.match(head, { status: 200, body: Buffer.alloc(0) });
  t.equal(head.headers['content-length'], String(plain.body.length));
});

test('a missing file is a 404, and no other file of the server is reached', async (t) => {
  for (const path of ['/console/assets/none.js', '/console/assets/index.js.br'])
    t.equal((await ask(path)).status, 404, path);
  for (const path of ['/console/..%2f..%2fpackage.json', '/console/%2e%2e/package.json'])
    t.ok([400, 401, 404].includes((await ask(path)).status), path);
  const outside = await ask('/console/assets/../../src/main.js');
  t.notMatch(outside.body.toString(), /import /u);
  t.match(await ask('/console/', {}, 'POST'), { status: 405, headers: { allow: 'GET, HEAD' } });
});

test('a browser that opens the server gets to the console, and a program does not', async (t) => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  t.match(await ask('/', { accept: browser }), { status: 302, headers: { location: 'console/' } });
  t.match(await ask('/console', { accept: browser }), { status: 302, headers: { location: 'console/' } });
  for (const accept of ['*/*', 'application/json']) t.not((await ask('/', { accept })).status, 302, accept);
});

test('CONSOLE=off serves nothing of it', async (t) => {
  const without = await startTestServer({ environment: { CONSOLE: 'off' } });
  t.teardown(async () => without.remove());
  for (const path of ['/', '/console', '/console/', '/console/assets/x.js'])
    t.equal((await without.call(path, { headers: { accept: 'text/html' } })).status, 404, path);
});

test('encodings are chosen by their weights', async (t) => {
  for (const header of ['br', 'gzip, br', 'BR;q=0.1', '*', 'br; q=1.000']) t.ok(acceptsEncoding(header, 'br'), header);
  for (const header of [undefined, '', 'gzip', 'br;q=0', 'br;q=0.000, *', 'br;q=x', '*;q=0'])
    t.notOk(acceptsEncoding(header, 'br'), header ?? 'no header');
});

test('a browser finds the pages for one’s own things at /uc/, other clients do not', async (t) => {
  const html = { accept: 'text/html,application/xhtml+xml' };
  for (const [path, expected] of [
    ['/uc', '/console/uc'],
    ['/uc/', '/console/uc'],
    ['/uc/content/posts/a%20b?q=1', '/console/uc/content/posts/a%20b?q=1'],
    ['//uc//content/', '/console/uc/content'],
  ] as const) {
    const { status, headers } = await ask(path, html);
    t.equal(status, 302, path);
    t.equal(
      new URL(String(headers['location']), `http://host${path.replaceAll('//', '/')}`).href,
      `http://host${expected}`,
    );
  }
  t.equal((await ask('/uc/', { accept: 'application/json' })).status, 401);
  t.equal((await ask('/uc/', html, 'POST')).status, 401);
});
