/** Log-ins in a browser at an identity provider, on a running server with a running provider. */
import { test, type Test } from 'tap';

import {
  logInFailuresInAllMax,
  oidcFetchMs,
  oidcFlowMs,
  oidcFlowsMax,
  oidcRetryMs,
} from '../../../src/limits/access.ts';
import { newKey } from '../../auth/oidc-issuer.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { until } from '../../support/server/accounts.ts';
import { Administration } from '../../support/server/administration.ts';
import { ask, type Answered } from '../../support/ask.ts';
import { Browser, locationOf } from '../../support/server/browser.ts';
import { clientId, clientSecret, startProvider } from '../../support/server/identity-provider.ts';
import { startTestServer } from '../../support/server/start-server.ts';

type Environment = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;

const other = await newKey('two');
const session = 'ledgerplane_session';

async function given(t: Test, environment: Environment = {}) {
  const clock = new FakeClock(Date.now());
  const provider = await startProvider(t, () => clock.now());
  const lines: string[] = [];
  const settings = {
    OIDC_ISSUER: provider.url,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    // Without the console, a browser gets the reason of a failure as a page.
    CONSOLE: 'off',
    ...environment,
  };
  const start = async (dataDir?: string) => {
    const server = await startTestServer({
      clock,
      environment: settings,
      logLines: { write: (line) => lines.push(line) },
      ...(dataDir === undefined ? {} : { dataDir }),
    });
    t.teardown(async () => server.remove());
    return server;
  };
  const server = await start();
  const browser = new Browser();
  /** Begins a log-in and logs in at the provider. Returns the URL to which the provider sends the browser. */
  const begin = async (query = '', by = browser): Promise<string> => {
    const begun = await by.visit(`${server.url}/login/oidc${query}`);
    t.equal(begun.status, 303, begun.text);
    const back = await new Browser().visit(locationOf(begun));
    t.equal(back.status, 302, back.text);
    return locationOf(back);
  };
  const logIn = async (query = '', by = browser): Promise<Answered> => by.visit(await begin(query, by));
  return { clock, provider, server, browser, begin, logIn, lines, start };
}

function shown({ text }: Answered): string {
  return /<p>(.*)<\/p>/u.exec(text)?.[1] ?? text;
}

const json = { accept: 'application/json' };

