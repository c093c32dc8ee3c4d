import { createHmac } from 'node:crypto';
import { CompactEncrypt, SignJWT } from 'jose';
import { test, type Test } from 'tap';

import type { OidcSettings } from '../../src/access/identity-provider.ts';
import { OidcVerifier } from '../../src/auth/authentication/oidc.ts';
import {
  basicCacheMs,
  oidcClaimLengthMax,
  oidcFetchMs,
  oidcKeysMs,
  oidcLeewayMs,
  oidcRetryMs,
  oidcUnknownKeyMs,
} from '../../src/limits/access.ts';
import { until } from '../support/server/accounts.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { bearer, givenCredentials } from './credentials.ts';
import { newKey, startIssuer } from './oidc-issuer.ts';

const key = await newKey('one');
const other = await newKey('two');

async function given(t: Test, changes: Partial<OidcSettings> = {}) {
  const clock = new FakeClock();
  const problems: string[] = [];
  const issuer = await startIssuer(t, key, () => clock.now());
  const settings: OidcSettings = {
    issuer: issuer.url,
    audience: 'ledgerplane',
    usernameClaim: 'sub',
    jwksUrl: undefined,
    client: undefined,
    ...changes,
  };
  const all = givenCredentials({
    clock,
    oidc: new OidcVerifier({
      settings,
      clock,
      fetch,
      onProblem: (problem) => {
        problems.push(problem);
      },
    }),
  });
  const show = async (token: string) => all.authenticate({ authorization: bearer(token) });
  return { ...all, issuer, problems, show };
}

const unauthorized = { ok: false, reason: 'unauthorized' };
const unavailable = { ok: false, reason: 'unavailable', retryAfterSeconds: 1 };

test('a token of the issuer authenticates the named user, without a User object', async (t) => {
  const { clock, issuer, show } = await given(t);
  t.strictSame(await show(await issuer.token()), {
    ok: true,
    subject: {
      kind: 'user',
      name: 'oidc:jane',
      credential: { kind: 'oidc', expiresAt: (Math.floor(clock.now() / 1_000) + 300) * 1_000 + oidcLeewayMs },
    },
  });
  t.match(await show(await issuer.token({ aud: ['another', 'ledgerplane'] })), { ok: true });
  t.match(
    await show(await issuer.token({ sub: 'admin' })),
    { subject: { name: 'oidc:admin' } },
    'no local user is meant',
  );
  t.strictSame(issuer.state.asked, ['/.well-known/openid-configuration', '/keys'], 'the keys are asked for once');
});

test('the configuration may name the keys, and the claim, too', async (t) => {
  const { issuer, show } = await given(t, { usernameClaim: 'email' });
  t.match(await show(await issuer.token({ email: 'jane@example.com' })), {
    ok: true,
    subject: { name: 'oidc:jane@example.com' },
  });
  t.match(
    await show(await issuer.token({ email: 'jane@example.com', email_verified: false })),
    unauthorized,
    'an address nobody has confirmed',
  );
  const direct = await startIssuer(t, key, () => Date.UTC(2026, 0, 1));
  const { show: showDirect } = await given(t, { issuer: direct.url, jwksUrl: `${direct.url}/keys` });
  t.match(await showDirect(await direct.token()), { ok: true });
  t.strictSame(direct.state.asked, ['/keys']);
});

