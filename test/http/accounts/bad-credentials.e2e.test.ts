import { test, type Test } from 'tap';

import { sessionLifetimeMs } from '../../../src/limits/access.ts';
import { Administration, as, core, passwordOf } from '../../support/server/administration.ts';
import { ask, basic, type Answered } from '../../support/ask.ts';
import { adminAuthorization, type TestServer } from '../../support/server/start-server.ts';
import { StoppedTime } from '../../support/clocks/stopped-time.ts';
import { Watching } from '../../support/watching.ts';

type Headers = Readonly<Record<string, string>>;
type Session = { readonly cookie: string; readonly csrf: string };

const own = '/apis/uc.api.svc.run/v1alpha1';
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** A server that keeps its log lines, and the secrets sent to it, which no line may contain. */
class Stage {
  readonly secrets = new Set<string>();
  readonly #stopped: StoppedTime;
  readonly #lines: readonly string[];

  private constructor(stopped: StoppedTime, lines: readonly string[]) {
    [this.#stopped, this.#lines] = [stopped, lines];
  }

  static async open(t: Test): Promise<Stage> {
    const lines: string[] = [];
    return new Stage(
      await StoppedTime.start(t, {
        logLines: {
          write: (line) => {
            lines.push(line);
          },
        },
      }),
      lines,
    );
  }

  get server(): TestServer {
    return this.#stopped.server;
  }

  get clock(): StoppedTime['clock'] {
    return this.#stopped.clock;
  }

  get administration(): Administration {
    return new Administration(this.server.url);
  }

  /** The status a request for one's own account gets, which any credential that counts may read. */
  async status(headers: Headers, path = `${own}/users/-`): Promise<number> {
    for (const value of Object.values(headers)) this.secrets.add(value.slice(-43));
    return (await ask(this.server.url, path, { headers })).status;
  }

  async user(name: string): Promise<void> {
    this.secrets.add(passwordOf(name));
    await this.administration.user(name);
  }

  async token(owner: string, name: string, spec: object = {}): Promise<string> {
    const made = await this.administration.call(
      'POST',
      `${own}/personalaccesstokens`,
      { metadata: { name }, spec },
      { headers: as(owner) },
    );
    return (JSON.parse(made.text) as { readonly status: { readonly token: string } }).status.token;
  }

  async logIn(name: string): Promise<Session> {
    const answered = await ask(this.server.url, '/login', {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ username: name, password: passwordOf(name) }),
    });
    return {
      cookie: cookieOf(answered),
      csrf: String((JSON.parse(answered.text) as { readonly csrfToken?: string }).csrfToken),
    };
  }

  async logOut({ cookie, csrf }: Session): Promise<number> {
    return (await ask(this.server.url, '/logout', { method: 'POST', headers: { cookie, 'x-csrf-token': csrf } }))
      .status;
  }

  async restart(): Promise<void> {
    await this.#stopped.restart();
  }

  /** Until the name is free again. */
  async untilDeleted(plural: string, name: string): Promise<void> {
    const watching = await Watching.open(this.server.url, core(plural, name), {
      transport: 'json',
      headers: { authorization: adminAuthorization },
    });
    await this.administration.remove(plural, name);
    await watching.until(({ story }) => story.some((line) => line.startsWith('DELETED')));
    watching.leave();
  }

  silent(t: Test): void {
    t.strictSame(
      [...this.secrets].filter((secret) => secret.length >= 12 && this.#lines.some((line) => line.includes(secret))),
      [],
      `no line contains one of ${String(this.secrets.size)} secrets`,
    );
  }
}

function cookieOf({ headers }: Answered): string {
  return headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
}