test('a browser logs in at the provider and gets the session of a log-in, with a CSRF token', async (t) => {
  const { provider, server, browser, logIn } = await given(t);
  const methods = JSON.parse((await ask(server.url, '/login/methods')).text) as Json;
  t.strictSame(methods, {
    methods: [
      { kind: 'password', path: '/login' },
      { kind: 'oidc', path: '/login/oidc', issuer: provider.url },
    ],
  });
  const answer = await logIn('?return=/console/%3Fa=1%23/posts');
  t.equal(answer.status, 303);
  t.equal(locationOf(answer), '/console/?a=1#/posts');
  t.match(
    answer.headers['set-cookie']?.[0],
    /^ledgerplane_session=ses_[0-9a-f]{32}_[A-Za-z0-9_-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/u,
  );
  t.strictSame(browser.names(), [session], 'the cookie of the flow is cleared');
  const current = await browser.visit(`${server.url}/session`, json);
  t.match(JSON.parse(current.text) as Json, { username: 'oidc:jane', csrfToken: /^[\w-]{43}$/u, expiresAt: /Z$/u });
  const administration = new Administration(server.url);
  await administration.role('keeper', { rules: [{ apiGroups: [''], resources: ['roles'], verbs: ['list'] }] });
  t.equal((await browser.visit(`${server.url}/api/v1alpha1/roles`, json)).status, 403);
  await administration.bind('jane-keeps', 'keeper', 'oidc:jane');
  t.equal((await browser.visit(`${server.url}/api/v1alpha1/roles`, json)).status, 200);
  const sessions = JSON.parse((await (await server.call('/api/v1alpha1/sessions')).text()) || '{}') as {
    readonly items: readonly Json[];
  };
  t.match(sessions.items, [{ spec: { user: 'oidc:jane' }, status: { issuer: provider.url } }]);
  t.match(provider.requests.token, [{ size: 4 }], 'the secret is in the header only');
});

test('the session needs the CSRF token for writes and ends with a log-out', async (t) => {
  const { server, browser, logIn } = await given(t);
  await logIn();
  const cookie = `${session}=${browser.get(session) ?? ''}`;
  const { csrfToken } = JSON.parse((await browser.visit(`${server.url}/session`, json)).text) as Record<string, string>;
  const logOut = async (headers: Readonly<Record<string, string>>) =>
    (await ask(server.url, '/logout', { method: 'POST', headers: { cookie, ...headers } })).status;
  t.equal(await logOut({}), 403);
  const tokens = '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens';
  const made = await ask(server.url, tokens, {
    method: 'POST',
    headers: { cookie, 'x-csrf-token': csrfToken ?? '', 'content-type': 'application/json' },
    body: '{"metadata":{"name":"mine"},"spec":{}}',
  });
  t.equal(made.status, 403);
  t.match(made.text, /users of an identity provider have no personal access tokens/u);
  t.equal(await logOut({ 'x-csrf-token': csrfToken ?? '' }), 204);
  t.equal((await ask(server.url, '/session', { headers: { cookie } })).status, 401);
});

test('a session is valid after a restart, and not with another issuer', async (t) => {
  const { clock, server, browser, logIn } = await given(t);
  await logIn();
  const cookie = `${session}=${browser.get(session) ?? ''}`;
  await server.close();
  const same = await server.restart();
  t.equal((await ask(same.url, '/session', { headers: { cookie } })).status, 200);
  await same.close();
  const another = await startProvider(t, () => clock.now());
  const moved = await startTestServer({
    clock,
    dataDir: server.dataDir,
    environment: { OIDC_ISSUER: another.url, OIDC_CLIENT_ID: clientId },
  });
  t.teardown(async () => moved.remove());
  t.equal((await ask(moved.url, '/session', { headers: { cookie } })).status, 401);
});

test('a redirect that no flow of this browser has begun is refused', async (t) => {
  const { clock, provider, server, browser, begin } = await given(t);
  const callback = await begin();
  const changed = (name: string, value: string | undefined): string => {
    const url = new URL(callback);
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
    return url.href;
  };
  const cases: Readonly<Record<string, readonly [Browser, string]>> = {
    'another browser': [new Browser(), callback],
    'a wrong state': [browser.copy(), changed('state', 'x'.repeat(43))],
    'no state': [browser.copy(), changed('state', undefined)],
    'two states': [browser.copy(), `${callback}&state=x`],
  };
  for (const [title, [by, url]] of Object.entries(cases)) {
    const answer = await by.visit(url);
    t.equal(answer.status, 400, title);
    t.match(shown(answer), /was not begun in this browser, or it has ended or expired/u, title);
    t.notOk(by.names().includes(session), title);
  }
  t.strictSame(provider.requests.token, []);
  clock.advance(oidcFlowMs);
  t.equal((await browser.visit(callback)).status, 400, 'the flow has expired');
  t.equal((await browser.visit(`${server.url}/login/oidc/callback`)).status, 400);
  const [flow = ''] = browser.names();
  for (const value of ['', 'x', `${'n'.repeat(43)}.${'v'.repeat(43)}.${String(clock.now())}.!!`])
    t.equal((await browser.visit(callback, { cookie: `${flow}=${value}` })).status, 400, `a cookie ${value}`);
  const evil = Buffer.from('https://evil.example').toString('base64url');
  const planted = `${flow}=${'n'.repeat(43)}.${'v'.repeat(43)}.${String(clock.now())}.${evil}`;
  t.equal((await browser.visit(callback, { cookie: planted })).status, 400, 'a return to another site');
});

test('a code is redeemed once, by the browser that began the flow', async (t) => {
  const { provider, browser, begin, logIn } = await given(t);
  const callback = await begin();
  const twin = browser.copy();
  t.equal((await browser.visit(callback)).status, 303);
  t.equal((await browser.visit(callback)).status, 400, 'the flow has ended');
  const replayed = await twin.visit(callback);
  t.equal(replayed.status, 401);
  t.match(shown(replayed), /refused the code: the code has expired or was already used/u);
  t.notOk(twin.names().includes(session));
  // A code that an attacker has stolen from another flow: PKCE binds it to the verifier of that flow.
  const stolen = new URL(await begin('', new Browser())).searchParams.get('code') ?? '';
  const own = new URL(await begin());
  own.searchParams.set('code', stolen);
  const injected = await browser.visit(own.href);
  t.equal(injected.status, 401);
  t.match(shown(injected), /refused the code/u);
  t.equal((await logIn()).status, 303);
  t.equal(provider.requests.token.length, 4);
});

test('an answer of the provider that is not valid for this log-in is refused', async (t) => {
  const { provider, browser, begin, logIn } = await given(t);
  const { behaviour } = provider;
  const now = Math.floor(Date.now() / 1_000);
  const claims: Readonly<Record<string, object>> = {
    'a wrong nonce': { nonce: 'another' },
    'no nonce': { nonce: undefined },
    'another issuer': { iss: 'https://evil.example' },
    'another audience': { aud: 'another' },
    'another authorized party': { aud: [clientId, 'another'], azp: 'another' },
    expired: { exp: now - 3_600 },
    'no expiry': { exp: undefined },
    'no user': { sub: undefined },
    'an empty user': { sub: '' },
    'a line break in the user': { sub: 'jane\n' },
  };
  for (const [title, changes] of Object.entries(claims)) {
    behaviour.claims = changes as never;
    const answer = await logIn();
    t.equal(answer.status, 401, title);
    t.match(
      shown(answer),
      /is not valid for this log-in|is not valid, or its claim &#34;sub&#34; names no user/u,
      title,
    );
  }
  behaviour.claims = {};
  behaviour.signedBy = { ...other, kid: 'one' };
  t.equal((await logIn()).status, 401, 'another key');
  behaviour.signedBy = provider.key;
  behaviour.redirect = { iss: 'https://evil.example' };
  const mixed = await logIn();
  t.equal(mixed.status, 401, 'a redirect of another issuer (mix-up)');
  const withoutIssuer = new URL(await begin());
  withoutIssuer.searchParams.delete('iss');
  t.equal((await browser.visit(withoutIssuer.href)).status, 401, 'a redirect without an issuer');
  t.strictSame(browser.names(), []);
  behaviour.redirect = {};
  t.equal((await logIn()).status, 303);
});

test('a redirect with two codes is a failed log-in of this browser, not a failure of the provider', async (t) => {
  const { provider, browser, begin, lines } = await given(t);
  const twice = new URL(await begin());
  twice.searchParams.append('code', 'another');
  t.equal((await browser.visit(twice.href)).status, 401);
  t.strictSame(provider.requests.token, []);
  t.notMatch(lines.join(''), /cannot use the identity provider/u);
});

test('a user that the provider does not log in gets a page, without text of the provider', async (t) => {
  const { provider, logIn } = await given(t);
  provider.behaviour.denies = 'access_denied';
  const answer = await logIn('?return=/a');
  t.equal(answer.status, 401);
  t.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
  t.match(shown(answer), /did not log the user in: access_denied/u);
  t.match(answer.text, new RegExp(`<p>Request ${String(answer.headers['x-request-id'])}</p>`, 'u'));
  t.match(answer.text, /<a href="..\/oidc\?return=%2Fa">/u);
  t.notMatch(answer.text, /<b>/u);
  provider.behaviour.denies = '<script>alert(1)</script>';
  const odd = await logIn();
  t.match(shown(odd), /did not log the user in: unknown/u);
  t.notMatch(odd.text, /script/u);
});

test('a log-in that the console has begun, and that fails, ends on the page Log in of the console', async (t) => {
  const { provider, server, browser, begin, logIn } = await given(t, { CONSOLE: 'on' });
  provider.behaviour.denies = 'access_denied';
  const shownAt = async (query: string): Promise<string> => {
    const answer = await logIn(query);
    t.equal(answer.status, 303);
    t.strictSame(browser.names(), [], 'the cookie of the flow is cleared');
    return locationOf(answer).replace(/request=[\w-]+$/u, '');
  };
  t.equal(await shownAt('?return=/console/audit%3Fa=1'), '/console/login?to=%2Faudit%3Fa%3D1&problem=denied&');
  t.equal(await shownAt(''), '/console/login?to=%2F&problem=denied&');
  t.equal((await logIn('?return=/uc/')).status, 401, 'another page has begun this log-in');
  t.equal((await browser.visit(await begin('?return=/console/'), json)).status, 401, 'a program gets a problem');
  provider.behaviour.denies = undefined;
  provider.behaviour.claims = { sub: '' };
  t.match(await shownAt('?return=/console/'), /problem=refused/u);
  provider.behaviour.token = 'status';
  t.match(await shownAt('?return=/console/'), /problem=unavailable/u);
  const unknown = await browser.visit(`${server.url}/login/oidc/callback?state=x&error=access_denied`);
  t.match(locationOf(unknown), /^\/console\/login\?to=%2F&problem=expired&/u);
  t.equal((await browser.visit(`${server.url}/login/oidc?return=//evil.example`)).status, 400);
});

test('a provider that is down, slow or broken gets a 503 that says so, and is left in peace', async (t) => {
  const { clock, provider, server, browser, logIn, lines } = await given(t);
  const unavailable = /the identity provider is not reachable, or its answer is not valid: try again later/u;
  for (const fail of ['status', 'garbage', 'large', 'redirect'] as const) {
    provider.state.fail = fail;
    const asked = provider.state.asked.length;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const answer = await browser.visit(`${server.url}/login/oidc`);
      t.equal(answer.status, 503, fail);
      t.equal(answer.headers['retry-after'], '5');
      t.match(shown(answer), unavailable);
    }
    t.equal(provider.state.asked.length, asked + 1, 'one request for all');
    clock.advance(oidcRetryMs);
  }
  provider.state.fail = 'hang';
  const asked = provider.state.asked.length;
  const slow = browser.visit(`${server.url}/login/oidc`);
  await until(() => provider.state.asked.length > asked);
  clock.advance(oidcFetchMs);
  t.equal((await slow).status, 503, 'hang');
  clock.advance(oidcRetryMs);
  provider.state.fail = undefined;
  for (const fail of ['status', 'garbage', 'large', 'redirect'] as const) {
    provider.behaviour.token = fail;
    const answer = await logIn();
    t.equal(answer.status, 503, `token: ${fail}`);
    t.match(shown(answer), unavailable);
  }
  provider.behaviour.token = 'hang';
  const redeemed = provider.requests.token.length;
  const pending = logIn();
  await until(() => provider.requests.token.length > redeemed);
  clock.advance(oidcFetchMs);
  t.equal((await pending).status, 503, 'token: hang');
  provider.behaviour.token = 'client';
  t.match(shown(await logIn()), /does not accept this server as its client/u);
  t.match(lines.join(''), /cannot redeem a code[^\n]*status 401 and the error invalid_client/u);
  t.notMatch(lines.join(''), new RegExp(clientSecret, 'u'));
  provider.behaviour.token = undefined;
  t.equal((await logIn()).status, 303);
});

