import { test, type Test } from 'tap';

import { PermissionTables } from '../../../projections/permissions/permission-tables.ts';
import { createGrantRules } from '../../../src/auth/authorization/grant-rules.ts';
import { Secrets } from '../../../src/auth/authentication/secrets.ts';
import type { Subject } from '../../../src/command/subject.ts';
import type { WriteOutcome } from '../../../src/command/command.ts';
import type { JsonObject } from '../../../src/resource/object/object.ts';
import {
  Access,
  type Acting,
  binding,
  everythingRules,
  pathRule,
  platform,
  refusal,
  role,
  rule,
  session,
  token,
  user,
} from '../../support/access.ts';
import { domain } from '../../support/given.ts';
import { shown, tally, type Shown } from '../../support/writing.ts';

const password = 'a new password';

/**
 * Reading posts, writing them too, and everything. `manager` holds `reader` by aggregation, `boss` everything by its
 * rules alone.
 */
async function opened(t: Parameters<typeof Access.open>[0]): Promise<Access> {
  const access = await Access.open(t);
  await access.given(
    role('super-role', everythingRules),
    role('anonymous'),
    role('authenticated', [rule('get', 'profiles')]),
    role('reader', [rule('get,list', 'posts')], { aggregateTo: ['manager'] }),
    role('writer', [rule('create,update', 'posts')], { dependencies: ['reader'] }),
    role('manager', [rule('get,list,create', 'users,rolebindings')]),
    role('boss', everythingRules),
    user('root', { password }),
    user('mary', { password }),
    user('walt'),
    user('rita'),
    user('bert', { password }),
    user('nobody'),
    user('sleeper', { disabled: true }),
    binding('roots', 'super-role', 'root'),
    binding('managers', 'manager', 'mary'),
    binding('writers', 'writer', 'walt', 'sleeper'),
    binding('readers', 'reader', 'rita', 'oidc:olga'),
    binding('bosses', 'boss', 'bert'),
    binding('ghosts', 'writer', 'ghost'),
  );
  return access;
}

function by(name: string, credential: (Subject & { readonly kind: 'user' })['credential']): Subject {
  return { kind: 'user', name, credential };
}

const oidcOlga = by('oidc:olga', { kind: 'oidc', expiresAt: 9e15 });

type Writing = (by: Acting) => Promise<WriteOutcome>;

/** The case, the subject, its write, and the expected outcome. */
type Case = readonly [about: string, subject: Subject | string, writing: Writing, expected: string];

async function expectOutcomes(t: Test, access: Access, cases: readonly Case[]): Promise<void> {
  for (const [about, subject, writing, expected] of cases)
    t.equal(refusal(await writing(access.as(subject))), expected, about);
}

// Dry runs, so that no case depends on another; the decision is the same.
const dry = { dryRun: true };

function create(object: JsonObject): Writing {
  return (by) => by.create(object, dry);
}

function replace(object: JsonObject): Writing {
  return (by) => by.replace(object, dry);
}

function createNow(object: JsonObject): Writing {
  return (by) => by.create(object);
}

function remove(plural: string, name: string): Writing {
  return (by) => by.write(plural, { type: 'delete', name, preconditions: {} }, dry);
}

function removeNow(...[plural, name]: Parameters<Acting['delete']>): Writing {
  return (by) => by.delete(plural, name);
}

function patch(...[plural, name, document]: Parameters<Acting['patch']>): Writing {
  return (by) => by.patch(plural, name, document);
}

const plugin: Subject = { kind: 'plugin', name: 'p' };
const visitor: Subject = { kind: 'visitor' };
/** Walt, by a token that has only one of his roles. */
const waltAsReader = by('walt', { kind: 'token', uid: 'u', userUid: 'w', name: 't', roles: ['reader'] });
const rootByToken = by('root', { kind: 'token', uid: 'u', userUid: 'r', name: 't', roles: undefined });

