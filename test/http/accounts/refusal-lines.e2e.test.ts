import { test, type Test } from 'tap';

import { startTestServer } from '../../support/server/start-server.ts';

type Line = Readonly<Record<string, unknown>>;

async function given(t: Test) {
  const texts: string[] = [];
  const server = await startTestServer({
    logLines: {
      write: (line) => {
        texts.push(line);
      },
    },
    environment: { TRUSTED_PROXIES: '127.0.0.1' },
  });
  t.teardown(async () => server.remove());
  const made = await server.call('/api/v1alpha1/users', {
    method: 'POST',
    body: { metadata: { name: 'jane' }, spec: { password: 'a secret of hers' } },
  });
  t.equal(made.status, 201);
  const since = (): readonly Line[] =>
    texts
      .splice(0)
      .flatMap((text) => text.split('\n').filter((line) => line !== ''))
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => msg === 'a log-in failed' || msg === 'a request was refused')
      .map(({ msg, requestId, address, user, reason }) => ({ msg, requestId, address, user, reason }));
  const send = async (
    path: string,
    headers: Record<string, string>,
    init: { readonly method?: string; readonly body?: string } = {},
  ) =>
    fetch(server.url + path, {
      ...init,
      headers: { 'x-request-id': 'id-1', 'x-forwarded-for': '192.0.2.9', ...headers },
    });
  return { texts, since, send };
}

const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
const json = { 'content-type': 'application/json' };

test('failed log-ins and forbidden requests are logged without any secret', async (t) => {
  const { texts, since, send } = await given(t);
  since();
  const wrong = 'the user name or password is wrong';
  const expected = (user: string | null | undefined, reason: unknown, msg = 'a log-in failed') => [
    { msg, requestId: 'id-1', address: '192.0.2.9', user, reason },
  ];
  const all: string[] = [];
  const lines = (): readonly Line[] => {
    all.push(...texts);
    return since();
  };

  t.equal((await send('/apis', basic('jane', 'Wr0ng!'))).status, 401);
  t.strictSame(lines(), expected('jane', wrong));
  t.equal((await send('/apis', basic('Sup3rSecret', 'Wr0ng!'))).status, 401);
  t.strictSame(lines(), expected(null, wrong));
  t.equal((await send('/apis', { authorization: 'Bearer Wr0ng!' })).status, 401);
  t.match(lines(), [{ msg: 'a log-in failed', user: undefined }]);
  t.equal((await send('/apis', { cookie: 'ledgerplane_session=Wr0ng!' })).status, 401);
  t.match(lines(), [{ msg: 'a log-in failed', user: undefined }]);
  for (const [name, user] of [
    ['jane', 'jane'],
    ['\n{"level":60,"msg":"Sup3rSecret"}', null],
  ] as const) {
    t.equal(
      (await send('/login', json, { method: 'POST', body: JSON.stringify({ username: name, password: 'Wr0ng!' }) }))
        .status,
      401,
    );
    t.strictSame(lines(), expected(user, wrong));
  }
  const body = JSON.stringify({ currentPassword: 'Wr0ng!', password: 'another S3cret' });
  t.equal(
    (
      await send(
        '/apis/uc.api.svc.run/v1alpha1/users/-/password',
        { ...json, ...basic('jane', 'a secret of hers') },
        { method: 'PUT', body },
      )
    ).status,
    422,
  );
  t.strictSame(lines(), expected('jane', wrong));
  t.equal((await send('/api/v1alpha1/users', basic('jane', 'a secret of hers'))).status, 403);
  t.match(lines(), [{ msg: 'a request was refused', requestId: 'id-1', address: '192.0.2.9', user: 'jane' }]);
  t.equal(
    (await send('/login', { ...json, origin: 'https://evil.example' }, { method: 'POST', body: '{}' })).status,
    403,
  );
  t.match(lines(), [{ msg: 'a request was refused', user: undefined }]);
  t.equal((await send('/api/v1alpha1/users', {})).status, 401);
  t.strictSame(lines(), [], 'a visitor without credentials is not a failed log-in');
  t.notMatch(all.join(''), /Wr0ng|S3cret|Sup3rSecret|Basic [A-Za-z0-9]{8}|Bearer W|a secret of hers/u);
});