test('a provider that names another issuer, or endpoints that are not trusted, is not used', async (t) => {
  const { clock, provider, server, browser } = await given(t);
  const { discovered: right } = provider.state;
  for (const discovered of [
    { issuer: 'https://evil.example' },
    { authorization_endpoint: 'javascript:alert(1)' },
    { authorization_endpoint: 'http://evil.example/' },
    { token_endpoint: 7 },
  ]) {
    provider.state.discovered = { ...right, ...discovered };
    t.equal((await browser.visit(`${server.url}/login/oidc`)).status, 503, JSON.stringify(discovered));
    clock.advance(oidcRetryMs);
  }
});

test('a path of the return is a path of this server', async (t) => {
  const { server, browser, logIn } = await given(t);
  for (const path of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'console',
    '',
    '/a b',
    '/a\tb',
    '/\r\nSet-Cookie:x',
    '/ä',
    `/${'x'.repeat(512)}`,
  ]) {
    const answer = await browser.visit(`${server.url}/login/oidc?return=${encodeURIComponent(path)}`);
    t.equal(answer.status, 400, JSON.stringify(path).slice(0, 40));
    t.match(shown(answer), /return: must/u);
  }
  t.equal((await browser.visit(`${server.url}/login/oidc?return=/a&return=/b`)).status, 400);
  t.equal((await browser.visit(`${server.url}/login/oidc?Return=/a`)).status, 400);
  t.strictSame(browser.names(), []);
  t.equal(locationOf(await logIn(`?return=/${'x'.repeat(511)}`)), `/${'x'.repeat(511)}`);
  t.equal(locationOf(await logIn()), '/');
});

