import { test, type Test } from 'tap';

import { sessionUseRecordMs } from '../../../src/limits/access.ts';
import { userAgentLengthMax } from '../../../src/limits/requests.ts';
import { Administration, as, passwordOf } from '../../support/server/administration.ts';
import { ask, type Answered } from '../../support/ask.ts';
import { StoppedTime } from '../../support/clocks/stopped-time.ts';

const sessions = '/apis/uc.api.svc.run/v1alpha1/sessions';

type Session = {
  readonly metadata: { readonly name: string; readonly creationTimestamp: string };
  readonly spec: { readonly user: string };
  readonly status: Readonly<Record<string, string>>;
};

/** A whole server on stopped time, with the users alice and bob. */
async function given(t: Test) {
  const stopped = await StoppedTime.start(t);
  const { url } = stopped.server;
  const administration = new Administration(url);
  for (const name of ['alice', 'bob']) await administration.user(name);
  const logIn = async (name: string, userAgent = 'a browser'): Promise<Readonly<Record<string, string>>> => {
    const answered = await ask(url, '/login', {
      method: 'POST',
      body: JSON.stringify({ username: name, password: passwordOf(name) }),
      headers: { 'content-type': 'application/json', 'user-agent': userAgent },
    });
    return {
      cookie: answered.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '',
      'x-csrf-token': (JSON.parse(answered.text) as { readonly csrfToken: string }).csrfToken,
    };
  };
  const send = async (method: string, headers: Readonly<Record<string, string>>, name = ''): Promise<Answered> =>
    ask(url, `${sessions}${name}`, { method, headers });
  const names = async (headers: Readonly<Record<string, string>>): Promise<readonly string[]> =>
    itemsOf(await send('GET', headers)).map(({ metadata }) => metadata.name);
  return { clock: stopped.clock, url, logIn, send, names };
}

function itemsOf({ text }: Answered): readonly Session[] {
  return (JSON.parse(text) as { readonly items: readonly Session[] }).items;
}

function nameOf({ text }: Answered): string {
  return (JSON.parse(text) as Session).metadata.name;
}

test('users see their own sessions with origin, use and end, and which one is the current', async (t) => {
  const { clock, logIn, send } = await given(t);
  const first = await logIn('alice', 'x'.repeat(userAgentLengthMax + 1));
  clock.advance(1_000);
  const second = await logIn('alice');
  await logIn('bob');
  const listed = await send('GET', second, '?sort=metadata.creationTimestamp,asc');
  t.equal(listed.status, 200);
  t.match(JSON.parse(listed.text), { kind: 'SessionList', total: 2 });
  t.match(itemsOf(listed), [
    {
      spec: { user: 'alice' },
      status: {
        address: '127.0.0.1',
        userAgent: 'x'.repeat(userAgentLengthMax),
        lastUsedAt: new Date(clock.now() - 1_000).toISOString(),
      },
    },
    {
      metadata: { creationTimestamp: new Date(clock.now()).toISOString() },
      status: { userAgent: 'a browser', expiresAt: new Date(clock.now() + 86_400_000).toISOString() },
    },
  ]);
  t.notMatch(listed.text, /ses_/u, 'no secret');
  const [one, other] = itemsOf(listed).map(({ metadata }) => metadata.name);
  t.strictSame([nameOf(await send('GET', first, '/-')), nameOf(await send('GET', second, '/-'))], [one, other]);
  t.equal(nameOf(await send('GET', second, `/${String(one)}`)), one);
  t.equal((await send('GET', as('alice'), '/-')).status, 404, 'a password is no session');
  t.equal((await send('GET', second, '?watch=true')).status, 405);
});

test('a use is recorded every ten minutes, and the end stays', async (t) => {
  const { clock, logIn, send } = await given(t);
  const headers = await logIn('alice');
  const before = JSON.parse((await send('GET', headers, '/-')).text) as Session;
  clock.advance(sessionUseRecordMs);
  const used = new Date(clock.now()).toISOString();
  let now = before;
  // The recording is not awaited by the request, so the object changes a few turns later.
  while (now.status['lastUsedAt'] !== used) now = JSON.parse((await send('GET', headers, '/-')).text) as Session;
  t.strictSame({ ...now.status, lastUsedAt: '' }, { ...before.status, lastUsedAt: '' });
  t.match(now, { metadata: { version: 1 }, spec: before.spec });
});

test('a user ends one session, or all except for the current one', async (t) => {
  const { logIn, send, names } = await given(t);
  const [current, second, third, fourth] = [
    await logIn('alice'),
    await logIn('alice'),
    await logIn('alice'),
    await logIn('alice'),
  ];
  const ofBob = await logIn('bob');
  const name = nameOf(await send('GET', second, '/-'));
  t.equal((await send('DELETE', { cookie: current['cookie'] ?? '' }, `/${name}`)).status, 403, 'it is a write');
  t.equal((await send('DELETE', current, `/${name}`)).status, 200);
  t.equal((await send('GET', second, '/-')).status, 401, 'ended');
  t.equal((await send('DELETE', current, `/${name}`)).status, 404);
  const rest = await send('DELETE', current);
  t.match([rest.status, JSON.parse(rest.text)], [200, { total: 2 }]);
  for (const ended of [third, fourth]) t.equal((await send('GET', ended, '/-')).status, 401);
  t.equal((await names(current)).length, 1);
  t.equal((await names(ofBob)).length, 1, 'other users keep theirs');
  const own = await logIn('alice');
  t.equal((await send('DELETE', own, '/-')).status, 200);
  t.equal((await send('GET', own, '/-')).status, 401);
  t.match(JSON.parse((await send('DELETE', as('alice'))).text), { total: 1 }, 'a password keeps none');
  t.equal((await send('GET', current, '/-')).status, 401);
});

test("another user's session is 404, and stays", async (t) => {
  const { logIn, send, names } = await given(t);
  const [alice, bob] = [await logIn('alice'), await logIn('bob')];
  const name = nameOf(await send('GET', bob, '/-'));
  for (const method of ['GET', 'DELETE']) t.equal((await send(method, alice, `/${name}`)).status, 404, method);
  for (const odd of ['/Not_A_Name', `/${'x'.repeat(300)}`]) t.equal((await send('GET', alice, odd)).status, 404);
  t.strictSame(await names(bob), [name]);
  t.equal((await send('POST', alice)).status, 403);
  t.equal((await send('GET', {})).status, 401, 'a visitor');
});

test('a token that is limited to some roles cannot end sessions', async (t) => {
  const { url, logIn, send, names } = await given(t);
  const made = await ask(url, '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens', {
    method: 'POST',
    body: JSON.stringify({ metadata: { name: 'confined' }, spec: { roles: [] } }),
    headers: { ...as('alice'), 'content-type': 'application/json' },
  });
  const { status } = JSON.parse(made.text) as { readonly status: { readonly token: string } };
  const confined = { authorization: `Bearer ${status.token}` };
  const name = nameOf(await send('GET', await logIn('alice'), '/-'));
  t.equal((await send('DELETE', confined)).status, 403);
  t.equal((await send('DELETE', confined, `/${name}`)).status, 403);
  t.strictSame(await names(confined), [name]);
});
