import { test, type Test } from 'tap';

import type { RecordedEvent } from '../../src/log/log.ts';
import { newKey, startIssuer } from '../auth/oidc-issuer.ts';
import { ask, basic, type Answered, type Asked } from '../support/ask.ts';
import { core } from '../support/server/administration.ts';
import { filesIn, PlantedSecrets, recordedIn } from '../support/server/planted-secrets.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { transports, Watching } from '../support/watching.ts';

type Sent = Omit<Asked, 'headers'> & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number | readonly number[];
  /** What this answer may show. */ readonly shown?: readonly string[];
};

/** A request that keeps all its answers. */
type Send = (path: string, sent: Sent) => Promise<Answered>;

const own = '/apis/uc.api.svc.run/v1alpha1';
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const [jsonPatch, mergePatch] = [
  { 'content-type': 'application/json-patch+json' },
  { 'content-type': 'application/merge-patch+json' },
];

function sender(t: Test, origin: string, planted: PlantedSecrets): Send {
  return async (path, { status, shown = [], ...asked }) => {
    const headers = { ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }), ...asked.headers };
    const answered = await ask(origin, path, { ...asked, headers });
    const what = `${asked.method ?? 'GET'} ${path} (${String(answered.status)})`;
    planted.add(what, `${JSON.stringify(answered.headers)}${answered.text}`, shown);
    t.ok([status].flat().includes(answered.status), `${what} is ${[status].flat().join(' or ')}`, {
      text: answered.text,
    });
    return answered;
  };
}

function user(name: string, password: unknown, more: object = {}): string {
  return JSON.stringify({ apiVersion: 'v1alpha1', kind: 'User', metadata: { name }, spec: { password }, ...more });
}

/** Passwords that are set, each in another way; returns Jane's last one. */
async function setPasswords(
  send: Send,
  planted: PlantedSecrets,
  admin: Readonly<Record<string, string>>,
): Promise<string> {
  const jane = core('users', 'jane');
  await send(core('users'), {
    method: 'POST',
    headers: admin,
    body: user('jane', planted.plant('a password at create')),
    status: 201,
  });
  await send(jane, {
    method: 'PUT',
    headers: admin,
    body: user('jane', planted.plant('a password by PUT')),
    status: 200,
  });
  await send(jane, {
    method: 'PATCH',
    headers: { ...admin, ...mergePatch },
    body: JSON.stringify({ spec: { password: planted.plant('a password by merge patch') } }),
    status: 200,
  });
  const patched = planted.plant('a password by JSON Patch');
  await send(jane, {
    method: 'PATCH',
    headers: { ...admin, ...jsonPatch },
    body: JSON.stringify([{ op: 'add', path: '/spec/password', value: patched }]),
    status: 200,
  });
  const last = planted.plant('a password one sets oneself');
  const change = (currentPassword: string, password: string): string => JSON.stringify({ currentPassword, password });
  const headers = { authorization: planted.know('a Basic header', basic('jane', patched)) };
  await send(`${own}/users/-/password`, {
    method: 'PUT',
    headers,
    body: change(planted.plant('a wrong current password'), planted.plant('a password not taken')),
    status: 422,
  });
  await send(`${own}/users/-/password`, {
    method: 'PUT',
    headers,
    body: change(patched, `${planted.plant('an impossible password')}\n`),
    status: 422,
  });
  await send(`${own}/users/-`, {
    method: 'PUT',
    headers,
    body: user('jane', planted.plant('a password in the account')),
    status: 422,
  });
  await send(`${own}/users/-/password`, { method: 'PUT', headers, body: change(patched, last), status: 200 });
  return last;
}

