import { test } from 'tap';

import type { WriteOutcome } from '../../../src/command/command.ts';
import type { Subject } from '../../../src/command/subject.ts';
import {
  Access,
  binding,
  everythingRules,
  platform,
  refusal,
  role,
  rule,
  session,
  token,
  user,
  type Plural,
} from '../../support/access.ts';
import { shown } from '../../support/writing.ts';

/**
 * `mary` may write everything of access control, and nothing else; `root` may do everything; `ann` holds no role;
 * `walt` writes posts.
 */
async function opened(t: Parameters<typeof Access.open>[0]): Promise<Access> {
  const access = await Access.open(t);
  const plurals = 'users,roles,rolebindings,personalaccesstokens,sessions';
  await access.given(
    role('super-role', everythingRules),
    role('anonymous', [rule('get', 'news')]),
    role('authenticated', [rule('get', 'profiles')]),
    role('manager', [rule('*', plurals, { apiGroups: [''] })]),
    role('writer', [rule('create', 'posts')]),
    role('chief', [rule('get', 'x')], { dependencies: ['writer'] }),
    ...['root', 'deputy', 'mary', 'ann', 'walt'].map((name) =>
      user(name, name === 'walt' || name === 'ann' ? {} : { password: 'the password' }),
    ),
    binding('roots', 'super-role', 'root', 'deputy'),
    binding('managers', 'manager', 'mary'),
    binding('writers', 'writer', 'walt'),
    binding('both', 'manager', 'walt', 'ann'),
    binding('provided', 'writer', 'oidc:olga'),
    ...['root', 'mary', 'ann', 'walt'].flatMap((name) => [
      token(`of-${name}`, { owner: name }),
      session(`of-${name}`, name, { userUid: 'u', expiresAt: '2999-01-01T00:00:00.000Z' }),
    ]),
  );
  return access;
}

type Deed = (access: Access, by: Subject | string, name: string) => Promise<WriteOutcome>;

const dry = { dryRun: true };
const patched =
  (plural: Plural, document: object): Deed =>
  async (access, by, name) =>
    access.as(by).write(
      plural,
      {
        type: 'patch',
        name,
        patch: { kind: 'merge', document: document as never },
        part: 'main',
        preconditions: {},
      },
      dry,
    );
const deleted =
  (plural: Plural): Deed =>
  async (access, by, name) =>
    access.as(by).write(plural, { type: 'delete', name, preconditions: {} }, dry);

/** Actions on a user, by their name. */
const deeds: readonly (readonly [string, Deed])[] = [
  ['disable', patched('users', { spec: { disabled: true } })],
  ['set the password of', patched('users', { spec: { password: 'another password' } })],
  ['rename', patched('users', { spec: { displayName: 'X' } })],
  ['readdress', patched('users', { spec: { email: 'x@example.com' } })],
  ['label', patched('users', { metadata: { labels: { 'example.com/x': 'y' } } })],
  ['hold with a finalizer', patched('users', { metadata: { finalizers: ['example.com/hold'] } })],
  ['delete', deleted('users')],
  ['delete the token of', async (access, by, name) => deleted('personalaccesstokens')(access, by, `of-${name}`)],
  [
    'revoke the token of',
    async (access, by, name) => patched('personalaccesstokens', { spec: { revoked: true } })(access, by, `of-${name}`),
  ],
  [
    'describe the token of',
    async (access, by, name) =>
      patched('personalaccesstokens', { spec: { description: 'x' } })(access, by, `of-${name}`),
  ],
  ['delete the session of', async (access, by, name) => deleted('sessions')(access, by, `of-${name}`)],
];

test('nobody acts on a user with more rights', async (t) => {
  const access = await opened(t);
  const confined: Subject = {
    kind: 'user',
    name: 'mary',
    credential: { kind: 'token', uid: 'u', userUid: 'm', name: 't', roles: ['authenticated'] },
  };
  const pairs: readonly (readonly [Subject | string, string, string])[] = [
    ['mary', 'root', 'forbidden'],
    ['mary', 'walt', 'forbidden'],
    ['mary', 'ann', 'ok'],
    ['mary', 'mary', 'ok'],
    ['root', 'mary', 'ok'],
    ['deputy', 'root', 'ok'],
    [confined, 'mary', 'forbidden'],
    [{ kind: 'visitor' }, 'ann', 'forbidden'],
    [{ kind: 'visitor' }, 'root', 'forbidden'],
    [platform, 'root', 'ok'],
  ];
  for (const [by, name, expected] of pairs) {
    for (const [what, deed] of deeds)
      t.equal(refusal(await deed(access, by, name)), expected, `${JSON.stringify(by)}: ${what} ${name}`);
  }
});

