import { test } from 'tap';

import { compilePlatformTypes, platformTypes } from '../../../src/auth/types/platform-types.ts';
import { decide, type Decision } from '../../../src/command/decide.ts';
import { evolve, initialState, type State } from '../../../src/command/evolve.ts';
import type { Kept, Withheld } from '../../../src/command/strategy.ts';
import type { Credential, Subject } from '../../../src/command/subject.ts';
import { streamRevision } from '../../../src/log/log.ts';
import type { JsonObject, ResourceObject } from '../../../src/resource/object/object.ts';
import { binding, pathRule, platform, role, rule, session, token, user } from '../../support/access.ts';
import { create, drawnUid, earlier, facts, frozen, merge, now, positionOf, put } from '../../support/given.ts';

const domain = 'svc.run';
const types = compilePlatformTypes(domain).map((type, index) => ({
  type,
  strategy: platformTypes(domain)[index]!.strategy,
}));
const alice: Subject = { kind: 'user', name: 'alice', credential: { kind: 'password', uid: 'uid-of-alice' } };

function as(credential: Credential): Subject {
  return { kind: 'user', name: 'alice', credential };
}

type Asked = { readonly subject?: Subject; readonly kept?: Kept; readonly state?: State };

/** What comes of a body: a create, or a replacement where there is something stored. */
function decided(object: JsonObject, { subject = alice, kept, state = initialState }: Asked = {}): Decision {
  const { type, strategy } = types.find(({ type: { kind } }) => kind === object['kind'])!;
  const name = (object['metadata'] as JsonObject)['name'] as string;
  return decide(frozen(state), frozen(state.kind === 'live' ? put(object, { name }) : create(object)), {
    ...facts,
    type,
    strategy,
    subject,
    kept,
  });
}

/** As it is stored when `object` was created by the platform. */
function storedAs(object: ResourceObject): State {
  return evolve(
    initialState,
    { type: 'ObjectCreated', object, values: [] },
    { revision: streamRevision(0), position: positionOf(0) },
  );
}

function stored(body: JsonObject): ResourceObject {
  const { metadata, ...members } = body;
  return {
    ...members,
    apiVersion: 'v1alpha1',
    kind: body['kind'] as string,
    metadata: { uid: drawnUid, version: 0, generation: 1, creationTimestamp: earlier, ...(metadata as JsonObject) },
  } as unknown as ResourceObject;
}

function objectOf(decision: Decision): ResourceObject {
  if (!decision.ok) throw new Error(`refused: ${decision.rejection.detail}`);
  return decision.object;
}

function withheldOf(decision: Decision): Withheld | undefined {
  return decision.ok && decision.event !== undefined ? decision.withheld : undefined;
}

/** `ok`, or the reason and the pointers. */
function verdictOf(decision: Decision): string {
  if (decision.ok) return 'ok';
  return 'violations' in decision.rejection
    ? [decision.rejection.reason, ...decision.rejection.violations.map(({ pointer }) => pointer)].join(' ')
    : decision.rejection.reason;
}

test('the types are of the core group, and each one compiles', async (t) => {
  t.strictSame(
    types.map(({ type: { path, plugin } }) => `${path} ${plugin}`),
    [
      '/api/v1alpha1/roles platform',
      '/api/v1alpha1/rolebindings platform',
      '/api/v1alpha1/users platform',
      '/api/v1alpha1/personalaccesstokens platform',
      '/api/v1alpha1/sessions platform',
    ],
  );
});

