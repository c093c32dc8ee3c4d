import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import t, { test } from 'tap';

import { startTestServer, type TestServer } from '../support/server/start-server.ts';

let server: TestServer;

t.before(async () => {
  server = await startTestServer();
});

t.teardown(async () => server.remove());

/** What the page loads, with the directive of the policy that must allow it. */
async function loadedBy(page: string): Promise<readonly { readonly url: string; readonly directive: string }[]> {
  const found = [...page.matchAll(/<(script|link)\b[^>]*?(?:src|href)="([^"]+)"[^>]*>/gu)];
  return found.map(([tag, element = '', path = '']) => ({
    url: new URL(path, `${server.url}/docs`).href,
    directive: element === 'script' ? 'script-src' : tag.includes('stylesheet') ? 'style-src' : 'img-src',
  }));
}

function directives(policy: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );
}

const types: Readonly<Record<string, RegExp>> = {
  'script-src': /^text\/javascript/u,
  'style-src': /^text\/css/u,
  'img-src': /^image\/png/u,
};

async function sessionCookie(): Promise<string> {
  const login = await fetch(`${server.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: 'correct horse battery staple' }),
  });
  return login.headers.get('set-cookie')?.split(';')[0] ?? '';
}

test('a session sees the page, and its policy allows each file that it names', async (t) => {
  const headers = { cookie: await sessionCookie() };
  const answer = await fetch(`${server.url}/docs`, { headers });
  t.equal(answer.status, 200);
  t.match(answer.headers.get('content-type'), /^text\/html/u);
  const policy = directives(answer.headers.get('content-security-policy') ?? '');
  t.strictSame(policy.get('default-src'), ["'none'"]);
  t.strictSame(policy.get('frame-ancestors'), ["'none'"]);
  for (const [name, sources] of policy)
    t.notOk(
      sources.some((source) => source.startsWith("'unsafe")),
      name,
    );
  const page = await answer.text();
  t.notMatch(page, /<script>|<style|\son\w+=|\sstyle=/u);
  const files = await loadedBy(page);
  t.equal(files.length, 5);
  for (const { url, directive } of files) {
    t.ok(url.startsWith(`${server.url}/docs/`), url);
    t.ok(policy.get(directive)?.includes("'self'"), directive);
    const file = await fetch(url, { headers });
    t.equal(file.status, 200, url);
    t.match(file.headers.get('content-type'), types[directive] ?? /^$/u);
    t.equal(file.headers.get('x-content-type-options'), 'nosniff');
    t.equal(file.headers.get('content-security-policy'), answer.headers.get('content-security-policy'));
    t.ok((await file.arrayBuffer()).byteLength > 100);
    const etag = file.headers.get('etag') ?? '';
    t.equal((await fetch(url, { headers: { ...headers, 'if-none-match': etag } })).status, 304);
  }
});

test('the script names documents that are served', async (t) => {
  const script = await (await server.call('/docs/start.js')).text();
  const urls = [...script.matchAll(/url: '([^']+)'(?! \+)/gu)].map(([, url = '']) => url);
  t.strictSame(urls, ['v3/api-docs', 'openapi/v2']);
  for (const url of urls) t.equal((await server.call(`/${url}`)).status, 200);
  const { paths } = (await (await server.call('/openapi/v3')).json()) as { readonly paths: object };
  for (const key of Object.keys(paths)) t.equal((await server.call(`/openapi/v3/${key}`)).status, 200, key);
});

test('the logo is a text: the picture of the viewer has a style that the policy refuses', async (t) => {
  const script = await (await server.call('/docs/start.js')).text();
  const settings: Record<string, unknown>[] = [];
  const viewer = Object.assign((given: Record<string, unknown>) => settings.push(given), { presets: { apis: [] } });
  const fetched = async () =>
    Promise.resolve({ ok: true, json: async () => Promise.resolve({ paths: { version: {} } }) });
  runInNewContext(script, { SwaggerUIBundle: viewer, SwaggerUIStandalonePreset: [], fetch: fetched });
  await new Promise(setImmediate);
  const [{ plugins, urls } = {}] = settings;
  const [{ components }] = plugins as [{ readonly components: { readonly Logo: () => unknown } }];
  t.equal(components.Logo(), 'Ledgerplane API');
  t.match(urls, [{ url: 'v3/api-docs' }, { url: 'openapi/v2' }, { url: 'openapi/v3/version' }]);
});

test('only the listed files are served, and only to those who have logged in', async (t) => {
  for (const path of ['package.json', 'swagger-ui-bundle.js.map', 'index.html', '..%2fpackage.json', '%2e%2e', 'x'])
    t.ok([400, 404].includes((await server.call(`/docs/${path}`)).status), path);
  for (const path of ['/docs', '/docs/start.js', '/docs/swagger-ui-bundle.js']) {
    const visitor = await fetch(`${server.url}${path}`);
    t.equal(visitor.status, 401, path);
    t.ok(visitor.headers.get('www-authenticate'));
  }
});

test('the install script of the viewer’s package, which reports installations, is not run', async (t) => {
  const file = join(import.meta.dirname, '../../../package.json');
  const settings = JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, unknown>>;
  t.match(settings, { scarfSettings: { enabled: false }, allowScripts: { '@scarf/scarf': false } });
});
