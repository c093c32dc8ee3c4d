import { test } from 'tap';

import { everything } from '../../src/access/role-aggregation.ts';
import type { JsonObject } from '../../src/resource/object/object.ts';
import { asked, subjectOf } from '../access/access-world.ts';
import { PermissionStage } from './permission-stage.ts';

const posts = { apiGroups: ['g.io'], resources: ['posts'], verbs: ['get'] };
const binding = (role: string, ...users: readonly string[]): JsonObject => ({
  roleRef: { apiGroup: '', kind: 'Role', name: role },
  subjects: users.map((name) => ({ apiGroup: '', kind: 'User', name })),
});
const ann = subjectOf({ user: 'ann' });

function may({ tables }: PermissionStage, user = 'ann', request = 'GET /apis/g.io/v1/posts/a'): boolean {
  return tables.rightsOf(subjectOf({ user })).find(asked(request), () => undefined) !== undefined;
}

test('the tables are empty before a load and complete after it, with writes at any time', async (t) => {
  const stage = await PermissionStage.open(t);
  await stage.create('roles', 'reader', { rules: [posts] });
  await stage.create('rolebindings', 'b', binding('reader', 'ann'));
  t.notOk(stage.tables.isReady());
  t.notOk(may(stage));
  t.strictSame(stage.takeChanges(), []);
  stage.tables.load();
  t.ok(stage.tables.isReady());
  t.ok(may(stage));
  t.strictSame(stage.tables.boundRoles('ann'), ['reader']);
  t.strictSame(
    [...stage.tables.roles()].map(({ name }) => name),
    ['reader'],
  );
  t.strictSame(stage.tables.role('reader')?.rules.length, 1);
  stage.tables.load();
  t.ok(may(stage), 'loaded again, it is the same');
});

test('a write has effect from its answer on: roles, bindings, dependencies and labels', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  await stage.create('rolebindings', 'b', binding('start', 'ann'));
  t.notOk(may(stage));
  await stage.create('roles', 'reader', { rules: [posts] });
  await stage.create(
    'roles',
    'start',
    {},
    { annotations: { 'rbac.authorization.svc.run/dependencies': '["reader"]' } },
  );
  t.ok(may(stage), 'by a dependency of a role that was missing');
  await stage.change('roles', 'start', {
    metadata: { annotations: { 'rbac.authorization.svc.run/dependencies': 'reader' } },
  });
  t.notOk(may(stage), 'by a malformed one no more');
  t.match(stage.tables.role('start')?.malformed, [{ key: 'rbac.authorization.svc.run/dependencies' }]);
  await stage.change('roles', 'reader', {
    metadata: { labels: { 'rbac.authorization.svc.run/aggregate-to-start': 'true' } },
  });
  t.ok(may(stage), 'by aggregation');
  await stage.change('roles', 'reader', { metadata: { labels: null } });
  t.notOk(may(stage));
  await stage.create('rolebindings', 'b2', binding('reader', 'ann', 'bob'));
  t.ok(may(stage));
  await stage.change('rolebindings', 'b2', { subjects: [{ apiGroup: '', kind: 'User', name: 'bob' }] });
  t.notOk(may(stage));
  t.ok(may(stage, 'bob'));
});

test('a marked object counts as deleted, and its name may be used again', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  await stage.create('roles', 'reader', { rules: [posts] }, { finalizers: ['example.com/hold'] });
  await stage.create('rolebindings', 'b', binding('reader', 'ann'), { finalizers: ['example.com/hold'] });
  await stage.create('users', 'ann', { spec: {} }, { finalizers: ['example.com/hold'] });
  t.ok(may(stage));
  await stage.mark('roles', 'reader');
  t.notOk(may(stage));
  t.equal(stage.tables.role('reader'), undefined);
  await stage.change('roles', 'reader', { metadata: { labels: { still: 'here' } } });
  t.equal(stage.tables.role('reader'), undefined, 'a change of a marked role restores nothing');
  await stage.mark('rolebindings', 'b');
  t.strictSame(stage.tables.boundRoles('ann'), []);
  await stage.mark('users', 'ann');
  t.equal(stage.tables.user('ann'), undefined);
  await stage.change('rolebindings', 'b', { metadata: { finalizers: null } });
  await stage.change('roles', 'reader', { metadata: { finalizers: null } });
  await stage.create('roles', 'reader', { rules: [posts] });
  await stage.create('rolebindings', 'c', binding('reader', 'ann'));
  t.ok(may(stage));
});

test('listeners are notified of rights only if the rights of a subject may have changed', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  await stage.create('roles', 'reader', { rules: [posts] });
  t.strictSame(stage.takeChanges(), [{ credentials: [], rights: true }]);
  await stage.change('roles', 'reader', {
    status: { seen: true },
    metadata: { annotations: { 'rbac.authorization.svc.run/display-name': 'Reader' } },
  });
  t.strictSame(stage.takeChanges(), [], 'how it is shown');
  t.equal(stage.tables.role('reader')?.displayName, 'Reader');
  await stage.create('rolebindings', 'b', binding('reader', 'ann'));
  t.strictSame(stage.takeChanges(), [{ credentials: [], rights: true }]);
  await stage.change('rolebindings', 'b', { metadata: { labels: { a: 'b' } } });
  t.strictSame(stage.takeChanges(), []);
  await stage.mark('roles', 'reader');
  t.strictSame(stage.takeChanges(), [{ credentials: [], rights: true }]);
});

