import t, { test } from 'tap';

import { startSignedIn } from './signed-in.ts';

const server = await startSignedIn(t);
const root = '/apis/api.console.svc.run/v1alpha1';
const permissionsOf = (name: string) => `${root}/users/${encodeURIComponent(name)}/permissions`;

type Named = { readonly metadata: { readonly name: string } };
const names = (objects: readonly Named[]) => objects.map(({ metadata }) => metadata.name);
const pointers = (body: { readonly errors?: readonly { readonly pointer: string }[] }) =>
  (body.errors ?? []).map(({ pointer }) => pointer);

type RoleGiven = {
  readonly rules?: readonly object[];
  readonly hidden?: boolean;
  readonly template?: boolean;
  readonly annotations?: Readonly<Record<string, string>>;
};

const readWidgets = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list'] };

async function role(
  name: string,
  { rules = [readWidgets], hidden = false, template = true, annotations = {} }: RoleGiven = {},
): Promise<void> {
  const labels = {
    ...(template ? { 'svc.run/role-template': 'true' } : {}),
    ...(hidden ? { 'svc.run/hidden': 'true' } : {}),
  };
  const prefixed = Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [`rbac.authorization.svc.run/${key}`, value]),
  );
  await server.make('roles', { metadata: { name, labels, annotations: prefixed }, rules });
}

async function bind(name: string, to: string, users: readonly string[]): Promise<void> {
  await server.make('rolebindings', {
    metadata: { name },
    roleRef: { apiGroup: '', kind: 'Role', name: to },
    subjects: users.map((each) => ({ apiGroup: '', kind: 'User', name: each })),
  });
}

type Bound = Named & {
  readonly roleRef: { readonly name: string };
  readonly subjects: readonly { readonly name: string }[];
};

/** Role and subjects of the bindings that name somebody and are not going away. */
async function bindingsOf(name: string): Promise<readonly string[]> {
  const { body } = await server.as('admin')(
    'GET',
    `/api/v1alpha1/rolebindings?fieldSelector=${encodeURIComponent(`subjects.name=${name}`)}` +
      '&fieldSelector=!metadata.deletionTimestamp',
  );
  return (body.items as readonly Bound[])
    .map(({ roleRef, subjects }) => `${roleRef.name}: ${subjects.map((subject) => subject.name).join(', ')}`)
    .sort();
}

await role('viewer', {
  annotations: { 'ui-permissions': '["plugin:w:view"]', module: 'Widgets', 'display-name': 'See widgets' },
});
await role('manager', {
  annotations: {
    dependencies: '["viewer","secretly"]',
    'ui-permissions': '["plugin:w:manage","plugin:w:view"]',
    module: 'Widgets',
    'display-name': 'Manage widgets',
  },
});
await role('secretly', { hidden: true, annotations: { 'ui-permissions': '["plugin:w:secret"]' } });
await role('plain');
await role('untemplated', { template: false });
await role('beyond', {
  rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  annotations: { module: 'Administration' },
});

test('the answer has the bound roles, all permissions but hidden ones, and sorted interface permissions', async (t) => {
  await server.makeUser('reader');
  await bind('reader-manager', 'manager', ['reader']);
  const { status, body } = await server.as('admin')('GET', permissionsOf('reader'));
  t.equal(status, 200);
  t.strictSame(names(body.roles), ['manager']);
  t.strictSame(names(body.permissions), ['manager', 'viewer']);
  t.strictSame(body.uiPermissions, [
    'plugin:content:own-comments:edit',
    'plugin:content:public:view',
    'plugin:w:manage',
    'plugin:w:secret',
    'plugin:w:view',
  ]);
  const stored = await server.as('admin')('GET', '/api/v1alpha1/roles/manager');
  t.strictSame(body.roles[0], stored.body, 'a role is answered as it is stored');
  const own = await server.as('reader')('GET', permissionsOf('-'));
  t.equal(own.text, (await server.as('admin')('GET', permissionsOf('reader'))).text);
});

test('a super administrator holds every interface permission', async (t) => {
  const { body } = await server.as('admin')('GET', permissionsOf('-'));
  t.strictSame(names(body.roles), ['super-role']);
  t.strictSame(body.uiPermissions, ['*']);
});

