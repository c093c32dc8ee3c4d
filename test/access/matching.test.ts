import { test, type Test } from 'tap';

import { AccessWorld, asked, bindingWrite, decided, roleWrite, subjectOf } from './access-world.ts';
import type { RawRole, RawRule, Who } from './oracle.ts';

type Case = {
  readonly rule: RawRule;
  readonly yes?: readonly string[];
  readonly no?: readonly string[];
  readonly plugin?: string;
};

/** Each request as a visitor with this one rule only. */
function check(t: Test, { rule, yes = [], no = [], plugin }: Case): void {
  const world = new AccessWorld();
  world.commit([roleWrite({ name: 'anonymous', labels: {}, annotations: {}, rules: [rule] })]);
  world.tables.load();
  for (const [expected, texts] of [
    [true, yes],
    [false, no],
  ] as const) {
    for (const text of texts)
      t.equal(
        decided(world.tables, { user: undefined }, asked(text), plugin),
        expected,
        `${JSON.stringify(rule)}: ${text}`,
      );
  }
  t.end();
}

const posts = '/apis/g.io/v1/posts';

test('verb, group and resource must all match', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['posts'], verbs: ['get', 'list'] },
    yes: [`GET ${posts}/a`, `HEAD ${posts}/a`, `GET ${posts}`, 'GET /apis/g.io/v2/posts'],
    no: [
      `PUT ${posts}/a`,
      `GET ${posts} watch`,
      'GET /apis/h.io/v1/posts',
      'GET /apis/g.io/v1/tags',
      'GET /api/v1/posts',
    ],
  });
});

test('* matches any verb, any group, and any resource with any subresource', (t) => {
  check(t, {
    rule: { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    yes: [`DELETE ${posts}`, `GET ${posts}/a/status`, 'GET /api/v1/users/a', `GET ${posts} watch`, `OPTIONS ${posts}`],
    no: ['GET /healthz', `POST ${posts}/a`],
  });
});

test('the core group is "", and no apiGroups match nothing', (t) => {
  t.test('the core group', (s) => {
    check(s, {
      rule: { apiGroups: [''], resources: ['*'], verbs: ['*'] },
      yes: ['GET /api/v1/users'],
      no: [`GET ${posts}`],
    });
  });
  t.test('empty', (s) => {
    check(s, { rule: { apiGroups: [], resources: ['*'], verbs: ['*'] }, no: ['GET /api/v1/users', `GET ${posts}`] });
  });
  t.test('missing', (s) => {
    check(s, { rule: { resources: ['*'], verbs: ['*'] }, no: ['GET /api/v1/users', `GET ${posts}`] });
  });
  t.end();
});

test('R does not cover R/S', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['posts'], verbs: ['*'] },
    yes: [`GET ${posts}/a`],
    no: [`GET ${posts}/a/status`],
  });
});

test('R/S is that subresource alone', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['posts/status'], verbs: ['*'] },
    yes: [`GET ${posts}/a/status`],
    no: [`GET ${posts}/a`, `GET ${posts}/a/scale`, 'GET /apis/g.io/v1/tags/a/status'],
  });
});

test('*/S is subresource S of every resource', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['*/status'], verbs: ['*'] },
    yes: [`GET ${posts}/a/status`, 'GET /apis/g.io/v1/tags/a/status'],
    no: [`GET ${posts}/a`, `GET ${posts}/status`, `GET ${posts}/a/scale`],
  });
});

test('R/* is every subresource of R, and not R', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['posts/*'], verbs: ['*'] },
    yes: [`GET ${posts}/a/status`, `GET ${posts}/a/scale`],
    no: [`GET ${posts}/a`, `GET ${posts}`, 'GET /apis/g.io/v1/tags/a/status'],
  });
});