test('values that a schema accepts and refuses', async (t) => {
  const r = (...rules: readonly JsonObject[]): JsonObject => role('r', rules);
  const cases: readonly (readonly [string, JsonObject, string])[] = [
    ['a role without rules', { kind: 'Role', metadata: { name: 'r' } }, 'ok'],
    ['a resource rule', r(rule('get,list,*', 'posts,posts/status,*,*/status,posts/*')), 'ok'],
    ['a rule without apiGroups, which matches nothing', r({ resources: ['posts'], verbs: ['get'] }), 'ok'],
    ['a path rule by verb and by method', r(pathRule('get,post,head', '/login,/x/*,*')), 'ok'],
    [
      'a rule of both kinds',
      r({ ...rule('get', 'posts'), ...pathRule('get', '/x') }),
      'invalid /rules/0/apiGroups /rules/0/resources',
    ],
    ['a rule of neither kind', r({ verbs: ['get'] }), 'invalid /rules/0/resources'],
    ['a rule without verbs', r({ apiGroups: [''], resources: ['posts'] }), 'invalid /rules/0/verbs'],
    ['a method in a resource rule', r(rule('post', 'posts')), 'invalid /rules/0/verbs/0'],
    ['a verb nobody knows', r(pathRule('fetch', '/x')), 'invalid /rules/0/verbs/0'],
    ['a path that is none', r(pathRule('get', 'x')), 'invalid /rules/0/nonResourceURLs/0'],
    ['names with one *', r(rule('get', 'posts', { resourceNames: ['a*b', '*', '-'] })), 'ok'],
    ['a name with two *', r(rule('get', 'posts', { resourceNames: ['a*b*'] })), 'invalid /rules/0/resourceNames/0'],
    ['512 rules', r(...Array.from({ length: 512 }, () => rule('get', 'posts'))), 'ok'],
    ['513 rules', r(...Array.from({ length: 513 }, () => rule('get', 'posts'))), 'invalid /rules'],
    ['256 verbs', r(rule(Array.from({ length: 256 }, () => 'get').join(), 'posts')), 'ok'],
    ['257 verbs', r(rule(Array.from({ length: 257 }, () => 'get').join(), 'posts')), 'invalid /rules/0/verbs'],
    ['a spec in a role', { ...r(), spec: {} }, 'invalid /spec'],
    ['a binding', binding('b', 'r', 'alice', 'oidc:Älice@example.com'), 'ok'],
    ['a binding of nobody', binding('b', 'r'), 'invalid /subjects'],
    ['a binding of 256', binding('b', 'r', ...Array.from({ length: 256 }, (_, index) => `u${String(index)}`)), 'ok'],
    [
      'a binding of 257',
      binding('b', 'r', ...Array.from({ length: 257 }, (_, index) => `u${String(index)}`)),
      'invalid /subjects',
    ],
    [
      'a binding of what no user is called',
      binding('b', 'r', '-', 'A', 'oidc:', 'other:x'),
      'invalid /subjects/0/name /subjects/1/name /subjects/2/name /subjects/3/name',
    ],
    ['a user without a spec', { kind: 'User', metadata: { name: 'u' } }, 'ok'],
    ['a user called -', user('-'), 'invalid /metadata/name'],
    ['no mail address', user('u', { email: 'x' }), 'invalid /spec/email'],
    ['an empty password', user('u', { password: '' }), 'invalid /spec/password'],
    ['a password that is null', user('u', { password: null }), 'invalid /spec/password'],
    ['a password of 7 characters', user('u', { password: 'geheim7' }), 'invalid /spec/password'],
    ['a password of 8 characters', user('u', { password: 'geheim78' }), 'ok'],
    ['a password of 1024 characters', user('u', { password: 'p'.repeat(1024) }), 'ok'],
    ['a password of 1025 characters', user('u', { password: 'p'.repeat(1025) }), 'invalid /spec/password'],
    ['a password nobody can type', user('u', { password: 'line\nfeed' }), 'invalid /spec/password'],
    ['equal roles in a token', token('t', { roles: ['a', 'a'] }), 'invalid /spec/roles'],
    ['a time that is none', token('t', { expiresAt: 'tomorrow' }), 'invalid /spec/expiresAt'],
  ];
  for (const [about, object, expected] of cases) t.equal(verdictOf(decided(object)), expected, about);
});

