import t, { test } from 'tap';

import { startSignedIn } from './signed-in.ts';

const server = await startSignedIn(t, 'alice', 'bob', 'carol', 'dave', 'erin', 'frank');
const tokens = '/apis/uc.api.svc.run/v1alpha1/personalaccesstokens';
const merge = { 'content-type': 'application/merge-patch+json' };

async function made(as: string, name: string, spec: object = {}) {
  const created = await server.as(as)('POST', tokens, {
    metadata: { name, labels: { 'example.com/of': as } },
    spec: { description: `of ${as}`, ...spec },
  });
  t.equal(created.status, 201, created.text);
  return created;
}

const names = (body: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }) =>
  body.items.map(({ metadata }) => metadata.name);

test('a token belongs to its maker, and its text is shown once', async (t) => {
  const created = await made('alice', 'alice-1');
  t.equal(created.headers.get('location'), `${tokens}/alice-1`);
  t.match(created.headers.get('etag'), /^"0-v1alpha1-/u);
  t.equal(created.body.spec.owner, 'alice');
  t.match(created.body.status.token, /^pat_/u);
  const read = await server.as('alice')('GET', `${tokens}/alice-1`);
  t.equal(read.status, 200);
  t.equal(read.body.status.token, undefined);
  t.notMatch((await server.as('alice')('GET', tokens)).text, created.body.status.token);
  t.equal((await server.as('alice')('POST', tokens, { metadata: { name: 'alice-1' }, spec: {} })).status, 409);
  const dry = await server.as('alice')('POST', `${tokens}?dryRun=All`, { metadata: { name: 'dry' }, spec: {} });
  t.equal(dry.status, 201);
  t.equal((await server.as('alice')('GET', `${tokens}/dry`)).status, 404);
});

test("another user's token is 404 like one that never existed", async (t) => {
  await made('bob', 'bobs');
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', { spec: { revoked: true } }],
    ['DELETE', undefined],
  ] as const) {
    const foreign = await server.as('alice')(method, `${tokens}/bobs`, body, method === 'PATCH' ? merge : {});
    const absent = await server.as('alice')(method, `${tokens}/nobodys`, body, method === 'PATCH' ? merge : {});
    t.equal(foreign.status, 404, `${method}: ${foreign.text}`);
    const partsOf = ({ body: { message, reason, details } }: typeof foreign) =>
      JSON.stringify({ message, reason, details });
    t.equal(partsOf(foreign).replaceAll('bobs', '*'), partsOf(absent).replaceAll('nobodys', '*'), method);
  }
  t.equal(
    (await server.as('admin')('GET', `${tokens}/bobs`)).status,
    404,
    'an administrator has the generated API for that',
  );
  const kept = await server.as('bob')('GET', `${tokens}/bobs`);
  t.equal(kept.body.metadata.version, 0, 'nothing has happened to it');
  for (const odd of ['Not_A_Name', '-', 'x'.repeat(300)])
    t.equal((await server.as('alice')('GET', `${tokens}/${odd}`)).status, 404);
});

test('the owner of a token cannot change its finalizers or its owner references', async (t) => {
  const owners = [{ apiVersion: 'v1alpha1', kind: 'User', name: 'alice', uid: '1'.repeat(8) }];
  for (const [member, value] of [
    ['finalizers', ['example.com/hold']],
    ['ownerReferences', owners],
  ] as const) {
    const refused = await server.as('alice')('POST', tokens, { metadata: { name: 'held', [member]: value }, spec: {} });
    t.match(
      [refused.status, refused.body.errors],
      [422, [{ pointer: `/metadata/${member}`, detail: /cannot be set by the user/u }]],
    );
    t.equal((await server.as('alice')('GET', `${tokens}/held`)).status, 404);
  }
  t.equal(
    (
      await server.as('alice')('POST', tokens, {
        metadata: { name: 'free', finalizers: [], ownerReferences: null },
        spec: {},
      })
    ).status,
    201,
    'none are none',
  );
  const operations = { 'content-type': 'application/json-patch+json' };
  for (const [body, headers] of [
    [{ metadata: { finalizers: ['example.com/hold'] } }, merge],
    [{ metadata: { ownerReferences: owners } }, merge],
    [[{ op: 'add', path: '/metadata/finalizers', value: ['example.com/hold'] }], operations],
    [
      [
        { op: 'copy', from: '/metadata', path: '/spec/x' },
        { op: 'add', path: '/metadata/ownerReferences', value: owners },
      ],
      operations,
    ],
  ] as const)
    t.equal((await server.as('alice')('PATCH', `${tokens}/free`, body, headers)).status, 422, JSON.stringify(body));
  t.match((await server.as('alice')('GET', `${tokens}/free`)).body.metadata, { version: 0 }, 'nothing was written');

  const held = await server.as('admin')(
    'PATCH',
    '/api/v1alpha1/personalaccesstokens/free',
    { metadata: { finalizers: ['example.com/audit'] } },
    merge,
  );
  t.equal(held.status, 200, 'an administrator may');
  t.equal((await server.as('alice')('PATCH', `${tokens}/free`, { metadata: { finalizers: null } }, merge)).status, 422);
  const more = await server.as('alice')(
    'PATCH',
    `${tokens}/free`,
    { metadata: { finalizers: ['example.com/audit'], labels: { 'example.com/a': 'b' } } },
    merge,
  );
  t.match([more.status, more.body.metadata.finalizers], [200, ['example.com/audit']], 'as it is it may stand there');
});