test('P/R is resource R of plugin P, and subresource R of P', (t) => {
  const rule = { apiGroups: ['g.io'], resources: ['blog/posts'], verbs: ['*'] };
  t.test('of the plugin', (s) => {
    check(s, {
      rule,
      plugin: 'blog',
      yes: [`GET ${posts}/a`, `GET ${posts}`, 'GET /apis/g.io/v1/blog/a/posts'],
      no: [`GET ${posts}/a/status`, 'GET /apis/g.io/v1/tags', 'GET /apis/h.io/v1/posts'],
    });
  });
  t.test('of another', (s) => {
    check(s, { rule, plugin: 'shop', no: [`GET ${posts}/a`], yes: ['GET /apis/g.io/v1/blog/a/posts'] });
  });
  t.test('of none', (s) => {
    check(s, { rule, no: [`GET ${posts}/a`] });
  });
  t.end();
});

test('P/R/S is subresource S of resource R of plugin P', (t) => {
  const rule = { apiGroups: ['g.io'], resources: ['blog/posts/status'], verbs: ['*'] };
  t.test('of the plugin', (s) => {
    check(s, { rule, plugin: 'blog', yes: [`GET ${posts}/a/status`], no: [`GET ${posts}/a`, `GET ${posts}/a/scale`] });
  });
  t.test('of another', (s) => {
    check(s, { rule, plugin: 'shop', no: [`GET ${posts}/a/status`] });
  });
  t.end();
});

test('a * elsewhere in a resource is only itself', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['po*', 'blog/*/status', 'blog/posts/*', '*s'], verbs: ['*'] },
    plugin: 'blog',
    no: [`GET ${posts}`, `GET ${posts}/a/status`],
  });
});

test('resourceNames: any entry may match, exact or with one *', (t) => {
  check(t, {
    rule: {
      apiGroups: ['g.io'],
      resources: ['posts', 'posts/status'],
      verbs: ['*'],
      resourceNames: ['one', 'team-*', 'a*z'],
    },
    yes: [
      `GET ${posts}/one`,
      `PUT ${posts}/team-a`,
      `GET ${posts}/team-`,
      `GET ${posts}/abz`,
      `GET ${posts}/az`,
      `PUT ${posts}/one/status`,
    ],
    no: [`GET ${posts}/two`, `GET ${posts}/my-team-a`, `GET ${posts}/abzx`, `GET ${posts}/-`],
  });
});

test('an entry of resourceNames with more than one * is only its own text', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['posts'], verbs: ['*'], resourceNames: ['a**', '*b*'] },
    yes: [`GET ${posts}/a%2A%2A`],
    no: [`GET ${posts}/ab`, `GET ${posts}/abc`, `GET ${posts}/b`],
  });
});

test('with resourceNames a request without a name does not match: no list, no create', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['posts'], verbs: ['*'], resourceNames: ['*'] },
    yes: [`GET ${posts}/a`],
    no: [`GET ${posts}`, `POST ${posts}`, `DELETE ${posts}`],
  });
});

test('a list or watch of one name by its field selector alone counts as named', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['posts'], verbs: ['*'], resourceNames: ['one'] },
    yes: [
      `GET ${posts}?fieldSelector=metadata.name=one`,
      `GET ${posts}?fieldSelector=metadata.name=one watch`,
      `GET ${posts}/one watch`,
    ],
    no: [
      `GET ${posts}?fieldSelector=metadata.name=two`,
      `GET ${posts}?fieldSelector=metadata.name=one,spec.x=1`,
      `GET ${posts} watch`,
      `DELETE ${posts}?fieldSelector=metadata.name=one`,
    ],
  });
});

test('empty resourceNames count as not given', (t) => {
  check(t, {
    rule: { apiGroups: ['g.io'], resources: ['posts'], verbs: ['*'], resourceNames: [] },
    yes: [`GET ${posts}/a`, `POST ${posts}`, `GET ${posts}`],
  });
});

test('nonResourceURLs: exact, or everything beneath on a path boundary', (t) => {
  check(t, {
    rule: { nonResourceURLs: ['/healthz', '/open/*'], verbs: ['get'] },
    yes: ['GET /healthz', 'GET /healthz/', 'GET /open/a', 'GET /open/a/b/c/d/e'],
    no: ['GET /healthz/a', 'GET /open', 'GET /opener', 'GET /openx/a', 'POST /open/a'],
  });
});