test('a role gives no more than its writer holds', async (t) => {
  const access = await opened(t);
  await access.given(role('early', [rule('delete', 'posts')], { aggregateTo: ['waiting'] }));
  await expectOutcomes(t, access, [
    ['rights that they hold', 'walt', create(role('a', [rule('get', 'posts')])), 'ok'],
    ['a right of a dependency of their role', 'mary', create(role('a', [rule('list', 'posts')])), 'ok'],
    ['a right of every authenticated user', 'nobody', create(role('a', [rule('get', 'profiles')])), 'ok'],
    ['nothing at all', 'nobody', create(role('a')), 'ok'],
    [
      'only some names of a right that they hold',
      'rita',
      create(role('a', [rule('get', 'posts', { resourceNames: ['x'] })])),
      'ok',
    ],
    ['another verb', 'rita', create(role('a', [rule('get,update', 'posts')])), 'forbidden'],
    ['another group', 'rita', create(role('a', [rule('get', 'posts', { apiGroups: ['*'] })])), 'forbidden'],
    ['a path', 'walt', create(role('a', [pathRule('get', '/x')])), 'forbidden'],
    ['a dependency they hold', 'walt', create(role('a', [], { dependencies: ['writer'] })), 'ok'],
    ['a dependency they do not hold', 'rita', create(role('a', [], { dependencies: ['writer'] })), 'forbidden'],
    [
      'a dependency that does not exist yet',
      'walt',
      create(role('a', [], { dependencies: ['of-some-plugin'] })),
      'forbidden',
    ],
    ['the same by the super administrator', 'root', create(role('a', [], { dependencies: ['of-some-plugin'] })), 'ok'],
    ['a built-in role that is missing', 'walt', create(role('guest')), 'forbidden'],
    [
      'a dependency on the super administrator',
      'walt',
      create(role('a', [], { dependencies: ['super-role'] })),
      'forbidden',
    ],
    [
      'everything, by a user that holds it all by rules',
      'bert',
      create(role('a', [], { dependencies: ['super-role'] })),
      'ok',
    ],
    ['anything, by the super administrator', 'root', create(role('a', everythingRules)), 'ok'],
    ['a visitor holds nothing', visitor, create(role('a', [rule('get', 'posts')])), 'forbidden'],
    ["a provider's user by their bindings", oidcOlga, create(role('a', [rule('get', 'posts')])), 'ok'],
    ["a provider's user beyond them", oidcOlga, create(role('a', [rule('create', 'posts')])), 'forbidden'],
    ['a plugin', plugin, create(role('a', everythingRules)), 'ok'],
    ['a role that others already aggregate to', 'mary', create(role('waiting')), 'forbidden'],
    [
      'a token that has only one of their roles',
      waltAsReader,
      create(role('a', [rule('create', 'posts')])),
      'forbidden',
    ],
  ]);
});

test('a change of a role needs the rights that it then gives', async (t) => {
  await expectOutcomes(t, await opened(t), [
    [
      'their own role, to more',
      'rita',
      replace(role('reader', [rule('get,list,delete', 'posts')], { aggregateTo: ['manager'] })),
      'forbidden',
    ],
    ['their own role, to less', 'rita', replace(role('reader', [rule('get', 'posts')])), 'ok'],
    [
      'a role beyond their rights, reduced to their rights',
      'rita',
      replace(role('boss', [rule('get', 'posts')])),
      'forbidden',
    ],
    ['the same by a user with its rights', 'bert', replace(role('boss', [rule('get', 'posts')])), 'ok'],
    [
      'the labels of a role beyond their rights',
      'rita',
      replace(role('boss', everythingRules, { labels: { 'example.com/x': 'y' } })),
      'forbidden',
    ],
    ['deleting one beyond them', 'rita', remove('roles', 'boss'), 'forbidden'],
    ['deleting their own', 'rita', remove('roles', 'reader'), 'ok'],
    [
      'aggregating theirs to the role of visitors',
      'rita',
      replace(role('reader', [rule('get,list', 'posts')], { aggregateTo: ['anonymous'] })),
      'ok',
    ],
    [
      'aggregating a role beyond their rights to their own',
      'rita',
      replace(role('writer', [rule('create,update', 'posts')], { aggregateTo: ['reader'] })),
      'forbidden',
    ],
  ]);
});