function swapped(text: string): string {
  return text.replaceAll(/[A-Za-z]/gu, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const claims = base64url({ iss: 'https://issuer.example', aud: 'ledgerplane', sub: 'admin', exp: 4_102_444_800 });
const jwts = [
  ...['none', 'None', 'HS256', 'RS256', 'ES256', 'EdDSA'].map(
    (alg) => `${base64url({ alg, typ: 'JWT' })}.${claims}.${alg.toLowerCase() === 'none' ? '' : 'c2lnbmF0dXJl'}`,
  ),
  `${base64url({ alg: 'RS256', jku: 'http://127.0.0.1:1/keys' })}.${claims}.c2lnbmF0dXJl`,
  `${base64url({ alg: 'dir', enc: 'A256GCM' })}..a.b.c`,
  '..',
  'a.b.c',
];

test('only the exact text that was issued is a token', async (t) => {
  const stage = await Stage.open(t);
  await stage.user('alice');
  const [token, other] = [await stage.token('alice', 'one'), await stage.token('alice', 'two')];
  const { cookie } = await stage.logIn('alice');
  const session = cookie.split('=')[1] ?? '';
  const [, uid = '', secret = ''] = /^pat_([0-9a-f]{32})_(.{43})$/u.exec(token) ?? [];
  const text = (changed: string): Headers => ({ authorization: `Bearer ${changed}` });
  for (const headers of [
    text(token),
    { authorization: `bearer ${token}` },
    { authorization: `BEARER   ${token}` },
    { cookie },
  ])
    t.equal(await stage.status(headers), 200);
  const bad: readonly Headers[] = [
    ...[
      token.slice(0, -1),
      token.slice(1),
      token.slice(0, 36),
      `${token}A`,
      `${token}=`,
      `${token}${token}`,
      `x${token}`,
      swapped(token),
      token.toUpperCase(),
      `PAT_${uid}_${secret}`,
      `pat_${uid.toUpperCase()}_${secret}`,
      `pat_${uid}_${swapped(secret)}`,
    ].map(text),
    ...[
      `pat_${uid}_${'A'.repeat(43)}`,
      `pat_${uid}_`,
      `pat_${other.slice(4, 36)}_${secret}`,
      `pat_${'0'.repeat(32)}_${secret}`,
      `pat-${uid}-${secret}`,
      `pat_${Array.from(uid).reverse().join('')}_${secret}`,
      Buffer.from(token).toString('base64'),
    ].map(text),
    // One kind of text never stands for the other.
    ...[session, `pat_${session.slice(4)}`].map(text),
    { cookie: `ledgerplane_session=${token}` },
    { cookie: `ledgerplane_session=ses_${token.slice(4)}` },
    ...[
      `Bearer ${token} `.trimEnd().concat(' x'),
      `Bearer ${token},${token}`,
      `Bearer "${token}"`,
      `Bearer: ${token}`,
      `Token ${token}`,
      token,
      'Bearer',
      'Bearer ',
      `Basic ${token}`,
      basic('alice', token),
      basic(token, ''),
      basic('', token),
      basic(token, 'x-oauth-basic'),
    ].map((authorization) => ({ authorization })),
    ...[
      '',
      '=',
      'x',
      session.slice(0, -1),
      `${session}A`,
      swapped(session),
      `"${session}"`,
      `${session.slice(0, -1)}%41`,
      encodeURIComponent(`${session}=`),
    ].map((value) => ({ cookie: `ledgerplane_session=${value}` })),
    ...jwts.map(text),
  ];
  for (const [index, headers] of bad.entries())
    t.equal(await stage.status(headers), 401, `bad credential ${String(index)}`);
  t.equal(
    (await ask(stage.server.url, `${own}/users/-?access_token=${token}`)).status,
    401,
    'a query is no place for one',
  );
  t.equal(await stage.status({ ...text('nonsense'), cookie }), 401, 'a good cookie does not help a bad header');
  t.equal(
    await stage.status({ cookie: swapped(cookie).replace('LEDGERPLANE_SESSION', 'Ledgerplane_Session') }),
    401,
    'a cookie of another name is none',
  );
  stage.silent(t);
});

test('an expired token stays expired', async (t) => {
  const stage = await Stage.open(t);
  const { administration } = stage;
  for (const name of ['alice', 'bob', 'carol', 'dave']) await stage.user(name);
  const bearer = async (owner: string, name: string, spec: object = {}): Promise<Headers> => ({
    authorization: `Bearer ${await stage.token(owner, name, spec)}`,
  });
  const expiring = await bearer('alice', 'expiring', { expiresAt: new Date(stage.clock.now() + 1_000).toISOString() });
  const ends: readonly (readonly [what: string, headers: Headers, end: () => Promise<void>])[] = [
    [
      'revoked',
      await bearer('alice', 'revoked'),
      async () => administration.merge('personalaccesstokens', 'revoked', { spec: { revoked: true } }),
    ],
    ['deleted', await bearer('alice', 'deleted'), async () => administration.remove('personalaccesstokens', 'deleted')],
    [
      'of a disabled user',
      await bearer('bob', 'bobs'),
      async () => administration.merge('users', 'bob', { spec: { disabled: true } }),
    ],
    ['of a deleted user', await bearer('carol', 'carols'), async () => administration.remove('users', 'carol')],
    [
      'of a user made again',
      await bearer('dave', 'daves'),
      async () => {
        await stage.untilDeleted('users', 'dave');
        await stage.user('dave');
      },
    ],
  ];
  t.equal(await stage.status(expiring), 200);
  stage.clock.advance(999);
  t.equal(await stage.status(expiring), 200, 'to the last');
  stage.clock.advance(1);
  t.equal(await stage.status(expiring), 401, 'expired');
  for (const [what, headers, end] of ends) {
    t.equal(await stage.status(headers), 200, `not yet ${what}`);
    await end();
    t.equal(await stage.status(headers), 401, what);
  }
  t.equal(await stage.status(as('dave')), 200, 'the new user is somebody');
  await stage.restart();
  for (const [what, headers] of ends) t.equal(await stage.status(headers), 401, `${what}, after a restart`);
  t.equal(await stage.status(expiring), 401);
  stage.silent(t);
});

test('an ended session is refused afterwards, and a valid one survives a restart', async (t) => {
  const stage = await Stage.open(t);
  const { administration } = stage;
  for (const name of ['alice', 'bob', 'carol', 'dave', 'erin']) await stage.user(name);
  const [left, staying, overtaken] = [await stage.logIn('alice'), await stage.logIn('alice'), await stage.logIn('bob')];
  // More than can be deleted before the user is enabled again.
  const disabled: Session[] = [];
  while (disabled.length < 30)
    disabled.push(...(await Promise.all(Array.from({ length: 10 }, async () => stage.logIn('carol')))));
  const [again, old] = [await stage.logIn('dave'), await stage.logIn('erin')];
  for (const { cookie } of [left, staying, overtaken, ...disabled, again, old])
    t.equal(await stage.status({ cookie }), 200);
  t.equal(await stage.logOut(left), 204);
  await administration.merge('users', 'bob', { spec: { password: 'another password' } });
  await administration.merge('users', 'bob', { spec: { password: passwordOf('bob') } });
  await administration.merge('users', 'carol', { spec: { disabled: true } });
  t.equal(await stage.status({ cookie: disabled[0]!.cookie }), 401, 'while disabled');
  await administration.merge('users', 'carol', { spec: { disabled: false } });
  await stage.untilDeleted('users', 'dave');
  await stage.user('dave');
  const ended = [
    ['after the log-out', left],
    ['after another password, though it is the old one again', overtaken],
    ...disabled.map((session) => ['after being disabled and enabled', session] as const),
    ['of a user made again', again],
  ] as const;
  for (const [what, { cookie }] of ended) t.equal(await stage.status({ cookie }), 401, what);
  t.equal(await stage.logOut(left), 401, 'a session ends once');
  await stage.restart();
  for (const [what, { cookie }] of ended) t.equal(await stage.status({ cookie }), 401, `${what}, and a restart`);
  t.equal(await stage.status({ cookie: staying.cookie }), 200, 'the restart alone ends none');
  t.equal(await stage.status({ cookie: old.cookie }), 200);
  stage.clock.jump(sessionLifetimeMs);
  t.equal(await stage.status({ cookie: old.cookie }), 401, 'a day is over');
  stage.silent(t);
});

test('cached basic credentials are dropped when they stop being valid', async (t) => {
  const stage = await Stage.open(t);
  const { administration } = stage;
  await stage.user('alice');
  t.equal(await stage.status(as('alice')), 200);
  await administration.merge('users', 'alice', { spec: { disabled: true } });
  t.equal(await stage.status(as('alice')), 401, 'disabled');
  await administration.merge('users', 'alice', { spec: { disabled: false } });
  t.equal(await stage.status(as('alice')), 200);
  await administration.merge('users', 'alice', { spec: { password: 'another password' } });
  t.equal(await stage.status(as('alice')), 401, 'the old password');
  t.equal(await stage.status({ authorization: basic('alice', 'another password') }), 200);
  for (const headers of [
    basic('Alice', 'another password'),
    basic('alice ', 'another password'),
    basic('alice', 'Another password'),
    basic('alice', 'another password '),
    basic('alice', ''),
    basic('oidc:alice', 'another password'),
  ])
    t.equal(await stage.status({ authorization: headers }, '/livez'), 401, 'even where everybody may go');
  stage.silent(t);
});

test("another site's page can neither log in nor write, and a request with several cookies is refused", async (t) => {
  const stage = await Stage.open(t);
  await stage.user('alice');
  const {
    server: { url },
  } = stage;
  const [session, other] = [await stage.logIn('alice'), await stage.logIn('alice')];
  const foreign: readonly Headers[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${url}.evil.example` },
    { origin: `${url}0` },
    { origin: '' },
    { origin: url, 'sec-fetch-site': 'cross-site' },
  ];
  const body = new URLSearchParams({ username: 'alice', password: passwordOf('alice') }).toString();
  for (const headers of foreign) {
    const answered = await ask(url, '/login', { method: 'POST', headers: { ...form, ...headers }, body });
    t.strictSame(
      [answered.status, answered.headers['set-cookie']],
      [403, undefined],
      `log-in with ${JSON.stringify(headers)}`,
    );
  }
  const write = async (headers: Headers, path = `${own}/personalaccesstokens`): Promise<number> =>
    (
      await ask(url, path, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: '{"metadata":{"generateName":"made-"}}',
      })
    ).status;
  const [{ cookie, csrf }] = [session];
  for (const headers of foreign) {
    for (const path of [undefined, '/logout'])
      t.equal(
        await write({ cookie, 'x-csrf-token': csrf, ...headers }, path),
        403,
        `by cookie with ${JSON.stringify(headers)}`,
      );
    t.equal(await write({ ...as('alice'), ...headers }), 403, 'by password, as a browser sends that along, too');
  }
  for (const headers of [
    {},
    { origin: url },
    { referer: url },
    { 'sec-fetch-site': 'none' },
    { 'x-csrf-token': '' },
    { 'x-csrf-token': other.csrf },
    { 'x-csrf-token': csrf.slice(1) },
    { 'x-csrf-token': swapped(csrf) },
    { 'x-requested-with': 'XMLHttpRequest' },
    { ...form },
  ]) {
    for (const path of [undefined, '/logout'])
      t.equal(await write({ cookie, ...headers }, path), 403, `by cookie with ${JSON.stringify(Object.keys(headers))}`);
  }
  const several = [
    `${cookie}; ${cookie}`,
    `${cookie}; ${other.cookie}`,
    `ledgerplane_session=; ${cookie}`,
    `${cookie}; ledgerplane_session=x`,
    `${cookie};ledgerplane_session`.concat('='),
  ];
  for (const cookies of several)
    t.strictSame(
      [await stage.status({ cookie: cookies }), await write({ cookie: cookies, 'x-csrf-token': csrf })],
      [401, 401],
      'several cookies',
    );
  const { items } = JSON.parse((await ask(url, `${own}/personalaccesstokens`, { headers: { cookie } })).text) as {
    readonly items: readonly unknown[];
  };
  t.equal(items.length, 0, 'nothing was made');
  for (const headers of [
    { 'x-csrf-token': csrf },
    { 'sec-fetch-site': 'same-origin' },
    { origin: url, 'x-csrf-token': csrf },
  ])
    t.equal(await write({ cookie, ...headers }), 201, 'by its own page');
  for (const text of [csrf, other.csrf, session.cookie.slice(-43)]) stage.secrets.add(text);
  stage.silent(t);
});
