import t, { test } from 'tap';

import { startSignedIn } from './signed-in.ts';

const server = await startSignedIn(t, 'alice', 'bob');
const account = '/apis/uc.api.svc.run/v1alpha1/users/-';

const pointers = (body: { readonly errors?: readonly { readonly pointer: string }[] }) =>
  (body.errors ?? []).map(({ pointer }) => pointer).sort();

test('the caller reads their own User, with its entity tag, under "-" and under no other name', async (t) => {
  const { status, body, headers } = await server.as('alice')('GET', account);
  t.equal(status, 200);
  t.match(body, { apiVersion: 'v1alpha1', kind: 'User', metadata: { name: 'alice' } });
  t.match(headers.get('etag'), new RegExp(`^"${String(body.metadata.version)}-v1alpha1-`, 'u'));
  t.equal(
    (await server.as('alice')('GET', account, undefined, { 'if-none-match': String(headers.get('etag')) })).status,
    304,
  );
  t.equal(
    (await server.as('admin')('GET', '/apis/uc.api.svc.run/v1alpha1/users/bob')).status,
    404,
    'not even by an administrator',
  );
  t.equal((await server.as('admin')('DELETE', account)).status, 405);
});

test('display name and e-mail change; members that are left out keep their values', async (t) => {
  const before = (await server.as('alice')('GET', account)).body;
  const changed = await server.as('alice')('PUT', account, {
    ...before,
    spec: { ...before.spec, displayName: 'Alice', email: 'alice@example.com' },
  });
  t.equal(changed.status, 200, changed.text);
  t.match(changed.body.spec, { displayName: 'Alice', email: 'alice@example.com' });
  t.equal(changed.body.metadata.version, Number(before.metadata.version) + 1);
  const again = await server.as('alice')('PUT', account, changed.body);
  t.equal(again.body.metadata.version, changed.body.metadata.version, 'the same once more is no change');
  const bare = await server.as('alice')('PUT', account, {
    apiVersion: 'v1alpha1',
    kind: 'User',
    metadata: { name: 'alice' },
    spec: { displayName: 'A' },
  });
  t.equal(bare.status, 200, bare.text);
  t.equal(bare.body.spec.email, undefined, 'a PUT is the whole of what may be changed');
  t.equal(bare.body.metadata.uid, before.metadata.uid);
});

test('labels that an administrator set are kept, and the user cannot change them', async (t) => {
  const labels = { 'example.com/team': 'red' };
  const labelled = await server.as('admin')(
    'PATCH',
    '/api/v1alpha1/users/bob',
    { metadata: { labels } },
    { 'content-type': 'application/merge-patch+json' },
  );
  t.equal(labelled.status, 200, labelled.text);
  const body = { apiVersion: 'v1alpha1', kind: 'User', metadata: { name: 'bob' }, spec: { displayName: 'Bob' } };
  const kept = await server.as('bob')('PUT', account, body);
  t.strictSame(kept.body.metadata.labels, labels);
  t.equal((await server.as('bob')('PUT', account, { ...body, metadata: { name: 'bob', labels } })).status, 200);
  const refused = await server.as('bob')('PUT', account, {
    ...body,
    metadata: { name: 'bob', labels: {}, finalizers: ['example.com/mine'] },
  });
  t.equal(refused.status, 422);
  t.strictSame(pointers(refused.body), ['/metadata/finalizers', '/metadata/labels']);
  const stale = await server.as('bob')('PUT', account, {
    ...labelled.body,
    metadata: { ...labelled.body.metadata, labels: {} },
  });
  t.equal(stale.status, 409, 'members other than the editable ones must match the stored object');
});

test('a password and another value of "disabled" are refused together, each at its pointer', async (t) => {
  const body = {
    apiVersion: 'v1alpha1',
    kind: 'User',
    metadata: { name: 'alice' },
    spec: { displayName: 'x'.repeat(2_000), disabled: true, password: 'another password' },
  };
  const refused = await server.as('alice')('PUT', account, body);
  t.equal(refused.status, 422, refused.text);
  t.strictSame(pointers(refused.body), ['/spec/disabled', '/spec/displayName', '/spec/password']);
  t.notMatch(refused.text, 'another password');
  t.equal(
    (await server.as('alice')('PUT', account, { ...body, spec: { disabled: false } })).status,
    200,
    'as it is, it may stand there',
  );
  const cases: readonly (readonly [unknown, number])[] = [
    [{ ...body, metadata: { name: 'bob' }, spec: {} }, 400],
    [{ ...body, kind: 'Role', spec: {} }, 400],
    [[], 400],
    ['{', 400],
    ['', 400],
    [{ ...body, spec: undefined }, 422],
    [{ ...body, spec: 'x' }, 422],
    [{ ...body, metadata: 'x', spec: {} }, 400],
    [{ ...body, spec: { displayName: 1 } }, 422],
    [{ ...body, spec: { nickname: 'x' } }, 422],
    [{ ...body, metadata: { name: 'alice', version: 99 }, spec: {} }, 409],
    [{ ...body, metadata: { name: 'alice', uid: 'x' }, spec: {} }, 409],
  ];
  for (const [given, expected] of cases)
    t.equal((await server.as('alice')('PUT', account, given)).status, expected, JSON.stringify(given));
  t.equal((await server.as('alice')('PUT', account, { ...body, spec: {} }, { 'if-match': '"99"' })).status, 412);
  t.equal((await server.as('alice')('PUT', account, 'x', { 'content-type': 'text/plain' })).status, 415);
});

test('a dry run changes nothing', async (t) => {
  const before = await server.as('alice')('GET', account);
  const dry = await server.as('alice')('PUT', `${account}?dryRun=All`, {
    ...before.body,
    spec: { displayName: 'Dry' },
  });
  t.equal(dry.body.spec.displayName, 'Dry');
  t.equal((await server.as('alice')('GET', account)).text, before.text);
});

test('the password changes for a caller who sends the current one', async (t) => {
  const change = { currentPassword: 'password of bob', password: 'quite another password' };
  const wrong = await server.as('bob')('PUT', `${account}/password`, { ...change, currentPassword: 'a guess' });
  t.equal(wrong.status, 422);
  t.strictSame(wrong.body.errors, [{ pointer: '/currentPassword', detail: 'is wrong' }]);
  const short = await server.as('bob')('PUT', `${account}/password`, { ...change, password: 'x' });
  t.equal(short.status, 422);
  t.strictSame(pointers(short.body), ['/password']);
  t.equal((await server.as('bob')('PUT', `${account}/password`, change, { 'if-match': '"99"' })).status, 412);
  for (const [body, expected] of [
    [{}, ['/currentPassword', '/password']],
    [{ ...change, password: 7 }, ['/password']],
    [{ ...change, user: 'alice' }, ['/user']],
  ] as const) {
    const refused = await server.as('bob')('PUT', `${account}/password`, body);
    t.equal(refused.status, 422);
    t.strictSame(pointers(refused.body), expected);
  }
  const changed = await server.as('bob')('PUT', `${account}/password`, change);
  t.equal(changed.status, 200, changed.text);
  t.match(changed.body, { kind: 'User', metadata: { name: 'bob' } });
  t.notMatch(changed.text, change.password);
  t.equal((await server.as('bob')('GET', account)).status, 401, 'the former one is none any more');
  const now = await server.as(undefined)('GET', account, undefined, {
    authorization: `Basic ${Buffer.from(`bob:${change.password}`).toString('base64')}`,
  });
  t.equal(now.status, 200);
});