test('nobody takes a role from a user with more rights', async (t) => {
  const access = await opened(t);
  const replaced = async (by: string, object: ReturnType<typeof binding>): Promise<string> =>
    refusal(await access.as(by).replace(object, dry));
  t.equal(
    await replaced('mary', binding('both', 'manager', 'ann')),
    'forbidden',
    'mary holds the role that walt would lose, and not all he has',
  );
  t.equal(await replaced('mary', binding('both', 'manager', 'walt')), 'ok', 'and all that ann has');
  t.equal(
    await replaced('mary', binding('both', 'manager', 'walt', 'ann', 'root')),
    'ok',
    'a further one takes from nobody',
  );
  t.equal(
    await replaced('mary', binding('both', 'authenticated', 'walt', 'ann')),
    'forbidden',
    'another role takes the first',
  );
  t.equal(refusal(await deleted('rolebindings')(access, 'mary', 'both')), 'forbidden');
  t.equal(refusal(await deleted('rolebindings')(access, 'mary', 'roots')), 'forbidden');
  t.equal(refusal(await deleted('rolebindings')(access, 'mary', 'provided')), 'forbidden', "also a provider's user");
  t.equal(refusal(await deleted('rolebindings')(access, 'root', 'both')), 'ok');
});

test('a deleted user is not created again by a writer with fewer rights', async (t) => {
  const access = await opened(t);
  shown(await access.as('root').patch('users', 'walt', { metadata: { finalizers: ['example.com/hold'] } }));
  shown(await access.as('root').delete('users', 'walt'));
  t.equal(
    refusal(await access.as('mary').patch('users', 'walt', { metadata: { finalizers: null } })),
    'forbidden',
    'the name stays taken until nobody is bound by it',
  );
  shown(await access.as(platform).collect('users', 'walt'));
  t.equal(refusal(await access.as('mary').create(user('walt', { password: 'another password' }))), 'forbidden');
});

test("roles that everybody has cannot be deleted, and change within the writer's rights", async (t) => {
  const access = await opened(t);
  for (const name of ['anonymous', 'authenticated']) {
    for (const by of ['root', 'mary', { kind: 'plugin', name: 'p' }, { kind: 'platform', part: 'plugins' }] as const) {
      t.equal(refusal(await deleted('roles')(access, by, name)), 'forbidden', `${name} by ${JSON.stringify(by)}`);
    }
  }
  const changes: readonly (readonly [string, ReturnType<typeof role>, string])[] = [
    ['to less', role('anonymous'), 'ok'],
    ['to what the writer holds', role('anonymous', [rule('get', 'users', { apiGroups: [''] })]), 'ok'],
    ['to more', role('anonymous', [rule('get', 'posts')]), 'forbidden'],
    ['by a dependency', role('anonymous', [rule('get', 'news')], { dependencies: ['writer'] }), 'forbidden'],
    ['by one that brings others', role('authenticated', [], { dependencies: ['chief'] }), 'forbidden'],
    ['by one that there is not', role('authenticated', [], { dependencies: ['of-a-plugin'] }), 'forbidden'],
    [
      'by adding it to what the writer lacks',
      role('anonymous', [rule('get', 'news')], { aggregateTo: ['writer', 'super-role'] }),
      'ok',
    ],
  ];
  for (const [about, object, expected] of changes)
    t.equal(refusal(await access.as('mary').replace(object, dry)), expected, about);
  t.equal(
    refusal(
      await access.as('mary').create(role('new', [rule('create', 'posts')], { aggregateTo: ['anonymous'] }), dry),
    ),
    'forbidden',
    'nor by a role that adds itself to it',
  );
  await access.given(role('opener', [rule('update', 'roles', { apiGroups: [''] })], { aggregateTo: ['anonymous'] }));
  t.equal(
    refusal(await access.as({ kind: 'visitor' }).replace(role('anonymous'), dry)),
    'forbidden',
    'a visitor is no user',
  );
});

test('the refusal names the user and the rights that the writer lacks', async (t) => {
  const access = await opened(t);
  const outcome = await access.as('mary').patch('users', 'walt', { spec: { disabled: true } });
  t.equal(
    outcome.ok ? '' : outcome.rejection.detail,
    'users "walt" is forbidden: User "mary" cannot act on a user with permissions that the caller does not have: ' +
      '{"apiGroups":["example.com"],"resources":["posts"],"verbs":["create"]}',
  );
});