test('a binding gives no role that its writer does not hold', async (t) => {
  const access = await opened(t);
  await access.given(role('deleted'), binding('old', 'deleted', 'nobody', 'rita'));
  shown(await access.as(platform).delete('roles', 'deleted'));
  await expectOutcomes(t, access, [
    ['a role they hold', 'walt', create(binding('b', 'writer', 'nobody')), 'ok'],
    ['a dependency of it', 'walt', create(binding('b', 'reader', 'nobody')), 'ok'],
    ['one that gives the same by other rules', 'bert', create(binding('b', 'super-role', 'nobody')), 'ok'],
    ['one beyond them', 'rita', create(binding('b', 'writer', 'rita')), 'forbidden'],
    ['the super administrator', 'mary', create(binding('b', 'super-role', 'mary')), 'forbidden'],
    ['a missing role', 'root', create(binding('b', 'nothing', 'nobody')), 'invalid /roleRef/name'],
    ['a missing role, by a plugin', plugin, create(binding('b', 'nothing', 'nobody')), 'invalid /roleRef/name'],
    ['any other role, by a plugin', plugin, create(binding('b', 'boss', 'nobody')), 'ok'],
    [
      'adding oneself to a binding of another role',
      'rita',
      replace(binding('writers', 'writer', 'walt', 'sleeper', 'rita')),
      'forbidden',
    ],
    ['leaving somebody out of one beyond them', 'rita', replace(binding('writers', 'writer', 'walt')), 'forbidden'],
    ['the same by a user with its rights', 'walt', replace(binding('writers', 'writer', 'walt')), 'ok'],
    [
      'leaving one out and putting another in',
      'rita',
      replace(binding('writers', 'writer', 'walt', 'rita')),
      'forbidden',
    ],
    ["turning one's own into another", 'rita', replace(binding('readers', 'boss', 'rita')), 'forbidden'],
    ['removing somebody from one beyond them', 'rita', remove('rolebindings', 'writers'), 'forbidden'],
    ['a binding of a deleted role, with fewer subjects', 'root', replace(binding('old', 'deleted', 'nobody')), 'ok'],
    [
      'a binding changed to a missing role',
      'root',
      replace(binding('old', 'nothing', 'nobody')),
      'invalid /roleRef/name',
    ],
    [
      'oneself to a deleted role, which may be created again',
      'mary',
      replace(binding('old', 'deleted', 'nobody', 'rita', 'mary')),
      'forbidden',
    ],
    ['no new subject to a deleted role', 'mary', replace(binding('old', 'deleted', 'rita')), 'ok'],
  ]);
});

test('nobody acts on an account that may do more than they', async (t) => {
  await expectOutcomes(t, await opened(t), [
    ['somebody with nothing', 'rita', patch('users', 'nobody', { spec: { password } }), 'ok'],
    ['somebody with less', 'walt', patch('users', 'rita', { spec: { password } }), 'ok'],
    ['oneself', 'rita', patch('users', 'rita', { spec: { password } }), 'ok'],
    ['somebody with more', 'rita', patch('users', 'walt', { spec: { password } }), 'forbidden'],
    ['the super administrator', 'mary', patch('users', 'root', { spec: { password } }), 'forbidden'],
    ['oneself, with a token for less', waltAsReader, patch('users', 'walt', { spec: { password } }), 'forbidden'],
    ['a name without bindings', 'rita', create(user('new', { password })), 'ok'],
    ['a name that roles are bound to', 'rita', create(user('ghost', { password })), 'forbidden'],
    ['the same without a password, which may come later', 'rita', create(user('ghost')), 'forbidden'],
    ['the same by a user with those rights', 'walt', create(user('ghost')), 'ok'],
    ['enabling one with more', 'rita', replace(user('sleeper')), 'forbidden'],
    ['enabling one with as much', 'walt', replace(user('sleeper')), 'ok'],
    ['disabling one with more', 'rita', replace(user('walt', { disabled: true })), 'forbidden'],
    ['naming one with more', 'rita', replace(user('walt', { displayName: 'W' })), 'forbidden'],
    ['deleting one with more', 'rita', remove('users', 'walt'), 'forbidden'],
  ]);
});

test('a token has no role that its maker does not hold', async (t) => {
  await expectOutcomes(t, await opened(t), [
    ['all of theirs', 'walt', create(token('t')), 'ok'],
    ['a dependency of theirs', 'walt', create(token('t', { roles: ['reader'] })), 'ok'],
    ['one they do not hold', 'walt', create(token('t', { roles: ['reader', 'manager'] })), 'forbidden'],
    ['a missing role', 'walt', create(token('t', { roles: ['nothing'] })), 'forbidden'],
    ['any, for the super administrator', 'root', create(token('t', { roles: ['manager'] })), 'ok'],
    ['by a token', rootByToken, create(token('t')), 'forbidden'],
    ["by a provider's user", oidcOlga, create(token('t')), 'forbidden'],
  ]);
});