test('* alone is every path, /* all but the root, and a * elsewhere only itself', (t) => {
  t.test('*', (s) => {
    check(s, {
      rule: { nonResourceURLs: ['*'], verbs: ['*'] },
      yes: ['GET /', 'GET /a', `POST ${posts}/a`],
      no: [`GET ${posts}/a`],
    });
  });
  t.test('/*', (s) => {
    check(s, { rule: { nonResourceURLs: ['/*'], verbs: ['*'] }, yes: ['GET /a', 'GET /a/b'], no: ['GET /'] });
  });
  t.test('elsewhere', (s) => {
    check(s, { rule: { nonResourceURLs: ['/a*', '/b/*/c'], verbs: ['*'] }, no: ['GET /a', 'GET /ab', 'GET /b/x/c'] });
  });
  t.end();
});

test('a path may be granted by its verb or by its method in lower case (decision 6.4)', (t) => {
  t.test('verb', (s) => {
    check(s, { rule: { nonResourceURLs: ['/x'], verbs: ['create'] }, yes: ['POST /x'], no: ['GET /x'] });
  });
  t.test('method', (s) => {
    check(s, {
      rule: { nonResourceURLs: ['/x'], verbs: ['post', 'options'] },
      yes: ['POST /x', 'OPTIONS /x'],
      no: ['PUT /x'],
    });
  });
  t.test('not of a resource', (s) => {
    check(s, { rule: { apiGroups: ['*'], resources: ['*'], verbs: ['post'] }, no: [`POST ${posts}`] });
  });
  t.end();
});

test('POST to a name is granted by its path (decision 6.3)', (t) => {
  check(t, {
    rule: { nonResourceURLs: ['/apis/g.io/v1/plugins/install'], verbs: ['create'] },
    yes: ['POST /apis/g.io/v1/plugins/install'],
    no: ['PUT /apis/g.io/v1/plugins/install'],
  });
});

test('a right to the root of discovery covers the documents beneath, and no deeper ones', (t) => {
  check(t, {
    rule: { nonResourceURLs: ['/api', '/apis'], verbs: ['get'] },
    yes: ['GET /api', 'GET /api/v1', 'GET /apis/g.io', 'HEAD /apis/g.io/v1'],
    no: ['GET /api/v1/users', 'GET /apis/g.io/v1/posts', 'POST /apis/g.io', 'GET /apis/g.io/v1/posts/a/b/c'],
  });
});

const rule: RawRule = { apiGroups: ['g.io'], resources: ['posts'], verbs: ['get'] };
const annotation = (names: readonly string[]): Pick<RawRole, 'annotations'> => ({
  annotations: { 'rbac.authorization.svc.run/dependencies': JSON.stringify(names) },
});
const label = (target: string): Pick<RawRole, 'labels'> => ({
  labels: { [`rbac.authorization.svc.run/aggregate-to-${target}`]: 'true' },
});
const plain = { labels: {}, annotations: {}, rules: [] };

function worldOf(roles: readonly RawRole[], bound: readonly string[] = ['start']): AccessWorld {
  const world = new AccessWorld();
  world.commit([
    ...roles.map((role) => roleWrite(role)),
    ...bound.map((role) => bindingWrite(`ann-${role}`, { role, users: ['ann'] })),
  ]);
  world.tables.load();
  return world;
}

function held(world: AccessWorld, who: Who = { user: 'ann' }): readonly string[] {
  return [...world.tables.rightsOf(subjectOf(who)).roles].sort();
}

test('dependencies are followed through, cycles and missing names ignored (decision 6.6)', (t) => {
  const world = worldOf([
    { ...plain, ...annotation(['middle', 'nowhere']), name: 'start' },
    { ...plain, ...annotation(['end', 'start']), name: 'middle' },
    { ...plain, ...annotation(['end']), name: 'end', rules: [rule] },
  ]);
  t.strictSame(held(world), ['end', 'middle', 'start']);
  t.ok(decided(world.tables, { user: 'ann' }, asked(`GET ${posts}/a`), undefined));
  t.end();
});