/** Passwords in requests that are refused, or that only ask what would be. */
async function refusedPasswords(
  send: Send,
  planted: PlantedSecrets,
  {
    admin,
    jane,
  }: { readonly admin: Readonly<Record<string, string>>; readonly jane: Readonly<Record<string, string>> },
): Promise<void> {
  const [users, item] = [core('users'), core('users', 'jane')];
  const next = (what: string): string => planted.plant(`a password ${what}`);
  const post = async (
    status: Sent['status'],
    body: string,
    {
      query = '',
      headers = admin,
    }: { readonly query?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<void> => {
    await send(users + query, { method: 'POST', headers, body, status });
  };
  await post(422, user('a', `${next('too long')}${'x'.repeat(2_000)}`));
  await post(422, user('a', `${next('with a control character')}\u0001`));
  await post(422, user('a', { text: next('as an object') }));
  await post(422, user('a', [next('in a list')]));
  await post(422, JSON.stringify({ metadata: { name: 'a' }, spec: next('as the spec') }));
  await post(422, JSON.stringify({ metadata: { name: 'a' }, spec: { passwrd: next('under another name') } }));
  await post(
    422,
    user('a', next('beside a wrong email'), { spec: { password: next('beside another wrong email'), email: 'none' } }),
  );
  await post(422, user('Not A Name', next('of no name')));
  await post(400, user('a', next('cut')).slice(0, -3));
  await post(
    400,
    `{"metadata":{"name":"a"},"spec":{"password":"${next('twice')}","password":"${next('twice, the other')}"}}`,
  );
  await post(400, next('as the body'));
  await post(400, JSON.stringify(next('as a JSON text')));
  await post(409, user('jane', next('of a name taken')));
  await post(413, user('a', next('too large'), { pad: 'x'.repeat(1_100_000) }));
  await post(415, next('in a form'), { headers: { ...admin, ...form } });
  await post(403, user('a', next('forbidden')), { headers: jane });
  await post(401, user('a', next('by a visitor')), { headers: {} });
  await post(201, user('a', next('in a dry run')), { query: '?dryRun=All' });
  await post(201, user('b', next('at Warn'), { unknown: next('in an unknown member') }), {
    query: '?fieldValidation=Warn',
  });
  await post(400, user('c', next('at Strict'), { unknown: next('in an unknown member at Strict') }), {
    query: '?fieldValidation=Strict',
  });
  await send(item, {
    method: 'PUT',
    headers: admin,
    body: user('jane', next('of an old version'), { metadata: { name: 'jane', resourceVersion: '1' } }),
    status: 409,
  });
  await send(item, {
    method: 'PUT',
    headers: { ...admin, 'if-match': '"99"' },
    body: user('jane', next('of another version')),
    status: 412,
  });
  for (const op of ['test', 'replace'])
    await send(item, {
      method: 'PATCH',
      headers: { ...admin, ...jsonPatch },
      body: JSON.stringify([{ op, path: '/spec/password', value: next(`in a ${op}`) }]),
      status: 422,
    });
  await send(item, {
    method: 'PATCH',
    headers: { ...admin, ...jsonPatch },
    body: JSON.stringify([{ op: 'nothing', path: '/spec/password', value: next('in no operation') }]),
    status: 400,
  });
  await send(item, {
    method: 'PATCH',
    headers: { ...admin, ...mergePatch },
    body: JSON.stringify([next('in no patch')]),
    status: 400,
  });
}

/** A path and a selector are echoed to their sender only (decision 8). */
async function misplaced(send: Send, planted: PlantedSecrets, admin: Readonly<Record<string, string>>): Promise<void> {
  for (const [headers, status] of [
    [admin, 404],
    [{}, 401],
  ] as const) {
    const what = `a password in a path, ${String(status)}`;
    await send(core('users', planted.plant(what)), { headers, status, shown: [what] });
  }
  const query = planted.plant('a password in a query');
  await send(`${core('users')}?password=${query}`, { headers: admin, status: 200 });
  await send(`${core('users')}?password=${query}`, { status: 401 });
  await send(`/nowhere?access_token=${query}`, { headers: admin, status: 404 });
  await send(`${core('users')}?fieldSelector=spec.password%3D${query}`, { headers: admin, status: 400 });
  await send(`${core('users')}?watch=true&access_token=${query}&resourceVersion=none`, { headers: admin, status: 400 });
}

async function wrongLogIns(send: Send, planted: PlantedSecrets): Promise<void> {
  const logIn = async (body: string, status: number, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
    await send('/login', { method: 'POST', body, headers, status });
  };
  await logIn(JSON.stringify({ username: 'jane', password: planted.plant('a wrong password') }), 401);
  await logIn(
    JSON.stringify({
      username: planted.plant('a password for a name'),
      password: planted.plant('a wrong password of nobody'),
    }),
    401,
  );
  await logIn(`username=jane&password=${planted.plant('a wrong password in a form')}`, 401, form);
  await logIn(`username=jane&password=${planted.plant('a password in a form twice')}&password=x`, 400, form);
  await logIn(JSON.stringify({ username: 'jane', password: [planted.plant('a password in a list')] }), 400);
  await logIn(`{"username":"jane","password":"${planted.plant('a password cut at log-in')}`, 400);
  await logIn(planted.plant('a password without a form'), 415, { 'content-type': 'text/plain' });
  await send('/livez', {
    headers: { authorization: basic('jane', planted.plant('a wrong Basic password')) },
    status: 401,
  });
  await send('/livez', { headers: { authorization: planted.plant('a password as a header') }, status: 401 });
}

/**
 * A session with its CSRF token, personal access tokens, and what the identity provider vouches for: used and misused.
 */
async function credentials(
  send: Send,
  planted: PlantedSecrets,
  {
    jane,
    password,
    jwts,
  }: {
    readonly jane: Readonly<Record<string, string>>;
    readonly password: string;
    readonly jwts: readonly [string, string];
  },
): Promise<void> {
  const logIn = await send('/login', {
    method: 'POST',
    body: `username=jane&password=${password}`,
    headers: form,
    status: 200,
    shown: ["the session's secret", 'the CSRF token'],
  });
  const cookie = logIn.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
  planted.know("the session's secret", cookie.slice(-43));
  const csrf = planted.know(
    'the CSRF token',
    String((JSON.parse(logIn.text) as { readonly csrfToken: unknown }).csrfToken),
  );
  const make = async (name: string, headers: Readonly<Record<string, string>>): Promise<string> => {
    const made = await send(`${own}/personalaccesstokens`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        metadata: { name },
        spec: { description: name },
        status: { token: planted.plant(`what ${name} is said to be`) },
      }),
      status: 201,
      shown: [`the secret of ${name}`],
    });
    const { token } = (JSON.parse(made.text) as { readonly status: { readonly token: string } }).status;
    planted.know(`the secret of ${name}`, token.slice(-43));
    return token;
  };
  const token = await make('one', { cookie, 'x-csrf-token': csrf });
  await make('two', jane);
  const dry = await send(`${own}/personalaccesstokens?dryRun=All`, {
    method: 'POST',
    headers: jane,
    body: JSON.stringify({ metadata: { name: 'dry' } }),
    status: 201,
  });
  if (dry.text.includes('pat_')) throw new Error('a dry run issues no token');
  const describe = { method: 'PATCH', body: '{"spec":{"description":"used"}}' };
  for (const headers of [{ authorization: `Bearer ${token}` }, { cookie, 'x-csrf-token': csrf }, jane])
    await send(`${own}/personalaccesstokens/one`, { ...describe, headers: { ...headers, ...mergePatch }, status: 200 });
  await send(`${own}/personalaccesstokens/one`, {
    ...describe,
    headers: { cookie, 'x-csrf-token': `${csrf}A`, ...mergePatch },
    status: 403,
  });
  for (const authorization of [`Bearer ${token}A`, `Basic ${token}`, token, `bearer ${cookie.split('=')[1] ?? ''}`])
    await send('/livez', { headers: { authorization }, status: 401 });
  await send('/livez', { headers: { cookie: `${cookie}; ${cookie}` }, status: 401 });
  const [good, bad] = jwts;
  await send(`${own}/personalaccesstokens`, {
    method: 'POST',
    body: '{"metadata":{"name":"foreign"}}',
    headers: { authorization: `Bearer ${good}` },
    status: 403,
  });
  await send('/livez', { headers: { authorization: `Bearer ${bad}` }, status: 401 });
  await send('/logout', { method: 'POST', headers: { cookie, 'x-csrf-token': csrf }, status: 204 });
}

