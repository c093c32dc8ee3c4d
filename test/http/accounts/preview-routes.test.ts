import t, { test } from 'tap';

import { previewedPairsMax, previewedRequestsMax, previewedRolesMax } from '../../../src/limits/access.ts';
import { startSignedIn } from './signed-in.ts';

const server = await startSignedIn(t, 'alice', 'bob', 'gone');
const path = '/apis/api.console.svc.run/v1alpha1/accesspreviews';
const preview = async (body: object, as = 'admin') => server.as(as)('POST', path, body);

const widgets = { group: 'example.com', resource: 'widgets' };
const read = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list'] };
const update = { apiGroups: ['example.com'], resources: ['widgets'], resourceNames: ['mine'], verbs: ['update'] };
const dependsOn = (name: string) => ({
  'rbac.authorization.svc.run/dependencies': JSON.stringify([name]),
});

type Row = { readonly group: string; readonly resource: string; readonly verbs: readonly string[] };

async function bind(name: string, role: string, user: string): Promise<void> {
  await server.make('rolebindings', {
    metadata: { name },
    roleRef: { kind: 'Role', name: role },
    subjects: [{ kind: 'User', name: user }],
  });
}

await server.make('roles', {
  metadata: { name: 'reader', labels: { 'svc.run/role-template': 'true' } },
  rules: [{ nonResourceURLs: ['/reports/*'], verbs: ['get'] }, read],
});
await server.make('roles', { metadata: { name: 'keeper', annotations: dependsOn('reader') }, rules: [update] });
await bind('alice-keeps', 'keeper', 'alice');
await bind('alice-keeps-too', 'keeper', 'alice');
await bind('gone-keeps', 'keeper', 'gone');

const get = { resourceAttributes: { ...widgets, verb: 'get', name: 'any' } };
const updateMine = { resourceAttributes: { ...widgets, verb: 'update', name: 'mine' } };
const remove = { resourceAttributes: { ...widgets, verb: 'delete', name: 'mine' } };
const removeStatus = { resourceAttributes: { ...widgets, verb: 'patch', subresource: 'status' } };
const report = { nonResourceAttributes: { path: '/reports/2026', verb: 'get' } };

test('a decision names rule, role, bindings and the chain of roles, and a denial the missing rule', async (t) => {
  const { status, body } = await preview({ user: 'alice', requests: [get, updateMine, report, remove, removeStatus] });
  t.equal(status, 200);
  t.notOk('proposed' in body);
  const { decisions, roles, isSuperAdministrator } = body.current;
  t.equal(isSuperAdministrator, false);
  t.strictSame(roles, ['anonymous', 'authenticated', 'content-own-comments', 'content-public', 'keeper', 'reader']);
  t.strictSame(decisions[0], {
    allowed: true,
    reason: `allowed by rule 2 of role "reader": ${JSON.stringify(read)}`,
    role: 'reader',
    isTemplate: true,
    ruleNumber: 2,
    rule: read,
    chain: ['keeper', 'reader'],
    bindings: ['alice-keeps', 'alice-keeps-too'],
  });
  t.match(decisions[1], { allowed: true, role: 'keeper', isTemplate: false, ruleNumber: 1, chain: ['keeper'] });
  t.match(decisions[2], { allowed: true, role: 'reader', ruleNumber: 1 });
  t.strictSame(decisions[3].missing, { ...update, verbs: ['delete'] });
  t.match(decisions[3].reason, /^no rule of the roles anonymous, .*, keeper, reader allows the request$/u);
  t.strictSame(decisions[4].missing, { apiGroups: ['example.com'], resources: ['widgets/status'], verbs: ['patch'] });
});

test('the current state gives the same decision as a review', async (t) => {
  for (const user of ['alice', 'bob', 'admin', 'gone', 'nobody', 'oidc:jane', 'system:anonymous']) {
    for (const spec of [get, updateMine, remove, report]) {
      const reviewed = await server.as('admin')('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        spec: { ...spec, user },
      });
      const { allowed, reason } = (await preview({ user, requests: [spec] })).body.current.decisions[0];
      t.strictSame({ allowed, reason }, { allowed: reviewed.body.status.allowed, reason: reviewed.body.status.reason });
    }
  }
});