test("unknown users are 404; an identity provider's user exists once a role is bound to its name", async (t) => {
  t.equal((await server.as('admin')('GET', permissionsOf('nobody'))).status, 404);
  t.equal((await server.as('admin')('POST', permissionsOf('nobody'), { roles: [] })).status, 404);
  t.equal((await server.as('admin')('GET', permissionsOf('oidc:zoe'))).status, 404);
  const given = await server.as('admin')('POST', permissionsOf('oidc:zoe'), { roles: ['viewer'] });
  t.equal(given.status, 200, given.text);
  t.strictSame(names(given.body.roles), ['viewer']);
  t.equal((await server.as('admin')('GET', permissionsOf('oidc:zoe'))).status, 200);
});

test('an assignment replaces the bindings of this user only', async (t) => {
  await server.makeUser('worker');
  await bind('shared', 'viewer', ['worker', 'reader']);
  const given = await server.as('admin')('POST', permissionsOf('worker'), { roles: ['manager', 'plain'] });
  t.equal(given.status, 200, given.text);
  t.strictSame(names(given.body.roles), ['manager', 'plain']);
  t.strictSame(await bindingsOf('worker'), ['manager: worker', 'plain: worker']);
  t.strictSame(await bindingsOf('reader'), ['manager: reader', 'viewer: reader'], 'a binding of several loses one');
  const before = (await server.as('admin')('GET', '/api/v1alpha1/rolebindings')).body.metadata.resourceVersion;
  const again = await server.as('admin')('POST', permissionsOf('worker'), { roles: ['plain', 'manager'] });
  t.equal(again.text, given.text);
  t.equal(
    (await server.as('admin')('GET', '/api/v1alpha1/rolebindings')).body.metadata.resourceVersion,
    before,
    'the same once more writes nothing',
  );
  const none = await server.as('admin')('POST', permissionsOf('worker'), { roles: [] });
  t.strictSame(none.body.roles, []);
  t.strictSame(await bindingsOf('worker'), []);
  const back = await server.as('admin')('POST', permissionsOf('worker'), { roles: ['plain'] });
  t.equal(back.status, 200, 'also while the former binding is still going away');
  t.strictSame(await bindingsOf('worker'), ['plain: worker']);
});

test('of two simultaneous assignments one wins as a whole', async (t) => {
  await server.makeUser('torn');
  for (let round = 0; round < 5; round += 1) {
    const both = await Promise.all(
      [['manager'], ['viewer', 'plain']].map(async (roles) =>
        server.as('admin')('POST', permissionsOf('torn'), { roles }),
      ),
    );
    t.strictSame(
      both.map(({ status }) => status),
      [200, 200],
    );
    const bound = await bindingsOf('torn');
    t.ok(
      [['manager: torn'], ['plain: torn', 'viewer: torn']].some((whole) => String(whole) === String(bound)),
      String(bound),
    );
  }
});

test('each violation of an assignment is reported at its pointer, and nothing is written', async (t) => {
  const refused = await server.as('admin')('POST', permissionsOf('worker'), {
    roles: ['viewer', 'nowhere', 'viewer', ''],
  });
  t.equal(refused.status, 422);
  t.strictSame(pointers(refused.body), ['/roles/1', '/roles/2', '/roles/3']);
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{}, ['/roles']],
    [{ roles: 'viewer' }, ['/roles']],
    [{ roles: [1] }, ['/roles/0']],
    [{ roles: Array.from({ length: 257 }, () => 'viewer') }, ['/roles']],
    [{ roles: [], more: 1 }, ['/more']],
  ];
  for (const [body, expected] of cases) {
    const answer = await server.as('admin')('POST', permissionsOf('worker'), body);
    t.equal(answer.status, 422);
    t.strictSame(pointers(answer.body), expected);
  }
  for (const body of ['[]', '{', ''])
    t.equal((await server.as('admin')('POST', permissionsOf('worker'), body)).status, 400);
  t.strictSame(await bindingsOf('worker'), ['plain: worker']);
});

