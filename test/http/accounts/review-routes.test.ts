import t, { test } from 'tap';

import { startSignedIn } from './signed-in.ts';

const server = await startSignedIn(t, 'alice', 'bob');
const authorization = '/apis/authorization.k8s.io/v1';

const own = async (as: string | undefined, spec: unknown) =>
  server.as(as)('POST', `${authorization}/selfsubjectaccessreviews`, { spec });
const other = async (spec: unknown) => server.as('admin')('POST', `${authorization}/subjectaccessreviews`, { spec });

const pointers = (body: { readonly errors?: readonly { readonly pointer: string }[] }) =>
  (body.errors ?? []).map(({ pointer }) => pointer);

const rules = [
  { apiGroups: ['example.com'], resources: ['widgets', 'widgets/status'], verbs: ['get', 'list'] },
  { apiGroups: ['example.com'], resources: ['widgets'], resourceNames: ['mine'], verbs: ['update'] },
  { nonResourceURLs: ['/reports/*'], verbs: ['get'] },
];
await server.make('roles', { metadata: { name: 'widget-reader' }, rules });
await server.make('rolebindings', {
  metadata: { name: 'alice-reads' },
  roleRef: { apiGroup: '', kind: 'Role', name: 'widget-reader' },
  subjects: [{ apiGroup: '', kind: 'User', name: 'alice' }],
});

const widgets = { group: 'example.com', resource: 'widgets' };

test('an allowed review names the rule and its role', async (t) => {
  const { status, body } = await own('alice', {
    resourceAttributes: { ...widgets, verb: 'update', name: 'mine', namespace: 'default', version: '*' },
  });
  t.equal(status, 201);
  t.match(body, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { name: 'mine' } },
  });
  t.strictSame(body.status, {
    allowed: true,
    reason: `allowed by rule 2 of role "widget-reader": ${JSON.stringify(rules[1])}`,
    grant: { role: 'widget-reader', rule: rules[1] },
  });
});

test('a refused review names the existing roles', async (t) => {
  const { status, body } = await own('alice', { resourceAttributes: { ...widgets, verb: 'update', name: 'theirs' } });
  t.equal(status, 201);
  t.strictSame(body.status, {
    allowed: false,
    reason:
      'no rule of the roles anonymous, authenticated, content-own-comments, content-public, widget-reader ' +
      'allows the request',
  });
});

test('a review gives the same decision as the request would', async (t) => {
  const cases: readonly (readonly [object, boolean])[] = [
    [{ resourceAttributes: { ...widgets, verb: 'get', name: 'any' } }, true],
    [{ resourceAttributes: { ...widgets, verb: 'list' } }, true],
    [{ resourceAttributes: { ...widgets, verb: 'get', name: 'any', subresource: 'status' } }, true],
    [{ resourceAttributes: { ...widgets, verb: 'get', subresource: 'status' } }, true],
    [{ resourceAttributes: { ...widgets, verb: 'get', name: 'any', subresource: 'scale' } }, false],
    [{ resourceAttributes: { group: '', resource: 'widgets', verb: 'get' } }, false],
    [{ resourceAttributes: { resource: 'widgets', verb: 'get' } }, false],
    [{ resourceAttributes: { ...widgets, verb: '*' } }, false],
    [{ resourceAttributes: { group: '*', resource: '*', verb: '*' } }, false],
    [{ nonResourceAttributes: { path: '/reports/2026', verb: 'get' } }, true],
    [{ nonResourceAttributes: { path: '/reports', verb: 'get' } }, false],
    [{ nonResourceAttributes: { path: '/reports/2026', verb: 'post' } }, false],
    [{ resourceAttributes: { ...widgets, verb: 'constructor', name: 'toString' } }, false],
    [{ nonResourceAttributes: { path: '/%', verb: '__proto__' } }, false],
  ];
  for (const [spec, expected] of cases)
    t.equal((await own('alice', spec)).body.status.allowed, expected, JSON.stringify(spec));
  t.equal(
    (await own('admin', { resourceAttributes: { group: '*', resource: '*', verb: '*' } })).body.status.allowed,
    true,
    'a super administrator holds "*" itself',
  );
});

test('a review of another user names that user', async (t) => {
  const asked = { resourceAttributes: { ...widgets, verb: 'get', name: 'any' } };
  t.equal((await other({ ...asked, user: 'alice' })).body.status.allowed, true);
  t.equal((await other({ ...asked, user: 'bob' })).body.status.allowed, false);
  t.match((await other({ ...asked, user: 'system:anonymous' })).body.status, {
    allowed: false,
    reason: 'no rule of the roles anonymous, content-public allows the request',
  });
  t.match((await other({ ...asked, user: 'oidc:nobody' })).body.status, {
    allowed: false,
    reason: 'no rule of the roles anonymous, authenticated, content-own-comments, content-public allows the request',
  });
  t.strictSame(pointers((await other(asked)).body), ['/spec/user']);
});

test('a disabled user has no rights', async (t) => {
  await server.make('users', { metadata: { name: 'gone' }, spec: { disabled: true } });
  await server.make('rolebindings', {
    metadata: { name: 'gone-reads' },
    roleRef: { apiGroup: '', kind: 'Role', name: 'widget-reader' },
    subjects: [{ apiGroup: '', kind: 'User', name: 'gone' }],
  });
  const { body } = await other({ user: 'gone', resourceAttributes: { ...widgets, verb: 'get' } });
  t.strictSame(body.status, { allowed: false, reason: 'the user "gone" is disabled' });
});