test("a token is valid only with the issuer's signature, this audience and this time", async (t) => {
  const { clock, issuer, show } = await given(t);
  const now = Math.floor(clock.now() / 1_000);
  const leeway = oidcLeewayMs / 1_000;
  const good = await issuer.token();
  const [head = '', body = '', signature = ''] = good.split('.');
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${encoded({ alg: 'none' })}.${body}.`;
  const macHead = `${encoded({ alg: 'HS256', kid: 'one' })}.${body}`;
  const mac = (secret: string): string =>
    `${macHead}.${createHmac('sha256', secret).update(macHead).digest('base64url')}`;
  const cases: Readonly<Record<string, string>> = {
    cut: good.slice(0, -2),
    lengthened: `${good}AA`,
    'without its signature': `${head}.${body}.`,
    'alg none': unsigned,
    'alg none with a signature': `${unsigned}${signature}`,
    'alg None': `${encoded({ alg: 'None' })}.${body}.`,
    'HS256 with the public key': mac(key.pem),
    'HS256 with the public key, trimmed': mac(key.pem.trim()),
    'HS256 with the key as JSON': mac(JSON.stringify(key.publicJwk)),
    'HS256 with an empty secret': mac(''),
    'claims of another token': `${head}.${(await issuer.token({ sub: 'admin' })).split('.')[1] ?? ''}.${signature}`,
    'another key': await issuer.token({}, other),
    'another key, same kid': await issuer.token({}, { ...other, kid: 'one' }),
    'a key of its own in the header': await new SignJWT(issuer.claims())
      .setProtectedHeader({ alg: 'RS256', jwk: other.publicJwk })
      .sign(other.privateKey),
    'an unknown critical header': await new SignJWT(issuer.claims())
      .setProtectedHeader({ alg: 'RS256', kid: 'one', crit: ['x'], x: 1 })
      .sign(key.privateKey, { crit: { x: true } }),
    'another issuer': await issuer.token({ iss: 'https://evil.example' }),
    'issuer with a slash more': await issuer.token({ iss: `${issuer.url}/` }),
    'no issuer': await issuer.token({ iss: undefined } as never),
    'another audience': await issuer.token({ aud: 'other' }),
    'no audience': await issuer.token({ aud: undefined } as never),
    'an audience that begins the same': await issuer.token({ aud: 'ledgerplane2' }),
    expired: await issuer.token({ exp: now - leeway }),
    'no expiry': await issuer.token({ exp: undefined } as never),
    'an expiry as text': await issuer.token({ exp: String(now + 300) } as never),
    'not yet valid': await issuer.token({ nbf: now + leeway + 1 }),
    'no claim': await issuer.token({ sub: undefined } as never),
    'an empty claim': await issuer.token({ sub: '' }),
    'a claim that is no text': await issuer.token({ sub: 7 } as never),
    'a control character': await issuer.token({ sub: 'jane\u0000' }),
    'a line break': await issuer.token({ sub: 'jane\n' }),
    'too long': await issuer.token({ sub: 'x'.repeat(oidcClaimLengthMax + 1) }),
    encrypted: await new CompactEncrypt(Buffer.from('{}'))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .encrypt(new Uint8Array(32)),
    nothing: '..',
    'no token': 'abc',
  };
  for (const [what, token] of Object.entries(cases)) t.match(await show(token), unauthorized, what);
  t.match(await show(await issuer.token({ exp: now - leeway + 1 })), { ok: true }, 'within the leeway');
  t.match(await show(await issuer.token({ nbf: now + leeway })), { ok: true });
  t.match(await show(await issuer.token({ sub: 'x'.repeat(oidcClaimLengthMax) })), { ok: true });
  t.match(await show(good), { ok: true });
});

test('a rotated key is found, and a removed one is valid no longer than the keys are cached', async (t) => {
  const { clock, issuer, show } = await given(t);
  const old = await issuer.token({ exp: Math.floor(clock.now() / 1_000) + 100_000 });
  t.match(await show(old), { ok: true });
  const asked = issuer.state.asked.length;
  issuer.state.keys = [other.publicJwk];
  const rotated = async () => show(await issuer.token({ jti: String(clock.now()) }, other));
  t.match(await rotated(), unauthorized, 'nobody has the issuer asked at will');
  t.equal(issuer.state.asked.length, asked);
  clock.advance(oidcUnknownKeyMs);
  t.match(await rotated(), { ok: true });
  clock.advance(basicCacheMs);
  t.match(await show(old), unauthorized);
  issuer.state.keys = [key.publicJwk];
  clock.advance(oidcKeysMs);
  t.match(await show(old), { ok: true }, 'old keys are asked for again');
});

test('every kind of key pair that an issuer may have', async (t) => {
  const { issuer, show } = await given(t);
  for (const alg of ['PS256', 'ES256', 'ES384', 'EdDSA']) {
    const pair = await newKey(alg, alg);
    const own = await startIssuer(t, pair, () => Date.UTC(2026, 0, 1));
    const { show: showOwn } = await given(t, { issuer: own.url });
    t.match(await showOwn(await own.token({}, pair)), { ok: true }, alg);
  }
  t.match(await show(await issuer.token()), { ok: true });
});

test('unavailable keys do not make a token invalid', async (t) => {
  for (const fail of ['status', 'garbage', 'large', 'redirect'] as const) {
    const { clock, issuer, problems, show } = await given(t);
    const token = await issuer.token();
    issuer.state.fail = fail;
    t.match(await show(token), unavailable, fail);
    const asked = issuer.state.asked.length;
    t.match(await show(token), unavailable);
    t.equal(issuer.state.asked.length, asked, 'and it is left in peace');
    t.match(problems, [/cannot fetch the keys of the identity provider: /u]);
    t.notOk(problems.join('').includes(token));
    issuer.state.fail = undefined;
    clock.advance(oidcRetryMs);
    t.match(await show(token), { ok: true }, 'until it is back');
  }
});

test('an issuer that is missing or silent delays a request no longer than the limit', async (t) => {
  const { show: showNobody, issuer: signer } = await given(t, { issuer: 'http://127.0.0.1:1' });
  t.match(await showNobody(await signer.token()), unavailable);
  const { clock, issuer, problems, show } = await given(t);
  issuer.state.fail = 'hang';
  const pending = Promise.all([show(await issuer.token()), show(await issuer.token({ jti: '2' }))]);
  await until(() => issuer.state.asked.length > 0);
  t.equal(clock.timers, 1);
  clock.advance(oidcFetchMs);
  t.match(await pending, [unavailable, unavailable]);
  t.equal(issuer.state.asked.length, 1, 'one request for all callers');
  t.match(problems, [/no response within 5 s/u]);
});

test('a discovery document of another issuer, or with keys elsewhere, is refused', async (t) => {
  for (const discovered of [
    { issuer: 'https://evil.example' },
    { jwks_uri: 'http://evil.example/keys' },
    { jwks_uri: 7 },
    { jwks_uri: 'file:///etc/passwd' },
  ]) {
    const { issuer, show } = await given(t);
    issuer.state.discovered = discovered;
    t.match(await show(await issuer.token()), unavailable, JSON.stringify(discovered));
    t.strictSame(issuer.state.asked, ['/.well-known/openid-configuration']);
  }
});

test('a token is cached for a minute, and never past its own expiry', async (t) => {
  const { authenticator, clock, issuer, show } = await given(t);
  const now = Math.floor(clock.now() / 1_000);
  const isRemembered = async (token: string): Promise<boolean> => {
    const answer = authenticator.authenticate({ authorization: bearer(token), cookie: undefined, address: '' });
    await answer;
    return !(answer instanceof Promise);
  };
  const [long, short, late] = [
    await issuer.token(),
    await issuer.token({ exp: now + 10 }),
    await issuer.token({ exp: now - 1 }),
  ];
  for (const token of [long, short, late]) await show(token);
  t.strictSame(await Promise.all([long, short, late].map(isRemembered)), [true, true, false]);
  clock.advance(10_000);
  t.strictSame(await Promise.all([long, short].map(isRemembered)), [true, false]);
  clock.advance(oidcLeewayMs);
  t.match(await show(short), unauthorized);
  clock.advance(basicCacheMs - oidcLeewayMs - 10_000);
  t.equal(await isRemembered(long), false);
});

test('without a configured audience no bearer token of the issuer is accepted', async (t) => {
  const { issuer, show } = await given(t, { audience: undefined });
  for (const aud of ['ledgerplane', '', 'undefined'])
    t.match(await show(await issuer.token({ aud })), unauthorized, aud);
  t.strictSame(issuer.state.asked, []);
});

test('without an identity provider any other bearer token is refused', async (t) => {
  const issuer = await startIssuer(t, key, () => Date.now());
  const { authenticate } = givenCredentials();
  t.match(await authenticate({ authorization: bearer(await issuer.token()) }), unauthorized);
  t.strictSame(issuer.state.asked, []);
});