test('proposed roles and bindings decide as if they were stored, and nothing is written', async (t) => {
  const version = async () =>
    (await server.as('admin')('GET', '/api/v1alpha1/roles')).body.metadata.resourceVersion as string;
  const before = await version();
  const proposed = {
    roles: [
      { metadata: { name: 'remover', annotations: dependsOn('reader') }, rules: [{ ...read, verbs: ['delete'] }] },
      { metadata: { name: 'reader' }, rules: [{ ...read, verbs: ['list'] }] },
    ],
    boundRoles: ['remover', 'keeper'],
  };
  const { body } = await preview({ user: 'alice', requests: [get, remove, updateMine], proposed });
  type Decided = { readonly decisions: readonly { readonly allowed: boolean }[] };
  const allowed = (state: string) => (body[state] as Decided).decisions.map((each) => each.allowed);
  t.strictSame(allowed('current'), [true, false, true]);
  t.strictSame(allowed('proposed'), [false, true, true]);
  t.match(body.proposed.decisions[1], { role: 'remover', ruleNumber: 1, chain: ['remover'], bindings: [] });
  t.match(body.proposed.decisions[2], { bindings: ['alice-keeps', 'alice-keeps-too'] });
  t.equal(await version(), before);
  t.equal((await server.as('admin')('GET', '/api/v1alpha1/roles/remover')).status, 404);
  for (const role of proposed.roles) {
    const { status } = await server.as('admin')('GET', `/api/v1alpha1/roles/${role.metadata.name}`);
    await (status === 404
      ? server.make('roles', role)
      : server.as('admin')(
          'PATCH',
          `/api/v1alpha1/roles/${role.metadata.name}`,
          { rules: role.rules },
          { 'content-type': 'application/merge-patch+json' },
        ));
  }
  await server.as('admin')('POST', '/apis/api.console.svc.run/v1alpha1/users/alice/permissions', {
    roles: proposed.boundRoles,
  });
  const after = (await preview({ user: 'alice', requests: [get, remove, updateMine] })).body.current;
  t.strictSame(after.roles, body.proposed.roles);
  const bare = (decisions: readonly Record<string, unknown>[]) =>
    decisions.map(({ bindings: _bindings, ...each }) => each);
  t.strictSame(bare(after.decisions), bare(body.proposed.decisions), 'what was previewed is what happens');
});

test('a removed role, an aggregated role and a bound super-role', async (t) => {
  const removed = await preview({ user: 'alice', requests: [updateMine], proposed: { removedRoles: ['keeper'] } });
  t.match(removed.body, {
    current: { decisions: [{ allowed: true }] },
    proposed: { decisions: [{ allowed: false }] },
  });
  const labels = { 'rbac.authorization.svc.run/aggregate-to-anonymous': 'true' };
  const roles = [{ metadata: { name: 'for-all', labels }, rules: [read] }];
  const everybody = await preview({ user: 'system:anonymous', requests: [get], proposed: { roles } });
  t.match(everybody.body.proposed.decisions, [
    { allowed: true, role: 'for-all', chain: ['anonymous', 'for-all'], bindings: [] },
  ]);
  const all = await preview({ user: 'bob', requests: [remove], proposed: { boundRoles: ['super-role'] } });
  t.match(all.body.proposed, { isSuperAdministrator: true, decisions: [{ allowed: true, role: 'super-role' }] });
  const disabled = await server.as('admin')(
    'PATCH',
    '/api/v1alpha1/users/gone',
    { spec: { disabled: true } },
    {
      'content-type': 'application/merge-patch+json',
    },
  );
  t.equal(disabled.status, 200);
  const gone = await preview({
    user: 'gone',
    requests: [remove],
    matrix: true,
    proposed: { boundRoles: ['super-role'] },
  });
  t.match(gone.body.proposed.decisions, [{ allowed: false, reason: 'the user "gone" is disabled' }]);
  t.ok((gone.body.proposed.matrix as readonly Row[]).every(({ verbs }) => verbs.length === 0));
});

test('a matrix lists the allowed verbs of all types, for a user or for one role', async (t) => {
  const rows = (body: { readonly matrix: readonly Row[] }, resource: string) =>
    body.matrix.find((row) => row.resource === resource)?.verbs;
  const { body } = await preview({ user: 'admin', matrix: true });
  t.equal(body.current.isComplete, true);
  t.strictSame(rows(body.current, 'roles'), [
    'get',
    'list',
    'watch',
    'create',
    'update',
    'patch',
    'delete',
    'deletecollection',
  ]);
  const role = await preview({ role: 'role-template-view-roles', matrix: true });
  t.strictSame(rows(role.body.current, 'roles'), ['get', 'list', 'watch']);
  t.strictSame(rows(role.body.current, 'users'), []);
  t.strictSame(role.body.current.roles, ['role-template-view-roles'], 'without the roles of all users');
  const core = await preview({ role: 'role-template-view-roles', matrix: true, group: '' });
  t.ok((core.body.current.matrix as readonly Row[]).every(({ group }) => group === ''));
  const wider = {
    metadata: { name: 'role-template-view-roles' },
    rules: [{ ...read, apiGroups: [''], resources: ['*'] }],
  };
  const changed = await preview({ role: 'role-template-view-roles', matrix: true, proposed: { roles: [wider] } });
  t.strictSame(rows(changed.body.proposed, 'users'), ['get', 'list']);
});