test('a change or end of credentials is reported for users, tokens and sessions, a mere status is not', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  const user = await stage.create('users', 'ann', { spec: { displayName: 'Ann' }, status: { passwordRevision: 0 } });
  const token = await stage.create('personalaccesstokens', 'ci', {
    spec: { owner: 'ann', roles: ['reader'], expiresAt: '2026-06-01T00:00:00.000Z' },
    status: { ownerUid: user.metadata.uid },
  });
  const session = await stage.create('sessions', 's1', {
    spec: { user: 'ann' },
    status: { userUid: user.metadata.uid, passwordRevision: 0, expiresAt: '2026-02-01T00:00:00.000Z' },
  });
  t.strictSame(stage.takeChanges(), [], "a new one is nobody's yet");
  t.strictSame(stage.tables.user('ann'), {
    name: 'ann',
    uid: user.metadata.uid,
    isDisabled: false,
    passwordRevision: 0,
  });
  t.strictSame(stage.tables.token(token.metadata.uid), {
    name: 'ci',
    uid: token.metadata.uid,
    owner: 'ann',
    ownerUid: user.metadata.uid,
    roles: ['reader'],
    expiresAt: Date.UTC(2026, 5, 1),
    isRevoked: false,
  });
  t.strictSame(stage.tables.session(session.metadata.uid), {
    name: 's1',
    uid: session.metadata.uid,
    user: 'ann',
    userUid: user.metadata.uid,
    passwordRevision: 0,
    expiresAt: Date.UTC(2026, 1, 1),
  });
  t.strictSame(stage.tables.sessionsOf('ann'), ['s1']);
  await stage.change('personalaccesstokens', 'ci', { status: { lastUsedAt: 'now' } });
  await stage.change('sessions', 's1', { status: { lastUsedAt: 'now' } });
  await stage.change('users', 'ann', { spec: { displayName: 'Anna' } });
  t.strictSame(stage.takeChanges(), []);
  for (const [plural, name, document] of [
    ['personalaccesstokens', 'ci', { status: { phase: 'expired' } }],
    ['personalaccesstokens', 'ci', { spec: { revoked: true } }],
    ['users', 'ann', { spec: { disabled: true } }],
    ['users', 'ann', { status: { passwordRevision: 1 } }],
  ] as const) {
    await stage.change(plural, name, document);
    t.strictSame(stage.takeChanges(), [{ credentials: ['ann'], rights: false }], JSON.stringify(document));
  }
  t.match(stage.tables.user('ann'), { isDisabled: true, passwordRevision: 1 });
  t.ok(stage.tables.token(token.metadata.uid)?.isRevoked);
  await stage.mark('sessions', 's1');
  t.strictSame(stage.takeChanges(), [{ credentials: ['ann'], rights: false }]);
  t.strictSame([stage.tables.session(session.metadata.uid), stage.tables.sessionsOf('ann')], [undefined, []]);
  await stage.mark('personalaccesstokens', 'ci');
  await stage.mark('users', 'ann');
  t.equal(stage.takeChanges().length, 2);
});

test('an incomplete record authenticates no user', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  const noOwner = await stage.create('personalaccesstokens', 'a', { spec: {}, status: { ownerUid: 'u' } });
  const badTime = await stage.create('personalaccesstokens', 'b', {
    spec: { owner: 'ann', expiresAt: 'never' },
    status: { ownerUid: 'u' },
  });
  const badRoles = await stage.create('personalaccesstokens', 'c', {
    spec: { owner: 'ann', roles: 'all' },
    status: { ownerUid: 'u' },
  });
  const endless = await stage.create('sessions', 's', { spec: { user: 'ann' }, status: { userUid: 'u' } });
  t.strictSame(
    [
      stage.tables.token(noOwner.metadata.uid),
      stage.tables.token(badTime.metadata.uid),
      stage.tables.session(endless.metadata.uid),
    ],
    [undefined, undefined, undefined],
  );
  t.strictSame(stage.tables.token(badRoles.metadata.uid)?.roles, []);
  await stage.create('rolebindings', 'x', {
    roleRef: { apiGroup: '', kind: 'ClusterRole', name: 'super-role' },
    subjects: [{ apiGroup: '', kind: 'User', name: 'ann' }],
  });
  await stage.create('rolebindings', 'y', {
    roleRef: { apiGroup: '', kind: 'Role', name: 'super-role' },
    subjects: [{ apiGroup: '', kind: 'Group', name: 'ann' }, 'ann', { kind: 'User' }],
  });
  t.strictSame(stage.tables.boundRoles('ann'), []);
});