/** Every list, every object of the core, and everything else that can be read without a name. */
async function readAll(send: Send, server: TestServer, admin: Readonly<Record<string, string>>): Promise<void> {
  for (const { method, pattern } of server.routes())
    if (method === 'GET' && !pattern.includes('{'))
      await send(pattern, {
        headers: admin,
        status: pattern.startsWith('/login/oidc') ? 404 : [200, 400, 405],
      });
  for (const plural of ['users', 'personalaccesstokens', 'sessions', 'roles', 'rolebindings']) {
    const { items } = JSON.parse(
      (await send(`${core(plural)}?sort=metadata.name`, { headers: admin, status: 200 })).text,
    ) as { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
    for (const {
      metadata: { name },
    } of items) {
      await send(core(plural, name), { headers: admin, status: 200 });
      await send(`${core(plural, name)}/history?include=object`, { headers: admin, status: 200 });
    }
  }
}

/** The whole history of all objects with secrets, by every transport, up to an object made last. */
async function watchAll(
  send: Send,
  planted: PlantedSecrets,
  {
    server,
    admin,
    password,
  }: { readonly server: TestServer; readonly admin: Readonly<Record<string, string>>; readonly password: string },
): Promise<number> {
  await send(core('users'), {
    method: 'POST',
    headers: admin,
    body: user('zz-last', planted.plant('the last password')),
    status: 201,
  });
  const made = await send(core('personalaccesstokens'), {
    method: 'POST',
    headers: admin,
    body: '{"metadata":{"name":"zz-last"}}',
    status: 201,
    shown: ['the last token'],
  });
  planted.know(
    'the last token',
    (JSON.parse(made.text) as { readonly status: { readonly token: string } }).status.token.slice(-43),
  );
  const logIn = await send('/login', {
    method: 'POST',
    body: JSON.stringify({ username: 'jane', password }),
    status: 200,
    shown: ['the last cookie'],
  });
  planted.know('the last cookie', logIn.headers['set-cookie']?.[0]?.split(';', 1)[0]?.slice(-43) ?? '');
  let frames = 0;
  for (const transport of transports) {
    for (const plural of ['users', 'personalaccesstokens', 'sessions']) {
      const watching = await Watching.open(server.url, `${core(plural)}?resourceVersion=1`, {
        transport,
        headers: admin,
      });
      await watching.until(({ story }) =>
        plural === 'sessions'
          ? story.filter((line) => line.startsWith('ADDED')).length === 2
          : story.some((line) => line.endsWith(' zz-last')),
      );
      watching.leave();
      for (const text of watching.texts) planted.add(`a frame of ${plural} by ${transport}`, text);
      frames += watching.texts.length;
    }
  }
  return frames;
}

function textOf({ data, metadata }: RecordedEvent): string {
  return `${Buffer.from(data).toString('utf8')}${Buffer.from(metadata).toString('utf8')}`;
}

test('no answer, watch, event, log line, metric or file contains a secret', async (t) => {
  t.comment('there is no history API yet: once there is, it has to be read here, too');
  const planted = new PlantedSecrets();
  const key = await newKey('one');
  const issuer = await startIssuer(t, key, Date.now);
  let compared: (line: string) => void = () => undefined;
  const logLines = {
    write: (line: string) => {
      planted.add('a line of the log', line);
      if (line.includes('ADMIN_PASSWORD')) compared(line);
    },
  };
  const administrators = planted.plant('ADMIN_PASSWORD');
  const environment = {
    ADMIN_PASSWORD: administrators,
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: 'ledgerplane',
    OIDC_JWKS_URL: `${issuer.url}/keys`,
  };
  let server = await startTestServer({ environment, logLines });
  t.teardown(async () => server.remove());
  const admin = { authorization: planted.know("the administrator's header", basic('admin', administrators)) };
  const send = sender(t, server.url, planted);

  const password = await setPasswords(send, planted, admin);
  const jane = { authorization: planted.know("Jane's header", basic('jane', password)) };
  await refusedPasswords(send, planted, { admin, jane });
  await misplaced(send, planted, admin);
  await wrongLogIns(send, planted);
  const jwts = [await issuer.token(), await issuer.token({ aud: 'another' })] as const;
  for (const jwt of jwts) planted.know(`the signature of a JWT ${String(jwts.indexOf(jwt))}`, jwt.split('.')[2] ?? '');
  await credentials(send, planted, { jane, password, jwts });
  await readAll(send, server, admin);
  const frames = await watchAll(send, planted, { server, admin, password });
  t.ok(frames >= 3 * 15, `${String(frames)} frames`);
  await send('/metrics', { headers: admin, status: 200 });

  await server.close();
  const received = new Promise<string>((resolve) => {
    compared = resolve;
  });
  server = await startTestServer({
    environment: { ...environment, ADMIN_PASSWORD: planted.plant('another ADMIN_PASSWORD') },
    logLines,
    dataDir: server.dataDir,
  });
  await readAll(sender(t, server.url, planted), server, admin);
  t.match(await received, /ADMIN_PASSWORD/u, 'the other password is mentioned and not shown');
  await server.close();

  const files = await filesIn(server.dataDir);
  t.ok(files.size >= 2);
  for (const [path, text] of files) t.strictSame(planted.in(text), [], `nothing in ${path}`);
  const events = await recordedIn(server.dataDir);
  for (const event of events) t.strictSame(planted.in(textOf(event)), [], `nothing in ${event.stream}`);
  const kept = planted.knowKept(events);
  t.ok(kept >= 12, `${String(kept)} hashes and digests`);
  t.ok(
    [...files.values()].some((text) => planted.in(text).length >= kept),
    'these are found where they are kept, so the others would be',
  );
  for (const event of events)
    if (!event.stream.startsWith('secret:')) planted.add(`an event of ${event.stream}`, textOf(event));
  t.strictSame(planted.leaks(), [], `${String(planted.size)} texts`);
});