test('the super administrator role is touched by nobody', async (t) => {
  await expectOutcomes(t, await opened(t), [
    ['changed', 'root', patch('roles', 'super-role', { rules: [] }), 'forbidden'],
    ['labelled', 'root', patch('roles', 'super-role', { metadata: { labels: { 'a.b/c': 'd' } } }), 'forbidden'],
    ['deleted', 'root', removeNow('roles', 'super-role'), 'forbidden'],
    ['by a plugin', plugin, removeNow('roles', 'super-role'), 'forbidden'],
    ['by the platform', platform, removeNow('roles', 'super-role'), 'ok'],
    ['created again', 'root', createNow(role('super-role', everythingRules)), 'forbidden'],
    ['its holders still hold all rights', 'root', create(role('a', everythingRules)), 'ok'],
  ]);
});

test('a refusal names the missing rights', async (t) => {
  const access = await opened(t);
  const outcome = await access.as('rita').create(role('a', [rule('get', 'posts'), rule('delete', 'posts')]));
  t.equal(
    outcome.ok ? '' : outcome.rejection.detail,
    'roles "a" is forbidden: User "rita" cannot grant permissions that the user does not have: ' +
      '{"apiGroups":["example.com"],"resources":["posts"],"verbs":["delete"]}',
  );
});

test('a session is ended with the right to delete it, and created by nobody', async (t) => {
  const access = await opened(t);
  await access.given(session('s', 'rita', { userUid: 'u', expiresAt: '2027-01-01T00:00:00.000Z' }));
  t.equal(refusal(await access.as('root').patch('sessions', 's', { spec: { user: 'root' } })), 'forbidden');
  t.equal(refusal(await access.as('root').create(session('s2', 'root'))), 'forbidden');
  t.equal(refusal(await access.as('rita').delete('sessions', 's')), 'ok');
});

test('only the answer to its create shows a token', async (t) => {
  const access = await opened(t);
  const made = shown(await access.as('walt').create(token('t')));
  t.match((made['status'] as Shown)['token'], /^pat_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$/u);
  t.strictSame(access.object('personalaccesstokens', 't')?.['status'], {
    ownerUid: access.permissions.user('walt')?.uid,
  });
  t.notMatch(JSON.stringify(await access.events()), (made['status'] as Shown)['token']);
});

test('no event holds a password', async (t) => {
  const access = await opened(t);
  const outcome = shown(await access.as('root').create(user('new', { password })));
  t.match(outcome['status'], { passwordRevision: 0, passwordSetAt: String });
  t.equal(shown(await access.as('root').patch('users', 'new', { spec: { password } }))['status'] !== undefined, true);
  t.equal(access.permissions.user('new')?.passwordRevision, 1);
  t.notMatch(JSON.stringify(await access.events()), password);
});

test('rights gained while a password is being set protect the user from it', async (t) => {
  let meanwhile = async (): Promise<unknown> => undefined;
  const access = await Access.open(t, {
    secrets: (given) => {
      const real = new Secrets(given);
      return {
        keep: async (...call) => {
          await meanwhile();
          return real.keep(...call);
        },
      };
    },
  });
  await access.given(role('boss', everythingRules), user('rita'), user('nobody'));
  meanwhile = async () =>
    access.execute(
      access.type('rolebindings'),
      { type: 'create', object: binding('b', 'boss', 'nobody') },
      {
        cause: { actor: 'x', verb: 'create', requestId: 'r' },
        dryRun: false,
        fieldValidation: undefined,
        origin: 'client',
        subject: platform,
      },
    );
  t.equal(refusal(await access.as('rita').patch('users', 'nobody', { spec: { password } })), 'forbidden');
  t.equal(access.permissions.user('nobody')?.passwordRevision, undefined);
});

type Attempt = (access: Access) => Promise<WriteOutcome>;