test("all rules are returned in Kubernetes' two lists", async (t) => {
  const { status, body } = await server.as('alice')('POST', `${authorization}/selfsubjectrulesreviews`, {
    spec: { namespace: 'default' },
  });
  t.equal(status, 201);
  t.equal(body.status.incomplete, false);
  for (const rule of rules.slice(0, 2))
    t.ok(
      (body.status.resourceRules as readonly object[]).some((each) => JSON.stringify(each) === JSON.stringify(rule)),
      JSON.stringify(rule),
    );
  t.ok(
    (body.status.nonResourceRules as readonly object[]).some(
      (each) => JSON.stringify(each) === JSON.stringify(rules[2]),
    ),
  );
  const all = await server.as('admin')('POST', `${authorization}/selfsubjectrulesreviews`, {});
  t.match(all.body.status, {
    resourceRules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    nonResourceRules: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
  });
});

test("a self review returns the caller's own subject", async (t) => {
  const { status, body } = await server.as('alice')('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  t.equal(status, 201);
  t.match(body, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    status: { userInfo: { username: 'alice', groups: ['system:authenticated'] } },
  });
  const { body: user } = await server.as('admin')('GET', '/api/v1alpha1/users/alice');
  t.equal(body.status.userInfo.uid, user.metadata.uid);
});

test('unknown members of a review are dropped with a warning, dropped, or refused', async (t) => {
  const resourceAttributes = { ...widgets, verb: 'get', namespace: 'any' };
  const spec = { colour: 'red', constructor: 1, resourceAttributes: { ...resourceAttributes, size: { deep: 1 } } };
  const ask = async (query: string, kind: string, body: unknown) =>
    server.as('alice')('POST', `${authorization}/${kind}${query}`, body);
  const unknown = ['top', 'spec.colour', 'spec.constructor', 'spec.resourceAttributes.size'];
  const named = unknown.map((path) => `unknown field "${path}"`);
  for (const query of ['', '?fieldValidation=Warn', '?fieldValidation=Ignore']) {
    const { status, body, headers } = await ask(query, 'selfsubjectaccessreviews', { top: 1, spec });
    t.equal(status, 201, query);
    t.strictSame(body.spec, { resourceAttributes }, 'the answer shows what was asked');
    const warnings = named.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`).join(', ');
    t.equal(headers.get('warning'), query.endsWith('Ignore') ? null : warnings, query);
  }
  const strict = await ask('?fieldValidation=Strict', 'selfsubjectaccessreviews', { top: 1, spec });
  t.equal(strict.status, 400);
  t.equal(strict.body.message, `strict decoding error: ${named.join(', ')}`);
  const rulesReview = await ask('?fieldValidation=Strict', 'selfsubjectrulesreviews', { spec: { namespace: 'a' } });
  t.strictSame([rulesReview.status, rulesReview.body.spec], [201, { namespace: 'a' }]);
  t.equal((await ask('?fieldValidation=Strict', 'selfsubjectrulesreviews', { spec: { user: 'a' } })).status, 400);
});

test('a malformed review is refused at the pointer of its violation', async (t) => {
  const verb = 'get';
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{}, ['/spec']],
    [{ resourceAttributes: { ...widgets, verb }, nonResourceAttributes: { path: '/', verb } }, ['/spec']],
    [{ resourceAttributes: null }, ['/spec']],
    [{ resourceAttributes: { resource: 'widgets' } }, ['/spec/resourceAttributes/verb']],
    [{ resourceAttributes: { verb, resource: '' } }, ['/spec/resourceAttributes/resource']],
    [{ resourceAttributes: { verb, resource: 7 } }, ['/spec/resourceAttributes/resource']],
    [{ resourceAttributes: 'x' }, ['/spec/resourceAttributes']],
    [{ nonResourceAttributes: { verb } }, ['/spec/nonResourceAttributes/path']],
    [{ nonResourceAttributes: { verb, path: 'relative' } }, ['/spec/nonResourceAttributes/path']],
    ['x', ['/spec']],
    [undefined, ['/spec']],
  ];
  for (const [spec, expected] of cases) {
    const answer = await own('alice', spec);
    t.equal(answer.status, 422, JSON.stringify(spec));
    t.strictSame(pointers(answer.body), expected, JSON.stringify(spec));
  }
  for (const body of ['[]', '', '{', '{"kind":"Role"}', '{"apiVersion":"v1"}'])
    t.equal((await server.as('alice')('POST', `${authorization}/selfsubjectaccessreviews`, body)).status, 400, body);
  const unknown = await server.as('alice')('POST', `${authorization}/selfsubjectaccessreviews`, '{}', {
    'content-type': 'application/cbor',
  });
  t.equal(unknown.status, 415);
  t.match(unknown.body.message, /must be application\/json or .*\/yaml or .*\/vnd\.kubernetes\.protobuf/u);
  t.equal((await server.as('admin')('PUT', `${authorization}/selfsubjectaccessreviews`, {})).status, 405);
});