test('behind a proxy the provider sends the browser to the public URL, and the cookies are of this host', async (t) => {
  const { provider, server, browser } = await given(t, {
    PUBLIC_URL: 'https://ops.example/ledger/',
    TRUSTED_PROXIES: '127.0.0.1',
  });
  provider.behaviour.redirectUris = ['https://ops.example/ledger/login/oidc/callback'];
  const headers = { 'x-forwarded-proto': 'https', host: 'node-1' };
  const begun = await browser.visit(`${server.url}/login/oidc`, headers);
  t.match(begun.headers['set-cookie'], [
    /^__Host-ledgerplane_login_[\w-]{43}=.*; Path=\/; HttpOnly; SameSite=Lax; Secure$/u,
  ]);
  const back = new URL(locationOf(await new Browser().visit(locationOf(begun))));
  t.equal(back.origin + back.pathname, 'https://ops.example/ledger/login/oidc/callback');
  const twin = browser.copy();
  const answer = await browser.visit(`${server.url}/login/oidc/callback${back.search}`, headers);
  t.equal(locationOf(answer), '/ledger/');
  t.match(answer.headers['set-cookie']?.[0], /; Secure$/u);
  t.equal(
    (await twin.visit(`${server.url}/login/oidc/callback${back.search}`)).status,
    400,
    'a cookie for TLS is not used without it',
  );
});