test('holders are the bindings of a role with the users that can log in', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  await stage.create('rolebindings', 'b1', binding('super-role', 'ann', 'bob', 'ghost'));
  await stage.create('rolebindings', 'b2', binding('super-role', 'ann'));
  await stage.create('rolebindings', 'b3', binding('other', 'ann'));
  await stage.create('users', 'ann', { spec: {}, status: { passwordRevision: 0 } });
  await stage.create('users', 'bob', { spec: { disabled: true }, status: { passwordRevision: 0 } });
  await stage.create('rolebindings', 'b4', binding('super-role', 'carl'));
  await stage.create('users', 'carl', { spec: {} });
  t.strictSame(
    [...stage.tables.holders('super-role')],
    [
      { binding: 'b1', user: 'ann' },
      { binding: 'b2', user: 'ann' },
    ],
  );
  await stage.change('users', 'bob', { spec: { disabled: false }, status: { passwordRevision: 0 } });
  await stage.mark('rolebindings', 'b2');
  t.strictSame(
    [...stage.tables.holders('super-role')],
    [
      { binding: 'b1', user: 'ann' },
      { binding: 'b1', user: 'bob' },
    ],
  );
  t.strictSame(stage.tables.boundRoles('ann'), ['other', 'super-role']);
  t.strictSame([...stage.tables.holders('nowhere')], []);
});

test('rulesOf returns the closure, with and without a proposed change', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  await stage.create('roles', 'view', { rules: [posts] });
  await stage.create(
    'roles',
    'manage',
    { rules: [{ ...posts, verbs: ['*'] }] },
    { annotations: { 'rbac.authorization.svc.run/dependencies': '["view"]' } },
  );
  const verbs = (...args: Parameters<PermissionStage['tables']['rulesOf']>): readonly string[] =>
    stage.tables.rulesOf(...args).map((rule) => rule.verbs.join());
  t.strictSame(verbs(['manage']), ['*', 'get']);
  const view = stage.tables.role('view')!;
  t.strictSame(verbs(['manage'], { name: 'view', role: undefined }), ['*']);
  t.strictSame(verbs(['view'], { name: 'added', role: { ...view, name: 'added', aggregatesTo: ['view'] } }), [
    'get',
    'get',
  ]);
  t.strictSame(
    verbs(['manage'], { name: 'manage', role: { ...view, name: 'manage' } }),
    ['get'],
    'without its dependency',
  );
  t.strictSame(stage.tables.rulesOf(['super-role']), everything, 'though the role is not there');
  t.strictSame(
    stage.tables.rulesOf(['view'], { name: 'view', role: { ...view, rules: [], dependencies: ['super-role'] } }),
    everything,
  );
});

test('findUncovered returns the first rule beyond the held ones, and none for a super administrator', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  await stage.create('roles', 'view', { rules: [posts] });
  await stage.create('rolebindings', 'b', binding('view', 'ann'));
  const rights = stage.tables.rightsOf(ann);
  t.equal(rights.findUncovered(stage.tables.rulesOf(['view'])), undefined);
  t.equal(rights.findUncovered(everything), everything[0]);
  t.strictSame(rights.rules(), stage.tables.rulesOf(['view']));
  await stage.create('rolebindings', 'c', binding('super-role', 'ann'));
  t.equal(stage.tables.rightsOf(ann).findUncovered(everything), undefined);
  t.strictSame(stage.tables.rightsOf(ann).rules().slice(0, 2), everything);
});

test('users with the same roles share their rights, which remain valid until one of the roles changes', async (t) => {
  const stage = await PermissionStage.open(t);
  stage.tables.load();
  await stage.create('roles', 'view', { rules: [posts] });
  await stage.create('roles', 'other', { rules: [posts] });
  await stage.create('rolebindings', 'b', binding('view', 'ann', 'bob'));
  const rights = stage.tables.rightsOf(ann);
  t.equal(stage.tables.rightsOf(subjectOf({ user: 'bob' })), rights);
  await stage.change('roles', 'other', { rules: [] });
  await stage.create('roles', 'third', { rules: [] });
  t.equal(stage.tables.rightsOf(ann), rights);
  await stage.change('roles', 'view', { rules: [] });
  t.not(stage.tables.rightsOf(ann), rights);
  const tokenRoles = ['view'];
  const token = stage.tables.rightsOf(subjectOf({ user: 'ann', tokenRoles }));
  t.equal(stage.tables.rightsOf(subjectOf({ user: 'ann', tokenRoles })), token);
});

test('roles do not apply to the platform and to plugins that act as themselves', async (t) => {
  const { tables } = await PermissionStage.open(t);
  for (const subject of [
    { kind: 'platform', part: 'roles' },
    { kind: 'plugin', name: 'blog' },
  ] as const) {
    const rights = tables.rightsOf(subject);
    t.ok(rights.isSuperAdministrator);
    t.match(
      rights.find(asked('GET /apis/g.io/v1/posts'), () => undefined),
      { rule: everything[0] },
    );
    t.equal(rights.findUncovered(everything), undefined);
  }
});