test('a token restricted to some roles cannot change the account', async (t) => {
  const confined = (await made('frank', 'confined', { roles: [] })).body.status.token as string;
  const whole = (await made('frank', 'whole')).body.status.token as string;
  const account = '/apis/uc.api.svc.run/v1alpha1/users/-';
  const bearing =
    (token: string) =>
    async (method: string, path: string, body?: unknown, more: Readonly<Record<string, string>> = {}) =>
      server.as(undefined)(method, path, body, { authorization: `Bearer ${token}`, ...more });
  t.equal((await bearing(confined)('GET', account)).status, 200);
  t.equal((await bearing(confined)('GET', tokens)).status, 200);
  for (const answer of [
    await bearing(confined)('PUT', account, { spec: { email: 'x@example.com' } }),
    await bearing(confined)('PUT', `${account}/password`, { currentPassword: 'x', password: 'another one' }),
    await bearing(confined)('DELETE', `${tokens}/whole`),
    await bearing(confined)('PATCH', `${tokens}/whole`, { spec: { revoked: true } }, merge),
    await bearing(confined)('POST', tokens, { metadata: { name: 'more' }, spec: {} }),
  ])
    t.equal(answer.status, 403, answer.text);
  t.equal((await bearing(whole)('PUT', account, { spec: { email: 'x@example.com' } })).status, 200);
});

test("one's own list has pages, sorts and selectors like any other", async (t) => {
  await made('carol', 'carol-1');
  await made('carol', 'carol-2');
  await made('carol', 'carol-3');
  const all = await server.as('carol')('GET', `${tokens}?sort=metadata.name,asc`);
  t.match(all.body, {
    kind: 'PersonalAccessTokenList',
    page: 1,
    size: 0,
    total: 3,
    totalPages: 1,
    first: true,
    last: true,
  });
  t.strictSame(names(all.body), ['carol-1', 'carol-2', 'carol-3']);
  const page = await server.as('carol')('GET', `${tokens}?sort=metadata.name,desc&page=2&size=2`);
  t.strictSame(names(page.body), ['carol-1']);
  t.match(page.body, { total: 3, totalPages: 2, hasPrevious: true, hasNext: false });
  const chain = await server.as('carol')('GET', `${tokens}?limit=2`);
  const rest = await server.as('carol')(
    'GET',
    `${tokens}?limit=2&continue=${encodeURIComponent(chain.body.metadata.continue)}`,
  );
  t.strictSame([...names(chain.body), ...names(rest.body)].sort(), ['carol-1', 'carol-2', 'carol-3']);
  t.strictSame(names((await server.as('carol')('GET', `${tokens}?fieldSelector=metadata.name=carol-2`)).body), [
    'carol-2',
  ]);
  t.strictSame(names((await server.as('carol')('GET', `${tokens}?labelSelector=example.com/of=alice`)).body), []);
  t.strictSame(
    names((await server.as('carol')('GET', `${tokens}?fieldSelector=spec.owner=alice`)).body),
    [],
    "asking for another's finds nothing",
  );
  t.strictSame(
    names((await server.as('dave')('GET', tokens)).body),
    [],
    'the same query of somebody else has another answer',
  );
  t.equal((await server.as('carol')('GET', `${tokens}?page=x`)).status, 400);
  t.equal((await server.as('admin')('GET', `${tokens}?watch=true`)).status, 405);
});

test("either kind of patch changes a token's description or revokes it, under the usual preconditions", async (t) => {
  await made('erin', 'erin-1');
  const item = `${tokens}/erin-1`;
  const described = await server.as('erin')('PATCH', item, { spec: { description: 'for the build' } }, merge);
  t.match(described.body.spec, { description: 'for the build', owner: 'erin' });
  t.match(described.headers.get('etag'), /^"1-v1alpha1-/u);
  t.equal(
    (await server.as('erin')('PATCH', item, { metadata: { version: 0 }, spec: { revoked: true } }, merge)).status,
    409,
  );
  t.equal(
    (await server.as('erin')('PATCH', item, { spec: { revoked: true } }, { ...merge, 'if-match': '"0"' })).status,
    412,
  );
  const revoked = await server.as('erin')('PATCH', item, [{ op: 'add', path: '/spec/revoked', value: true }], {
    'content-type': 'application/json-patch+json',
  });
  t.equal(revoked.body.spec.revoked, true, revoked.text);
  t.equal((await server.as('erin')('PATCH', item, {}, { 'content-type': 'application/json' })).status, 415);
  t.equal((await server.as('admin')('PUT', item, {})).status, 405);
  t.equal((await server.as('admin')('DELETE', tokens)).status, 405);
  const uid = String(revoked.body.metadata.uid);
  t.equal((await server.as('erin')('DELETE', item, { preconditions: { uid: 'another' } })).status, 409);
  t.equal((await server.as('erin')('DELETE', `${item}?dryRun=All`)).status, 200);
  const deleted = await server.as('erin')('DELETE', item, { preconditions: { uid } });
  t.equal(deleted.status, 200, deleted.text);
  t.type(deleted.body.metadata.deletionTimestamp, 'string');
});

test('visitors have no tokens, and malformed bodies are refused', async (t) => {
  t.equal((await server.as(undefined)('GET', tokens)).status, 401);
  for (const body of ['[]', '{', '', '"x"']) t.equal((await server.as('alice')('POST', tokens, body)).status, 400);
  t.equal(
    (await server.as('alice')('GET', '/api/v1alpha1/personalaccesstokens')).status,
    403,
    "the generated API shows everybody's",
  );
});