test('a password never reaches the event', async (t) => {
  const first = decided(user('u', { displayName: 'U', password: 'correct horse' }));
  t.strictSame(withheldOf(first), { kind: 'password', text: 'correct horse' });
  t.strictSame(objectOf(first)['spec'], { displayName: 'U' });
  const again = decided(user('u', { displayName: 'U', password: 'correct horse' }), { kept: { revision: 4 } });
  t.equal(withheldOf(again), undefined, 'kept by now, so nothing is withheld any more');
  t.strictSame(objectOf(again), {
    ...stored(user('u', { displayName: 'U' })),
    metadata: { ...stored(user('u')).metadata, creationTimestamp: now },
    status: { passwordRevision: 4, passwordSetAt: now },
  });
  t.notMatch(JSON.stringify(again), 'correct horse');
});

test('no secret is stored in the copy of kubectl apply, and the rest of the copy is kept', async (t) => {
  const key = 'kubectl.kubernetes.io/last-applied-configuration';
  const copied = (object: JsonObject, copy: string): unknown => {
    const metadata = { ...(object['metadata'] as JsonObject), annotations: { [key]: copy, note: 'kept' } };
    const { annotations = {} } = objectOf(decided({ ...object, metadata }, { kept: { revision: 4 } })).metadata;
    t.equal(annotations['note'], 'kept');
    return annotations[key];
  };
  const jane = user('jane', { displayName: 'J' });
  const withoutSecret = '{"spec": {"displayName": "J"}}\n';
  t.equal(copied(jane, withoutSecret), withoutSecret, 'byte for byte');
  for (const [copy, kept] of [
    ['{"kind":"User","spec":{"displayName":"J","password":"hush"}}', '{"kind":"User","spec":{"displayName":"J"}}\n'],
    ['{"spec":{"pass\\u0077ord":"hush"}}', '{"spec":{}}\n'],
    ['{"spec":{"totpEncryptedSecret":"hush"}}', '{"spec":{}}\n'],
    ['{"spec":{"password":"hush","password":"x"}}', undefined],
    ['{"spec":{"password":"hush"},"spec":{}}', undefined],
    ['{"spec":{"password":"hush"}', undefined],
    ['["hush"]', undefined],
  ] as const)
    t.equal(copied(jane, copy), kept, copy);
  t.equal(copied(token('t', {}), '{"status":{"token":"pat_hush","phase":"x"}}'), '{"status":{"phase":"x"}}\n');
});

test("only the operator's password for the first start may be short", async (t) => {
  const shortly = user('u', { password: 'x7-Qz' });
  t.equal(verdictOf(decided(shortly, { subject: { kind: 'platform', part: 'administrator' } })), 'ok');
  t.equal(
    verdictOf(decided(shortly, { subject: { kind: 'platform', part: 'account' } })),
    'invalid /spec/password',
    "one's own is written by the platform, too",
  );
});

test('a user keeps a password that a write omits, for any other change', async (t) => {
  const state = storedAs(
    stored({ ...user('u', { displayName: 'U' }), status: { passwordRevision: 1, passwordSetAt: earlier } }),
  );
  t.strictSame(
    objectOf(
      decided(
        { ...user('u', { displayName: 'V' }), apiVersion: 'v1alpha1', status: { passwordRevision: 0 } },
        { state },
      ),
    )['status'],
    { passwordRevision: 1, passwordSetAt: earlier },
  );
  t.strictSame(
    objectOf(
      decided({ ...user('u', { displayName: 'V' }), status: { passwordRevision: 7 } }, { state, subject: platform }),
    )['status'],
    { passwordRevision: 7 },
    'the platform may',
  );
  const unchanged = decided({ ...user('u', { displayName: 'U' }), status: { passwordRevision: 9 } }, { state });
  t.equal(unchanged.ok && unchanged.event, undefined, 'a write of nothing else appends nothing');
  t.equal(
    objectOf(decided({ kind: 'User', metadata: { name: 'u' }, status: { passwordRevision: 0 } }))['status'],
    undefined,
  );
});