test('nobody grants a role with rights beyond their own, and a refused assignment changes nothing', async (t) => {
  await server.makeUser('deputy');
  await role('assigner', {
    rules: [{ apiGroups: ['api.console.svc.run'], resources: ['users/permissions'], verbs: ['*'] }],
  });
  await server.as('admin')('POST', permissionsOf('deputy'), { roles: ['assigner', 'viewer'] });
  const refused = await server.as('deputy')('POST', permissionsOf('worker'), { roles: ['viewer', 'beyond'] });
  t.equal(refused.status, 403, refused.text);
  t.strictSame(await bindingsOf('worker'), ['plain: worker']);
  const given = await server.as('deputy')('POST', permissionsOf('worker'), { roles: ['viewer'] });
  t.equal(given.status, 200, given.text);
  t.strictSame(await bindingsOf('worker'), ['viewer: worker']);
});

test('a dry run checks everything and changes nothing', async (t) => {
  const dry = await server.as('admin')('POST', `${permissionsOf('worker')}?dryRun=All`, { roles: ['manager'] });
  t.equal(dry.status, 200);
  t.strictSame(await bindingsOf('worker'), ['viewer: worker']);
});

test('two simultaneous assignments leave one of the two, or both, and never less', async (t) => {
  await server.makeUser('raced');
  const both = await Promise.all(
    [
      ['viewer', 'plain'],
      ['viewer', 'manager'],
    ].map(async (roles) => server.as('admin')('POST', permissionsOf('raced'), { roles })),
  );
  t.ok(
    both.every(({ status }) => status === 200 || status === 409),
    both.map(({ text }) => text).join('\n'),
  );
  const bound = await bindingsOf('raced');
  t.equal(bound.filter((each) => each === 'viewer: raced').length, 1, bound.join('; '));
});

test('templates are sorted by module and title, without hidden ones; those without a module are last', async (t) => {
  const { status, body } = await server.as('admin')('GET', `${root}/roletemplates`);
  t.equal(status, 200);
  const modules = body as readonly { readonly module: string; readonly templates: readonly Named[] }[];
  const mine = modules.map(({ module, templates }) => [module, names(templates)] as const);
  t.strictSame(
    mine.filter(([module]) => ['Administration', 'Widgets'].includes(module)),
    [
      ['Administration', ['beyond']],
      ['Widgets', ['example-widgets-manage', 'manager', 'viewer', 'example-widgets-view']],
    ],
  );
  t.equal(mine.at(-1)?.[0], '');
  t.ok(mine.at(-1)?.[1].includes('plain'));
  const all = mine.flatMap(([, members]) => members);
  t.notOk(all.includes('secretly') || all.includes('untemplated'));
  t.strictSame(
    mine.map(([module]) => module).slice(0, -1),
    mine
      .map(([module]) => module)
      .slice(0, -1)
      .sort(),
  );
});

test('a front end follows its permissions by their entity tag', async (t) => {
  await server.makeUser('follower');
  const show = async (tag?: string) =>
    server.as('follower')('GET', permissionsOf('-'), undefined, tag === undefined ? {} : { 'if-none-match': tag });
  const first = await show();
  const tag = first.headers.get('etag') ?? '';
  t.match(tag, /^"[\w-]{43}"$/u);
  const unchanged = await show(tag);
  t.equal(unchanged.status, 304);
  t.equal(unchanged.headers.get('etag'), tag);
  t.equal(unchanged.text, '');
  const changes: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a binding', async () => bind('follower-views', 'viewer', ['follower'])],
    [
      'UI permissions of a bound role',
      async () =>
        server.as('admin')(
          'PATCH',
          '/api/v1alpha1/roles/viewer',
          { metadata: { annotations: { 'rbac.authorization.svc.run/ui-permissions': '["plugin:w:see"]' } } },
          { 'content-type': 'application/merge-patch+json' },
        ),
    ],
    ['a deleted binding', async () => server.as('admin')('DELETE', '/api/v1alpha1/rolebindings/follower-views')],
  ];
  let known = tag;
  for (const [title, change] of changes) {
    await change();
    const after = await show(known);
    t.equal(after.status, 200, title);
    known = after.headers.get('etag') ?? '';
    t.equal((await show(known)).status, 304, title);
  }
  t.equal(known, tag, 'the same permissions as at first');
});
