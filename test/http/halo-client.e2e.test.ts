/**
 * The requests of Halo's TypeScript client for roles, role bindings, users, plugins and posts, as it sends them to a
 * platform of the domain halo.run. The package is GPL-3.0, so its requests are written down here instead.
 */
import t, { test } from 'tap';

import { adminAuthorization, startTestServer } from '../support/server/start-server.ts';

const server = await startTestServer({ environment: { PLATFORM_DOMAIN: 'halo.run' } });
t.teardown(async () => server.remove());

type Answered = { readonly status: number; readonly body: ReturnType<typeof JSON.parse> };

async function call(method: string, path: string, body?: unknown, as = adminAuthorization): Promise<Answered> {
  const contentType = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
  const response = await fetch(server.url + path, {
    method,
    headers: {
      accept: 'application/json, text/plain, */*',
      'user-agent': 'axios/1.13.2',
      ...(as === '' ? {} : { authorization: as }),
      ...(body === undefined ? {} : { 'content-type': contentType }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

type Sent = {
  readonly kind: string;
  readonly path: string;
  readonly apiVersion: string;
  /** Every member that the client's type has, beside its metadata. */
  readonly members: Readonly<Record<string, unknown>>;
  /** A change by JSON Patch: a member that is there, and its new value. */
  readonly patched: readonly [pointer: string, value: unknown];
  /** Queries that must select exactly the object made here. */
  readonly selects: readonly (readonly (readonly [parameter: string, value: string])[])[];
};

const post = {
  allowComment: true,
  baseSnapshot: 'snapshot-1',
  categories: ['category-1', 'category-2'],
  cover: '/upload/cover.png',
  deleted: false,
  excerpt: { autoGenerate: false, raw: 'In short.' },
  headSnapshot: 'snapshot-3',
  htmlMetas: [{ name: 'robots', content: 'noindex' }],
  owner: 'admin',
  pinned: true,
  priority: 3,
  publish: true,
  publishTime: '2026-01-02T03:04:05.006Z',
  releaseSnapshot: 'snapshot-2',
  slug: 'hello-halo',
  tags: ['tag-1'],
  template: 'post',
  title: 'Hello Halo',
  visible: 'PUBLIC',
};

const sent: readonly Sent[] = [
  {
    kind: 'Role',
    path: '/api/v1alpha1/roles',
    apiVersion: 'v1alpha1',
    members: {
      rules: [
        { apiGroups: ['content.halo.run'], resources: ['posts'], resourceNames: ['a'], verbs: ['get', 'list'] },
        { nonResourceURLs: ['/actuator/*'], verbs: ['get'] },
      ],
    },
    patched: ['/rules/0/verbs', ['*']],
    selects: [],
  },
  {
    kind: 'RoleBinding',
    path: '/api/v1alpha1/rolebindings',
    apiVersion: 'v1alpha1',
    members: {
      roleRef: { apiGroup: '', kind: 'Role', name: 'authenticated' },
      subjects: [{ apiGroup: '', kind: 'User', name: 'admin' }],
    },
    patched: ['/subjects/0/name', 'nobody'],
    selects: [],
  },
  {
    kind: 'User',
    path: '/api/v1alpha1/users',
    apiVersion: 'v1alpha1',
    members: {
      spec: {
        avatar: '/upload/a.png',
        bio: 'A user.',
        disabled: false,
        displayName: 'Made User',
        email: 'made@example.com',
        emailVerified: true,
        loginHistoryLimit: 10,
        phone: '+49 30 1234',
        registeredAt: '2026-01-02T03:04:05.006Z',
        twoFactorAuthEnabled: false,
      },
    },
    patched: ['/spec/bio', 'Another text.'],
    selects: [
      [['fieldSelector', 'spec.email=made@example.com']],
      [
        ['page', '1'],
        ['size', '20'],
        ['labelSelector', '!rbac.authorization.halo.run/hidden'],
        ['labelSelector', 'made=yes'],
        ['fieldSelector', 'spec.disabled=false'],
        ['fieldSelector', 'spec.displayName=Made User'],
        ['sort', 'metadata.creationTimestamp,desc'],
      ],
    ],
  },
  {
    kind: 'Plugin',
    path: '/apis/plugin.halo.run/v1alpha1/plugins',
    apiVersion: 'plugin.halo.run/v1alpha1',
    members: {
      spec: {
        author: { name: 'An Author', website: 'https://example.com' },
        configMapName: 'made-config',
        description: 'A plugin',
        displayName: 'Made Plugin',
        enabled: false,
        homepage: 'https://example.com/plugin',
        issues: 'https://example.com/issues',
        license: [{ name: 'MIT', url: 'https://example.com/license' }],
        logo: '/logo.png',
        pluginDependencies: { other: '>=1.0.0' },
        repo: 'https://example.com/repo',
        requires: '>=0.1.0',
        settingName: 'made-settings',
        version: '1.2.3',
      },
    },
    patched: ['/spec/description', 'Another text.'],
    selects: [[['fieldSelector', 'spec.displayName=Made Plugin']]],
  },
  {
    kind: 'Post',
    path: '/apis/content.halo.run/v1alpha1/posts',
    apiVersion: 'content.halo.run/v1alpha1',
    members: { spec: post },
    patched: ['/spec/title', 'Another title'],
    selects: [
      [['fieldSelector', 'spec.slug==hello-halo']],
      [
        ['page', '0'],
        ['size', '0'],
        ['labelSelector', 'made=yes'],
        ['labelSelector', 'gone!=yes'],
        ['fieldSelector', 'spec.deleted=false'],
        ['fieldSelector', 'spec.visible=PUBLIC'],
        ['fieldSelector', 'spec.tags=tag-1'],
        ['fieldSelector', 'spec.categories=category-2'],
        ['sort', 'spec.pinned,desc'],
        ['sort', 'spec.priority,desc'],
        ['sort', 'spec.publishTime,desc'],
      ],
    ],
  },
];

for (const { kind, path, apiVersion, members, patched, selects } of sent) {
  test(`${kind}: create, get, list, update, JSON Patch and delete, with every member`, async (t) => {
    const metadata = {
      name: 'made',
      generateName: '',
      labels: { made: 'yes' },
      annotations: { note: 'a' },
      finalizers: null,
      version: null,
      creationTimestamp: null,
      deletionTimestamp: null,
    };
    const made = await call('POST', path, { apiVersion, kind, metadata, ...members });
    t.match(made, { status: 201, body: { ...members, metadata: { name: 'made', labels: { made: 'yes' } } } });

    const found = await call('GET', `${path}/made`);
    t.match(found, { status: 200, body: { apiVersion, kind, ...members } });
    for (const select of selects) {
      const pairs = select.map(([parameter, value]): [string, string] => [parameter, value]);
      const query = new URLSearchParams(pairs).toString();
      const listed = await call('GET', `${path}?${query}`);
      t.match(listed, { status: 200, body: { page: Number, size: Number, total: 1, hasNext: false } }, query);
      t.equal(listed.body.items[0].metadata.name, 'made', query);
    }
    t.match((await call('GET', `${path}?page=1&size=1&sort=metadata.name%2Casc`)).body, { size: 1, items: [{}] });

    const pushed = async () => {
      const { body } = await call('GET', `${path}/made`);
      return { ...body, metadata: { ...body.metadata, annotations: { note: 'b' } } };
    };
    let change = await pushed();
    let updated = await call('PUT', `${path}/made`, change);
    // A reconciler of the type may write between the two requests.
    for (; updated.status === 409; updated = await call('PUT', `${path}/made`, change)) change = await pushed();
    t.match(updated, { status: 200, body: { ...members, metadata: { annotations: { note: 'b' } } } });
    t.equal((await call('PUT', `${path}/made`, change)).status, 409, 'of an old version');

    const [pointer, value] = patched;
    const answer = await call('PATCH', `${path}/made`, [
      { op: 'test', path: '/metadata/name', value: 'made' },
      { op: 'test', path: '/metadata/labels/absent', value: null },
      { op: 'add', path: '/metadata/annotations/added', value: 'x' },
      { op: 'copy', from: '/metadata/annotations/added', path: '/metadata/annotations/copied' },
      { op: 'move', from: '/metadata/annotations/copied', path: '/metadata/annotations/moved' },
      { op: 'remove', path: '/metadata/annotations/note' },
      { op: 'replace', path: pointer, value },
    ]);
    t.match(answer, { status: 200, body: { metadata: { annotations: { added: 'x', moved: 'x' } } } });
    const at = pointer.split('/').slice(1);
    t.strictSame(
      at.reduce<unknown>((inner, member) => (inner as Record<string, unknown>)[member], answer.body),
      value,
    );

    t.equal((await call('DELETE', `${path}/made`)).status, 200);
    t.match(await call('GET', `${path}/absent`), { status: 404, body: { reason: 'NotFound' } });
  });
}

test('the status of a client is not stored', async (t) => {
  const path = '/apis/content.halo.run/v1alpha1/posts';
  const status = {
    commentsCount: 7,
    conditions: [],
    contributors: ['admin'],
    excerpt: 'made up',
    hideFromList: true,
    inProgress: true,
    lastModifyTime: '2026-01-02T03:04:05.006Z',
    observedVersion: 1,
    permalink: '/made-up',
    phase: 'PUBLISHED',
  };
  const made = await call('POST', path, {
    apiVersion: 'content.halo.run/v1alpha1',
    kind: 'Post',
    metadata: { name: 'with-status' },
    spec: { ...post, slug: 'with-status' },
    status,
  });
  t.equal(made.status, 201);
  t.notMatch(made.body, { status: { phase: 'PUBLISHED' } });
  const user = { apiVersion: 'v1alpha1', kind: 'User', metadata: { name: 'u' }, spec: { displayName: 'U' } };
  const withStatus = await call('POST', '/api/v1alpha1/users', { ...user, status: { permalink: '/authors/u' } });
  t.equal(withStatus.status, 201);
  t.notMatch(withStatus.body, { status: { permalink: '/authors/u' } });
});

test('a secret of a second factor is refused with the reason, and nothing is stored', async (t) => {
  const path = '/api/v1alpha1/users';
  const refused = await call('POST', path, {
    apiVersion: 'v1alpha1',
    kind: 'User',
    metadata: { name: 'totp' },
    spec: { displayName: 'T', totpEncryptedSecret: 'secret' },
  });
  t.match(refused, {
    status: 422,
    body: { message: /spec\.totpEncryptedSecret: is not stored: every reader of users could read the secret/u },
  });
  t.notMatch(refused.body.message, /: secret/u);
  t.equal((await call('GET', `${path}/totp`)).status, 404);
});

test('a user does not attest what others say about them, and another mail address is unverified', async (t) => {
  const spec = { displayName: 'Own', email: 'own@example.com', emailVerified: true };
  const password = 'a password of its own';
  const user = { apiVersion: 'v1alpha1', kind: 'User', metadata: { name: 'own' } };
  t.equal((await call('POST', '/api/v1alpha1/users', { ...user, spec: { ...spec, password } })).status, 201);
  const as = `Basic ${Buffer.from(`own:${password}`).toString('base64')}`;
  const account = '/apis/uc.api.halo.run/v1alpha1/users/-';
  for (const member of [
    { registeredAt: '2020-01-01T00:00:00Z' },
    { twoFactorAuthEnabled: true },
    { emailVerified: false },
  ])
    t.match(await call('PUT', account, { ...user, spec: { ...spec, ...member } }, as), {
      status: 422,
      body: { message: /cannot be changed by the user/u },
    });
  t.match(await call('PUT', account, { ...user, spec: { ...spec, bio: 'Me.', avatar: '/me.png' } }, as), {
    status: 200,
    body: { spec: { ...spec, bio: 'Me.', avatar: '/me.png' } },
  });
  const moved = await call('PUT', account, { ...user, spec: { displayName: 'Own', email: 'new@example.com' } }, as);
  t.equal(moved.status, 200);
  t.strictSame(moved.body.spec, { displayName: 'Own', email: 'new@example.com' });
});

test('public routes show a post only while it is published, visible and not deleted', async (t) => {
  const path = '/apis/content.halo.run/v1alpha1/posts';
  const open = '/apis/api.content.halo.run/v1alpha1/posts';
  const hidden: readonly object[] = [
    { visible: 'INTERNAL' },
    { visible: 'PRIVATE' },
    { deleted: true },
    { publish: false },
  ];
  const spec = { title: 'Shown', content: 'Text', publish: true, tags: ['only-here'] };
  for (const [index, change] of [{}, { visible: 'PUBLIC', deleted: false }, ...hidden].entries()) {
    const made = await call('POST', path, { metadata: { name: `p${String(index)}` }, spec: { ...spec, ...change } });
    t.equal(made.status, 201, JSON.stringify(made.body));
  }
  const listed = await call('GET', `${open}?tag=only-here`, undefined, '');
  const items = listed.body.items as readonly { readonly name: string }[];
  t.strictSame(items.map(({ name }) => name).sort(), ['p0', 'p1']);
  for (const [name, status] of [
    ['p0', 200],
    ['p1', 200],
    ['p2', 404],
    ['p3', 404],
    ['p4', 404],
    ['p5', 404],
  ] as const) {
    t.equal((await call('GET', `${open}/${name}`, undefined, '')).status, status, name);
    t.equal((await call('GET', `${open}/${name}/comments`, undefined, '')).status, status, name);
  }
  const tags = await call('GET', '/apis/api.content.halo.run/v1alpha1/tags', undefined, '');
  const counts = tags.body.items as readonly { readonly tag: string; readonly posts: number }[];
  t.equal(counts.find(({ tag }) => tag === 'only-here')?.posts, 2);
  const patch = [{ op: 'add', path: '/spec/allowComment', value: false }];
  t.equal((await call('PATCH', `${path}/p0`, patch)).status, 200);
  t.match(await call('POST', `${open}/p0/comments`, { text: 'Hello' }), {
    status: 403,
    body: { detail: /comments on this post are closed/u },
  });
});