test("a role's status says whether its annotations are valid, and since when", async (t) => {
  const broken = role('r', [], {
    annotations: {
      'rbac.authorization.svc.run/dependencies': '["a"',
      'rbac.authorization.svc.run/ui-permissions': '7',
    },
  });
  const conditions = (decision: Decision): unknown => (objectOf(decision)['status'] as JsonObject)['conditions'];
  t.match(conditions(decided(broken)), [
    {
      type: 'Valid',
      status: 'False',
      reason: 'MalformedAnnotation',
      message: /dependencies.*; .*ui-permissions/u,
      lastTransitionTime: now,
    },
  ]);
  const valid = {
    type: 'Valid',
    status: 'True',
    reason: 'WellFormed',
    message: 'the annotations are well-formed',
    lastTransitionTime: earlier,
  };
  const state = storedAs(stored({ ...role('r'), status: { conditions: [valid] } }));
  const same = decided({ ...role('r'), status: { conditions: [{ ...valid, status: 'False' }] } }, { state });
  t.equal(same.ok && same.event, undefined, 'what does not change keeps its time, so nothing is appended');
  t.strictSame(conditions(decided(role('r', [rule('get', 'posts')]), { state })), [valid]);
  t.match(conditions(decided(broken, { state })), [{ status: 'False', lastTransitionTime: now }]);
});

test('a binding is stored with its groups', async (t) => {
  const short = {
    apiVersion: 'v1alpha1',
    kind: 'RoleBinding',
    metadata: { name: 'b' },
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [{ kind: 'User', name: 'alice' }],
  };
  const { roleRef, subjects } = objectOf(decided(short));
  t.strictSame(
    { roleRef, subjects },
    { roleRef: { apiGroup: '', kind: 'Role', name: 'r' }, subjects: [{ apiGroup: '', kind: 'User', name: 'alice' }] },
  );
  const state = storedAs(stored(binding('b', 'r', 'alice')));
  const same = decided(short, { state });
  t.equal(same.ok && same.event, undefined);
});

test('a token belongs to its creator, authenticated by their own log-in', async (t) => {
  const cases: readonly (readonly [string, Subject, string])[] = [
    ['with a password', alice, 'uid-of-alice'],
    ['with a session', as({ kind: 'session', uid: 'uid-of-session', userUid: 'uid-of-alice' }), 'uid-of-alice'],
    [
      'with a token',
      as({ kind: 'token', uid: 'uid-of-token', userUid: 'uid-of-alice', name: 't', roles: undefined }),
      'forbidden',
    ],
    ['through an identity provider', as({ kind: 'oidc', expiresAt: 1 }), 'forbidden'],
    ['a visitor', { kind: 'visitor' }, 'forbidden'],
    ['a plugin', { kind: 'plugin', name: 'p' }, 'forbidden'],
  ];
  for (const [about, subject, expected] of cases) {
    const decision = decided(
      { ...token('t', { owner: 'bob' }), status: { ownerUid: 'uid-of-bob', token: 'x' } },
      { subject },
    );
    if (expected === 'forbidden') {
      t.equal(verdictOf(decision), 'forbidden', about);
      continue;
    }
    t.strictSame(
      [objectOf(decision)['spec'], objectOf(decision)['status'], withheldOf(decision)],
      [{ owner: 'alice' }, { ownerUid: expected }, { kind: 'token', prefix: 'pat' }],
      about,
    );
  }
  t.equal(withheldOf(decided(token('t'), { kept: { revision: 0, token: 'pat_x' } })), undefined);
  t.equal(verdictOf(decided(token('t', { expiresAt: now }))), 'invalid /spec/expiresAt');
  t.equal(verdictOf(decided(token('t', { expiresAt: '2026-01-02T00:00:00.001Z' }))), 'ok');
  // A leap second is a date-time, and no instant that could ever come.
  t.equal(verdictOf(decided(token('t', { expiresAt: '2026-12-31T23:59:60Z' }))), 'invalid /spec/expiresAt');
});