test('a super administrator that can log in always remains', async (t) => {
  const access = await opened(t);
  const attempts: readonly (readonly [string, Attempt])[] = [
    ['the last binding', (of) => of.as('root').delete('rolebindings', 'roots')],
    ['its last user', (of) => of.as('root').replace(binding('roots', 'super-role', 'nobodyknown'))],
    ['its last enabled user', (of) => of.as('root').replace(binding('roots', 'super-role', 'sleeper'))],
    ['to another role', (of) => of.as('root').replace(binding('roots', 'boss', 'root'))],
    ['the last user', (of) => of.as('root').delete('users', 'root')],
    ['disabling them', (of) => of.as('root').patch('users', 'root', { spec: { disabled: true } })],
    ['by a plugin', (of) => of.as({ kind: 'plugin', name: 'p' }).delete('rolebindings', 'roots')],
    [
      'by an uninstall of the plugin that shipped it',
      (of) => of.as({ kind: 'platform', part: 'plugins' }).delete('rolebindings', 'roots'),
    ],
    ['by its owner reference', (of) => of.as({ kind: 'platform', part: 'owner-references' }).delete('users', 'root')],
    ['by somebody else', (of) => of.as('rita').delete('users', 'root')],
    ['leaving it to one without a password', (of) => of.as('root').replace(binding('roots', 'super-role', 'walt'))],
  ];
  for (const [about, writing] of attempts) t.equal(refusal(await writing(access)), 'forbidden', about);
  await access.given(binding('more-roots', 'super-role', 'mary', 'sleeper'));
  t.equal(refusal(await access.as('root').delete('rolebindings', 'roots')), 'ok', 'with another one it may go');
  for (const [about, writing] of attempts.slice(4, 6))
    t.equal(refusal(await writing(access)), 'ok', `${about}: they no longer hold it`);
  t.equal(refusal(await access.as('mary').replace(binding('more-roots', 'super-role', 'mary'))), 'ok');
  t.equal(refusal(await access.as('mary').delete('users', 'mary')), 'forbidden');
});

test('of two simultaneous removals of super administrators one is refused', async (t) => {
  const access = await opened(t);
  await access.given(binding('more-roots', 'super-role', 'mary'), binding('bert-too', 'super-role', 'bert'));
  const ways: readonly Attempt[] = [
    // Also by a user with all rights through other rules: the remaining one may not have more rights than the caller.
    (of) => of.as('bert').delete('rolebindings', 'roots'),
    (of) => of.as('bert').delete('users', 'mary'),
    (of) => of.as('bert').patch('users', 'bert', { spec: { disabled: true } }),
    (of) => of.as('bert').patch('users', 'root', { spec: { disabled: true } }),
  ];
  t.match(tally(await Promise.all(ways.map((way) => way(access)))), { ok: Number, forbidden: Number });
  t.equal([...access.permissions.holders('super-role')].length, 1);
});

test('a user granted the role while disabled does not become the only super administrator', async (t) => {
  const access = await opened(t);
  await access.given(user('late', { password }));
  const ways: readonly Attempt[] = [
    (of) => of.as('root').create(binding('late-root', 'super-role', 'late')),
    (of) => of.as('root').patch('users', 'late', { spec: { disabled: true } }),
    (of) => of.as('root').patch('users', 'root', { spec: { disabled: true } }),
  ];
  for (const order of [
    [0, 1, 2],
    [1, 0, 2],
    [1, 2, 0],
    [0, 2, 1],
  ])
    await Promise.all(order.map(async (way) => ways[way]?.(access)));
  t.ok([...access.permissions.holders('super-role')].length > 0);
});

test('a refused or failed removal removes no super administrator', async (t) => {
  const access = await opened(t);
  await access.given(binding('more-roots', 'super-role', 'mary'));
  const stale = await access
    .as('root')
    .write('rolebindings', { type: 'delete', name: 'roots', preconditions: {} }, dry);
  t.equal(refusal(stale), 'ok', 'a dry run');
  t.equal(refusal(await access.as('root').delete('rolebindings', 'more-roots')), 'ok');
});

test('before the tables are read only the platform and plugins write', async (t) => {
  const access = await opened(t);
  const rules = createGrantRules({
    permissions: new PermissionTables({ reader: access.models, feed: access.models, domain }),
    domain,
    typeOfKind: () => undefined,
  });
  const object = access.object('roles', 'reader');
  const verdict = (subject: Subject): string => {
    const checked = rules.check({
      type: access.type('roles'),
      subject,
      before: undefined,
      after: object,
      isNewPassword: false,
    });
    return checked.ok ? 'ok' : checked.rejection.reason;
  };
  t.strictSame(
    [platform, { kind: 'plugin', name: 'p' } as const, access.user('root'), { kind: 'visitor' } as const].map(verdict),
    ['ok', 'ok', 'unavailable', 'unavailable'],
  );
});