test('a matrix decides on the custom routes of plugins, now and after a change', async (t) => {
  type RouteRow = { readonly plugin: string; readonly path: string; readonly allowed: boolean };
  const own = ({ plugin, path }: RouteRow) => plugin === 'content' && path.includes('/uc.api.content.svc.run/');
  const ofPosts = (routes: readonly RouteRow[]) => routes.filter(own).filter(({ path }) => path.includes('/posts'));
  const { body } = await preview({ user: 'bob', matrix: true, proposed: { boundRoles: ['post-author'] } });
  t.match(
    ofPosts(body.current.routes).find(({ path }) => path.endsWith('/posts/{name}')),
    { plugin: 'content', method: 'GET', verb: 'get', allowed: false },
  );
  const allowed = (routes: readonly RouteRow[]) => ofPosts(routes).filter((route) => route.allowed);
  t.strictSame(allowed(body.current.routes), []);
  t.ok(allowed(body.proposed.routes).length > 3);
  t.notOk('routes' in (await preview({ user: 'bob', matrix: true, group: '' })).body.current);
});

test('a caller needs the right to create previews and to list all roles and bindings', async (t) => {
  const asked = { user: 'alice', requests: [get] };
  t.equal((await server.as(undefined)('POST', path, asked)).status, 401);
  t.equal((await preview(asked, 'bob')).status, 403);
  await server.make('roles', {
    metadata: { name: 'previewer' },
    rules: [
      { apiGroups: ['api.console.svc.run'], resources: ['accesspreviews'], verbs: ['create'] },
      { apiGroups: [''], resources: ['roles'], verbs: ['list'] },
    ],
  });
  await bind('bob-previews', 'previewer', 'bob');
  const refused = await preview(asked, 'bob');
  t.equal(refused.status, 403);
  t.match(refused.body.message, /User "bob" cannot list resource "rolebindings"/u);
  await bind('bob-views', 'role-template-view-roles', 'bob');
  t.equal((await preview(asked, 'bob')).status, 200);
});

test('an invalid or too large preview is refused with its violation', async (t) => {
  const pointers = (body: { readonly errors?: readonly { readonly pointer: string }[] }) =>
    (body.errors ?? []).map(({ pointer }) => pointer);
  const role = (rules: unknown, name = 'x') => ({ metadata: { name }, rules });
  const wide = { apiGroups: Array.from({ length: 256 }, String), resources: Array.from({ length: 256 }, String) };
  const cases: readonly (readonly [object, string])[] = [
    [{}, ''],
    [{ user: 'alice', role: 'keeper' }, ''],
    [{ user: 'alice', colour: 1 }, '/colour'],
    [{ role: 'keeper', proposed: { boundRoles: [] } }, '/proposed/boundRoles'],
    [{ user: 'alice', requests: [{}] }, '/requests/0'],
    [{ user: 'alice', requests: [{ ...get, ...report }] }, '/requests/0'],
    [{ user: 'alice', requests: Array.from({ length: previewedRequestsMax + 1 }, () => get) }, '/requests'],
    [
      { user: 'alice', proposed: { roles: [role([{ verbs: ['fly'], resources: ['a'] }])] } },
      '/proposed/roles/0/rules/0/verbs/0',
    ],
    [{ user: 'alice', proposed: { roles: [role([], 'Not A Name')] } }, '/proposed/roles/0/metadata/name'],
    [{ user: 'alice', proposed: { roles: [role([]), role([])] } }, '/proposed'],
    [{ user: 'alice', proposed: { roles: [role([], 'super-role')] } }, '/proposed'],
    [{ user: 'alice', proposed: { removedRoles: ['super-role'] } }, '/proposed'],
    [
      {
        user: 'alice',
        proposed: { roles: Array.from({ length: previewedRolesMax + 1 }, (_, i) => role([], `r${String(i)}`)) },
      },
      '/proposed/roles',
    ],
    [{ user: 'alice', proposed: { roles: [role([{ ...wide, verbs: ['get'] }, { ...read }])] } }, '/proposed/roles'],
    [
      {
        user: 'alice',
        proposed: {
          roles: [{ metadata: { name: 'x', annotations: { 'rbac.authorization.svc.run/dependencies': 'x' } } }],
        },
      },
      '/proposed/roles/0/metadata/annotations/rbac.authorization.svc.run~1dependencies',
    ],
  ];
  for (const [asked, pointer] of cases) {
    const { status, body } = await preview(asked);
    t.equal(status, 422, JSON.stringify(asked).slice(0, 100));
    t.strictSame(pointers(body).slice(0, 1), [pointer], JSON.stringify(asked).slice(0, 100));
  }
  t.equal(wide.apiGroups.length * wide.resources.length, previewedPairsMax);
  const most = await preview({ user: 'alice', proposed: { roles: [role([{ ...wide, verbs: ['get'] }])] } });
  t.equal(most.status, 200);
  t.equal((await server.as('admin')('POST', path, '{')).status, 400);
});
