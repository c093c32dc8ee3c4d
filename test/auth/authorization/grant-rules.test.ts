import { test } from 'tap';

import { PermissionTables } from '../../../projections/permissions/permission-tables.ts';
import { createGrantRules } from '../../../src/auth/authorization/grant-rules.ts';
import { Secrets } from '../../../src/auth/authentication/secrets.ts';
import type { Subject } from '../../../src/command/subject.ts';
import type { WriteOutcome } from '../../../src/command/command.ts';
import {
  Access,
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

type Writing = (access: Access) => Promise<WriteOutcome>;

/** The case, the write, and the expected outcome. */
type Case = readonly [about: string, writing: Writing, expected: string];

function behaves(
  name: string,
  cases: readonly Case[],
  before: (access: Access) => Promise<unknown> = async () => undefined,
): void {
  test(name, async (t) => {
    const access = await opened(t);
    await before(access);
    // Each is a dry run, so that none depends on another; the decision is the same.
    for (const [about, writing, expected] of cases) t.equal(refusal(await writing(access)), expected, about);
  });
}

const dry = { dryRun: true };

behaves(
  'a role gives no more than its writer holds',
  [
    ['rights that they hold', (access) => access.as('walt').create(role('a', [rule('get', 'posts')]), dry), 'ok'],
    [
      'by what comes with their roles',
      (access) => access.as('mary').create(role('a', [rule('list', 'posts')]), dry),
      'ok',
    ],
    [
      'by what everybody logged in has',
      (access) => access.as('nobody').create(role('a', [rule('get', 'profiles')]), dry),
      'ok',
    ],
    ['nothing at all', (access) => access.as('nobody').create(role('a'), dry), 'ok'],
    [
      'only some names of a right that they hold',
      (access) => access.as('rita').create(role('a', [rule('get', 'posts', { resourceNames: ['x'] })]), dry),
      'ok',
    ],
    ['another verb', (access) => access.as('rita').create(role('a', [rule('get,update', 'posts')]), dry), 'forbidden'],
    [
      'another group',
      (access) => access.as('rita').create(role('a', [rule('get', 'posts', { apiGroups: ['*'] })]), dry),
      'forbidden',
    ],
    ['a path', (access) => access.as('walt').create(role('a', [pathRule('get', '/x')]), dry), 'forbidden'],
    [
      'a dependency they hold',
      (access) => access.as('walt').create(role('a', [], { dependencies: ['writer'] }), dry),
      'ok',
    ],
    [
      'a dependency they do not hold',
      (access) => access.as('rita').create(role('a', [], { dependencies: ['writer'] }), dry),
      'forbidden',
    ],
    [
      'a dependency that there is not yet',
      (access) => access.as('walt').create(role('a', [], { dependencies: ['of-some-plugin'] }), dry),
      'forbidden',
    ],
    [
      'the same by the super administrator',
      (access) => access.as('root').create(role('a', [], { dependencies: ['of-some-plugin'] }), dry),
      'ok',
    ],
    ['a built-in role that is missing', (access) => access.as('walt').create(role('guest'), dry), 'forbidden'],
    [
      'a dependency on the super administrator',
      (access) => access.as('walt').create(role('a', [], { dependencies: ['super-role'] }), dry),
      'forbidden',
    ],
    [
      'everything, by a user that holds it all by rules',
      (access) => access.as('bert').create(role('a', [], { dependencies: ['super-role'] }), dry),
      'ok',
    ],
    [
      'anything, by the super administrator',
      (access) => access.as('root').create(role('a', everythingRules), dry),
      'ok',
    ],
    [
      'a visitor holds nothing',
      (access) => access.as({ kind: 'visitor' }).create(role('a', [rule('get', 'posts')]), dry),
      'forbidden',
    ],
    [
      "a provider's user by their bindings",
      (access) => access.as(oidcOlga).create(role('a', [rule('get', 'posts')]), dry),
      'ok',
    ],
    [
      "a provider's user beyond them",
      (access) => access.as(oidcOlga).create(role('a', [rule('create', 'posts')]), dry),
      'forbidden',
    ],
    ['a plugin', (access) => access.as({ kind: 'plugin', name: 'p' }).create(role('a', everythingRules), dry), 'ok'],
    ['a role others are added to already', (access) => access.as('mary').create(role('waiting'), dry), 'forbidden'],
    [
      'a token that has only one of their roles',
      (access) =>
        access
          .as(by('walt', { kind: 'token', uid: 'u', userUid: 'w', name: 't', roles: ['reader'] }))
          .create(role('a', [rule('create', 'posts')]), dry),
      'forbidden',
    ],
  ],
  async (access) => access.given(role('early', [rule('delete', 'posts')], { aggregateTo: ['waiting'] })),
);

behaves('a change of a role needs the rights that it then gives', [
  [
    'their own role, to more',
    (access) =>
      access.as('rita').replace(role('reader', [rule('get,list,delete', 'posts')], { aggregateTo: ['manager'] }), dry),
    'forbidden',
  ],
  ['their own role, to less', (access) => access.as('rita').replace(role('reader', [rule('get', 'posts')]), dry), 'ok'],
  [
    'a role beyond their rights, reduced to their rights',
    (access) => access.as('rita').replace(role('boss', [rule('get', 'posts')]), dry),
    'forbidden',
  ],
  [
    'the same by a user with its rights',
    (access) => access.as('bert').replace(role('boss', [rule('get', 'posts')]), dry),
    'ok',
  ],
  [
    'a role beyond them, elsewhere',
    (access) => access.as('rita').replace(role('boss', everythingRules, { labels: { 'example.com/x': 'y' } }), dry),
    'forbidden',
  ],
  [
    'deleting one beyond them',
    (access) => access.as('rita').write('roles', { type: 'delete', name: 'boss', preconditions: {} }, dry),
    'forbidden',
  ],
  [
    'deleting their own',
    (access) => access.as('rita').write('roles', { type: 'delete', name: 'reader', preconditions: {} }, dry),
    'ok',
  ],
  [
    'adding theirs to the role of everybody',
    (access) =>
      access.as('rita').replace(role('reader', [rule('get,list', 'posts')], { aggregateTo: ['anonymous'] }), dry),
    'ok',
  ],
  [
    "adding another's to their own",
    (access) =>
      access.as('rita').replace(role('writer', [rule('create,update', 'posts')], { aggregateTo: ['reader'] }), dry),
    'forbidden',
  ],
]);

behaves(
  'a binding gives no role that its writer does not hold',
  [
    ['a role they hold', (access) => access.as('walt').create(binding('b', 'writer', 'nobody'), dry), 'ok'],
    ['what comes with it', (access) => access.as('walt').create(binding('b', 'reader', 'nobody'), dry), 'ok'],
    [
      'one that gives the same by other rules',
      (access) => access.as('bert').create(binding('b', 'super-role', 'nobody'), dry),
      'ok',
    ],
    ['one beyond them', (access) => access.as('rita').create(binding('b', 'writer', 'rita'), dry), 'forbidden'],
    [
      'the super administrator',
      (access) => access.as('mary').create(binding('b', 'super-role', 'mary'), dry),
      'forbidden',
    ],
    [
      'a role that there is not',
      (access) => access.as('root').create(binding('b', 'nothing', 'nobody'), dry),
      'invalid /roleRef/name',
    ],
    [
      'not even for a plugin',
      (access) => access.as({ kind: 'plugin', name: 'p' }).create(binding('b', 'nothing', 'nobody'), dry),
      'invalid /roleRef/name',
    ],
    [
      'a plugin, any other',
      (access) => access.as({ kind: 'plugin', name: 'p' }).create(binding('b', 'boss', 'nobody'), dry),
      'ok',
    ],
    [
      "adding oneself to another's",
      (access) => access.as('rita').replace(binding('writers', 'writer', 'walt', 'sleeper', 'rita'), dry),
      'forbidden',
    ],
    [
      'leaving somebody out of one beyond them',
      (access) => access.as('rita').replace(binding('writers', 'writer', 'walt'), dry),
      'forbidden',
    ],
    [
      'the same by a user with its rights',
      (access) => access.as('walt').replace(binding('writers', 'writer', 'walt'), dry),
      'ok',
    ],
    [
      'leaving one out and putting another in',
      (access) => access.as('rita').replace(binding('writers', 'writer', 'walt', 'rita'), dry),
      'forbidden',
    ],
    [
      "turning one's own into another",
      (access) => access.as('rita').replace(binding('readers', 'boss', 'rita'), dry),
      'forbidden',
    ],
    [
      'removing somebody from one beyond them',
      (access) => access.as('rita').write('rolebindings', { type: 'delete', name: 'writers', preconditions: {} }, dry),
      'forbidden',
    ],
    [
      'what remains of a role that went',
      (access) => access.as('root').replace(binding('old', 'gone', 'nobody'), dry),
      'ok',
    ],
    [
      'another that there is not',
      (access) => access.as('root').replace(binding('old', 'nothing', 'nobody'), dry),
      'invalid /roleRef/name',
    ],
    [
      'oneself to a role that went and may come back',
      (access) => access.as('mary').replace(binding('old', 'gone', 'nobody', 'rita', 'mary'), dry),
      'forbidden',
    ],
    ['nobody new to it', (access) => access.as('mary').replace(binding('old', 'gone', 'rita'), dry), 'ok'],
  ],
  async (access) => {
    await access.given(role('gone'), binding('old', 'gone', 'nobody', 'rita'));
    shown(await access.as(platform).delete('roles', 'gone'));
  },
);

behaves('nobody acts on an account that may do more than they', [
  ['somebody with nothing', (access) => access.as('rita').patch('users', 'nobody', { spec: { password } }), 'ok'],
  ['somebody with less', (access) => access.as('walt').patch('users', 'rita', { spec: { password } }), 'ok'],
  ['oneself', (access) => access.as('rita').patch('users', 'rita', { spec: { password } }), 'ok'],
  ['somebody with more', (access) => access.as('rita').patch('users', 'walt', { spec: { password } }), 'forbidden'],
  [
    'the super administrator',
    (access) => access.as('mary').patch('users', 'root', { spec: { password } }),
    'forbidden',
  ],
  [
    'oneself, with a token for less',
    (access) =>
      access
        .as(by('walt', { kind: 'token', uid: 'u', userUid: 'w', name: 't', roles: ['reader'] }))
        .patch('users', 'walt', { spec: { password } }),
    'forbidden',
  ],
  ['a name that nobody knows', (access) => access.as('rita').create(user('new', { password }), dry), 'ok'],
  [
    'a name that roles are bound to',
    (access) => access.as('rita').create(user('ghost', { password }), dry),
    'forbidden',
  ],
  [
    'the same without a password, which may come later',
    (access) => access.as('rita').create(user('ghost'), dry),
    'forbidden',
  ],
  ['the same by a user with those rights', (access) => access.as('walt').create(user('ghost'), dry), 'ok'],
  ['enabling one with more', (access) => access.as('rita').replace(user('sleeper'), dry), 'forbidden'],
  ['enabling one with as much', (access) => access.as('walt').replace(user('sleeper'), dry), 'ok'],
  [
    'disabling one with more',
    (access) => access.as('rita').replace(user('walt', { disabled: true }), dry),
    'forbidden',
  ],
  ['naming one with more', (access) => access.as('rita').replace(user('walt', { displayName: 'W' }), dry), 'forbidden'],
  [
    'deleting one with more',
    (access) => access.as('rita').write('users', { type: 'delete', name: 'walt', preconditions: {} }, dry),
    'forbidden',
  ],
]);

behaves('a token has no role that its maker does not hold', [
  ['all of theirs', (access) => access.as('walt').create(token('t'), dry), 'ok'],
  ['one that comes with theirs', (access) => access.as('walt').create(token('t', { roles: ['reader'] }), dry), 'ok'],
  [
    'one they do not hold',
    (access) => access.as('walt').create(token('t', { roles: ['reader', 'manager'] }), dry),
    'forbidden',
  ],
  ['one that there is not', (access) => access.as('walt').create(token('t', { roles: ['nothing'] }), dry), 'forbidden'],
  [
    'any, for the super administrator',
    (access) => access.as('root').create(token('t', { roles: ['manager'] }), dry),
    'ok',
  ],
  [
    'by a token',
    (access) =>
      access
        .as(by('root', { kind: 'token', uid: 'u', userUid: 'r', name: 't', roles: undefined }))
        .create(token('t'), dry),
    'forbidden',
  ],
  ["by a provider's user", (access) => access.as(oidcOlga).create(token('t'), dry), 'forbidden'],
]);

behaves('the super administrator role is touched by nobody', [
  ['changed', (access) => access.as('root').patch('roles', 'super-role', { rules: [] }), 'forbidden'],
  [
    'labelled',
    (access) => access.as('root').patch('roles', 'super-role', { metadata: { labels: { 'a.b/c': 'd' } } }),
    'forbidden',
  ],
  ['deleted', (access) => access.as('root').delete('roles', 'super-role'), 'forbidden'],
  ['by a plugin', (access) => access.as({ kind: 'plugin', name: 'p' }).delete('roles', 'super-role'), 'forbidden'],
  ['by the platform', (access) => access.as(platform).delete('roles', 'super-role'), 'ok'],
  ['made anew', (access) => access.as('root').create(role('super-role', everythingRules)), 'forbidden'],
  [
    'and its holders hold everything even so',
    (access) => access.as('root').create(role('a', everythingRules), dry),
    'ok',
  ],
]);

test('a refusal names the missing rights', async (t) => {
  const access = await opened(t);
  const outcome = await access.as('rita').create(role('a', [rule('get', 'posts'), rule('delete', 'posts')]));
  t.equal(
    outcome.ok ? '' : outcome.rejection.detail,
    'roles "a" is forbidden: User "rita" cannot grant permissions they do not have: {"apiGroups":["example.com"],' +
      '"resources":["posts"],"verbs":["delete"]}',
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

test('a super administrator that can log in always remains', async (t) => {
  const access = await opened(t);
  const attempts: readonly (readonly [string, Writing])[] = [
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
    t.equal(refusal(await writing(access)), 'ok', `${about}: they hold it no more`);
  t.equal(refusal(await access.as('mary').replace(binding('more-roots', 'super-role', 'mary'))), 'ok');
  t.equal(refusal(await access.as('mary').delete('users', 'mary')), 'forbidden');
});

test('of two simultaneous removals of super administrators one is refused', async (t) => {
  const access = await opened(t);
  await access.given(binding('more-roots', 'super-role', 'mary'), binding('bert-too', 'super-role', 'bert'));
  const ways: readonly Writing[] = [
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
  const ways: readonly Writing[] = [
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
    const judged = rules.judge({
      type: access.type('roles'),
      subject,
      before: undefined,
      after: object,
      isNewPassword: false,
    });
    return judged.ok ? 'ok' : judged.rejection.reason;
  };
  t.strictSame(
    [platform, { kind: 'plugin', name: 'p' } as const, access.user('root'), { kind: 'visitor' } as const].map(verdict),
    ['ok', 'ok', 'unavailable', 'unavailable'],
  );
});