test('a role aggregated to one that is held is held, and nothing is aggregated to a role that does not exist', (t) => {
  const world = worldOf(
    [
      { ...plain, name: 'start' },
      { ...plain, ...label('start'), name: 'added' },
      { ...plain, ...label('added'), name: 'twice' },
      { ...plain, ...label('nowhere'), name: 'never' },
    ],
    ['start', 'nowhere'],
  );
  t.strictSame(held(world), ['added', 'start', 'twice']);
  t.end();
});

test('a visitor has anonymous, a logged-in user authenticated and anonymous as well', (t) => {
  const world = worldOf([
    { ...plain, name: 'anonymous' },
    { ...plain, name: 'authenticated' },
    { ...plain, name: 'start' },
    { ...plain, ...label('anonymous'), name: 'open' },
  ]);
  t.strictSame(held(world, { user: undefined }), ['anonymous', 'open']);
  t.strictSame(held(world, { user: 'somebody' }), ['anonymous', 'authenticated', 'open']);
  t.strictSame(held(world), ['anonymous', 'authenticated', 'open', 'start']);
  t.end();
});

test('super-role allows everything, whether or not the role is there', (t) => {
  for (const roles of [[], [{ ...plain, name: 'super-role' }]]) {
    const world = worldOf(roles, ['super-role']);
    t.ok(world.tables.rightsOf(subjectOf({ user: 'ann' })).isSuperAdministrator);
    t.ok(decided(world.tables, { user: 'ann' }, asked('DELETE /anything/at/all'), undefined));
    t.notOk(decided(world.tables, { user: 'bob' }, asked(`GET ${posts}`), undefined));
  }
  t.end();
});

test('a token with roles has those its owner holds, and what everybody has', (t) => {
  const world = worldOf([
    { ...plain, ...annotation(['view']), name: 'start' },
    { ...plain, name: 'view' },
    { ...plain, name: 'other' },
    { ...plain, name: 'authenticated' },
  ]);
  t.strictSame(held(world, { user: 'ann', tokenRoles: ['view', 'other', 'nowhere'] }), ['authenticated', 'view']);
  t.strictSame(held(world, { user: 'ann', tokenRoles: [] }), ['authenticated']);
  const superior = worldOf([{ ...plain, name: 'view' }], ['super-role']);
  t.strictSame(
    held(superior, { user: 'ann', tokenRoles: ['view'] }),
    ['view'],
    'a super administrator holds every role',
  );
  t.notOk(superior.tables.rightsOf(subjectOf({ user: 'ann', tokenRoles: ['view'] })).isSuperAdministrator);
  t.end();
});

test('the plugin is asked for at most once, and only when a rule speaks of one', (t) => {
  const world = worldOf([
    {
      ...plain,
      name: 'start',
      rules: [
        { apiGroups: ['g.io'], resources: ['blog/posts', 'shop/posts', 'x/posts'], verbs: ['get'] },
        { apiGroups: ['g.io'], resources: ['tags'], verbs: ['get'] },
      ],
    },
  ]);
  let times = 0;
  const pluginOf = (): string => {
    times += 1;
    return 'none';
  };
  const rights = world.tables.rightsOf(subjectOf({ user: 'ann' }));
  t.equal(rights.find(asked(`GET ${posts}/a`), pluginOf), undefined);
  t.equal(times, 1);
  rights.find(asked('GET /apis/g.io/v1/tags/a'), pluginOf);
  rights.find(asked(`PUT ${posts}/a`), pluginOf);
  rights.find(asked('GET /healthz'), pluginOf);
  t.equal(times, 1);
  t.end();
});

test('what allows something is named: the first rule of the first role', (t) => {
  const world = worldOf([
    { ...plain, name: 'start', rules: [{ ...rule, verbs: ['list'] }, { ...rule, resources: ['*'] }, rule] },
  ]);
  const grant = world.tables.rightsOf(subjectOf({ user: 'ann' })).find(asked(`GET ${posts}/a`), () => undefined);
  t.match(grant, { role: 'start', rule: { resources: ['*'] } });
  t.end();
});