test('a public client is protected by PKCE alone, and the claim names the user', async (t) => {
  const { provider, server, browser, logIn } = await given(t, {
    OIDC_CLIENT_SECRET: '',
    OIDC_USERNAME_CLAIM: 'email',
  });
  provider.behaviour.secret = undefined;
  provider.behaviour.claims = { email: 'jane@example.com', email_verified: false };
  t.match(shown(await logIn()), /its claim &#34;email&#34; names no user/u);
  provider.behaviour.claims = { email: 'jane@example.com', email_verified: true };
  t.equal((await logIn()).status, 303);
  t.match(JSON.parse((await browser.visit(`${server.url}/session`, json)).text) as Json, {
    username: 'oidc:jane@example.com',
  });
});

test('several flows of one browser finish in any order, and the oldest of many ends', async (t) => {
  const { browser, begin } = await given(t);
  const callbacks: string[] = [];
  for (let flow = 0; flow <= oidcFlowsMax; flow += 1) callbacks.push(await begin(`?return=/${String(flow)}`));
  t.equal(browser.names().length, oidcFlowsMax);
  const [first = '', ...rest] = callbacks;
  t.equal((await browser.visit(first)).status, 400);
  for (const callback of rest.reverse()) t.equal((await browser.visit(callback)).status, 303);
});

test('failed log-ins of a network are limited, before the provider is asked', async (t) => {
  const { clock, provider, browser, logIn, begin } = await given(t);
  const callback = await begin();
  const twins = Array.from({ length: logInFailuresInAllMax }, () => browser.copy());
  t.equal((await browser.visit(callback)).status, 303, 'a success is not counted');
  for (const twin of twins) t.equal((await twin.visit(callback)).status, 401);
  const asked = provider.requests.token.length;
  const answer = await logIn();
  t.equal(answer.status, 429);
  t.equal(answer.headers['retry-after'], '60');
  t.equal(provider.requests.token.length, asked);
  clock.advance(60_000);
  t.equal((await logIn()).status, 303);
});

test('without a client the paths say so, and a program gets a problem document', async (t) => {
  const server = await startTestServer();
  t.teardown(async () => server.remove());
  for (const path of ['/login/oidc', '/login/oidc/callback']) {
    const answer = await ask(server.url, path);
    t.equal(answer.status, 404);
    t.match(JSON.parse(answer.text) as Json, { detail: /OIDC_CLIENT_ID is not set/u });
  }
  const page = await new Browser().visit(`${server.url}/login/oidc`);
  t.equal(page.status, 404);
  t.notMatch(page.text, /href/u);
  t.strictSame(JSON.parse((await ask(server.url, '/login/methods')).text) as Json, {
    methods: [{ kind: 'password', path: '/login' }],
  });
});