test("only a token's description and revocation can change", async (t) => {
  const spec = { owner: 'alice', roles: ['a', 'b'], expiresAt: '2027-01-01T00:00:00Z', description: 'one' };
  const state = storedAs(stored({ ...token('t', spec), status: { ownerUid: 'uid-of-alice' } }));
  const { owner: _owner, roles: _roles, expiresAt: _expiresAt, ...rest } = spec;
  const cases: readonly (readonly [string, JsonObject, string])[] = [
    ['its description', { ...spec, description: 'two' }, 'ok'],
    ['its owner is left out', { roles: spec.roles, expiresAt: spec.expiresAt }, 'ok'],
    ['the same instant', { ...spec, expiresAt: '2027-01-01T01:00:00.000+01:00' }, 'ok'],
    ['its owner', { ...spec, owner: 'bob' }, 'invalid /spec/owner'],
    ['fewer roles', { ...spec, roles: ['a'] }, 'invalid /spec/roles'],
    ['no roles, which would be all', { ...rest, expiresAt: spec.expiresAt }, 'invalid /spec/roles'],
    ['no end', { ...rest, roles: spec.roles }, 'invalid /spec/expiresAt'],
    ['later', { ...spec, expiresAt: '2028-01-01T00:00:00Z' }, 'invalid /spec/expiresAt'],
    ['revoked', { ...spec, revoked: true }, 'ok'],
  ];
  for (const [about, changed, expected] of cases)
    t.equal(verdictOf(decided(token('t', changed), { state })), expected, about);
  const same = decided(
    {
      ...token('t', { ...spec, expiresAt: '2027-01-01T01:00:00+01:00' }),
      status: { ownerUid: 'uid-of-bob', lastUsedAt: now },
    },
    { state },
  );
  t.equal(same.ok && same.event, undefined, "status is the platform's");
  const revoked = storedAs(stored(token('t', { ...spec, revoked: true })));
  t.equal(verdictOf(decided(token('t', spec), { state: revoked })), 'invalid /spec/revoked');
  const shownAgain = decided(
    {
      ...token('t', { ...spec, description: 'two' }),
      status: { ownerUid: 'uid-of-alice', token: 'pat_x', lastUsedAt: now },
    },
    { state, subject: platform },
  );
  t.strictSame(objectOf(shownAgain)['status'], { ownerUid: 'uid-of-alice', lastUsedAt: now }, 'no text is ever stored');
});

test('only the platform writes sessions', async (t) => {
  const body = session('s', 'alice', { userUid: 'uid-of-alice', passwordRevision: 0, expiresAt: now });
  for (const subject of [alice, { kind: 'plugin', name: 'p' } as const, { kind: 'visitor' } as const])
    t.equal(verdictOf(decided(body, { subject })), 'forbidden');
  const made = decided(body, { subject: platform });
  t.strictSame([withheldOf(made), objectOf(made)['status']], [{ kind: 'token', prefix: 'ses' }, body['status']]);
  t.equal(verdictOf(decided(body, { subject: alice, state: storedAs(stored(body)) })), 'forbidden');
  t.equal(
    withheldOf(
      decided({ ...body, spec: { user: 'alice' }, status: {} }, { subject: platform, state: storedAs(stored(body)) }),
    ),
    undefined,
  );
});

test('a merge patch of a password alone sets it', async (t) => {
  const state = storedAs(stored({ ...user('u', { displayName: 'U' }), status: { passwordRevision: 1 } }));
  const decision = decide(state, merge({ spec: { password: 'correct horse' } }, { name: 'u' }), {
    ...facts,
    ...types[2]!,
    subject: alice,
  });
  t.strictSame(
    [withheldOf(decision), objectOf(decision)['spec']],
    [{ kind: 'password', text: 'correct horse' }, { displayName: 'U' }],
  );
});
