import { setTimeout as passes } from 'node:timers/promises';

import { test } from 'tap';
import type { Test } from 'tap';

import { startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { manifestYaml, moduleText, temporaryFolder, writePlugins, type PluginFiles } from './host-stage.ts';

async function serving(t: Test, plugins: PluginFiles): Promise<TestServer> {
  const root = await temporaryFolder(t);
  await writePlugins(root, plugins);
  return startTestServer({ environment: { PLUGINS_DIRS: root, PLUGINS_DISABLED: 'loops' } });
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are matched, not typed
async function json(answer: Response | Promise<Response>): Promise<Record<string, any>> {
  return (await answer).json() as Promise<Record<string, unknown>>;
}

const plugins = '/apis/plugin.svc.run/v1alpha1/plugins';
const goods = '/apis/goods.example/v1/goods';
const route =
  '{ method: "GET", path: "/apis/api.goods.example/v1/sum", handler: async ({ pluginClient }) => ({ body: { total: ' +
  '(await pluginClient.list({ group: "goods.example", version: "v1", plural: "goods" })).total } }) }';
const lost = '{ path: "/lost", routes: [{ method: "GET", path: "/", handler() { return { body: 1 }; } }] }';
const good = {
  'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }),
  'main.mjs': moduleText('goods', { more: `routes: [${route}], controllers: [${lost}]` }),
  'extensions/first.yaml': 'apiVersion: goods.example/v1\nkind: Goods\nmetadata: {name: first}\nspec: {color: red}\n',
};

test("a plugin's types, objects and routes are served beside a broken plugin", async (t) => {
  const server = await serving(t, {
    good,
    bad: { 'plugin.yaml': manifestYaml('bad', { main: 'main.mjs' }), 'main.mjs': 'throw new Error("boom");' },
    worse: { 'plugin.yaml': '[' },
    loops: { 'plugin.yaml': manifestYaml('loops', { main: 'main.mjs' }), 'main.mjs': 'for (;;);' },
  });
  t.teardown(() => server.remove());
  t.match(await json(server.call(`${goods}/first`)), { spec: { color: 'red' } });
  t.equal((await server.call(goods, { method: 'POST', body: { metadata: { name: 'second' } } })).status, 201);
  t.same(await json(server.call('/apis/api.goods.example/v1/sum')), { total: 2 });
  for (const path of ['/lost', '/apis/lost', '/apis/goods.example/v1/lost', '/apis/api.goods.example/v1/lost'])
    t.equal((await server.call(path)).status, 404, path);
  const list = await json(server.call(plugins));
  t.same(
    Object.fromEntries(
      (list['items'] as { metadata: { name: string }; status: { phase: string } }[]).map(({ metadata, status }) => [
        metadata.name,
        status.phase,
      ]),
    ),
    { good: 'started', bad: 'failed', worse: 'failed', loops: 'stopped', content: 'started', example: 'started' },
  );
  t.match((await json(server.call(`${plugins}/bad`)))['status'].conditions, [
    { type: 'Ready', status: 'False', reason: 'ModuleFailed', message: /boom/ },
  ]);
  t.equal((await server.call('/readyz')).status, 200);
});

test('disabling a plugin by the API removes its paths, and enabling restores them', async (t) => {
  const server = await serving(t, { good });
  t.teardown(() => server.remove());
  const becomes = async (phase: string): Promise<void> => {
    while ((await json(server.call(`${plugins}/good`)))['status'].phase !== phase) await passes(5);
  };
  const patch = async (enabled: boolean): Promise<number> =>
    (
      await server.call(`${plugins}/good`, {
        method: 'PATCH',
        body: JSON.stringify({ spec: { enabled } }),
        headers: { 'content-type': 'application/merge-patch+json' },
      })
    ).status;
  const watch = await server.call(`${goods}?watch=true`);
  t.equal(await patch(false), 200);
  await becomes('stopped');
  t.equal((await server.call(`${goods}/first`)).status, 404);
  t.equal((await server.call('/apis/api.goods.example/v1/sum')).status, 404);
  await watch.text();
  t.pass('its watches have ended');
  t.equal(await patch(true), 200);
  await becomes('started');
  t.equal((await server.call(`${goods}/first`)).status, 200);
  t.equal((await server.call('/apis/api.goods.example/v1/sum')).status, 200);
});

test("a restart keeps a user's change of a shipped object", async (t) => {
  const server = await serving(t, { good });
  await server.call(`${goods}/first`, {
    method: 'PATCH',
    body: JSON.stringify({ spec: { color: 'green' } }),
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  const again = await server.restart();
  t.teardown(() => again.remove());
  t.match(await json(again.call(`${goods}/first`)), { spec: { color: 'green' } });
});

test('visitors see published posts, and how often each tag is used', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  const posts = '/apis/content.svc.run/v1alpha1/posts';
  const open = '/apis/api.content.svc.run/v1alpha1';
  const create = async (name: string, spec: object): Promise<number> =>
    (
      await server.call(posts, {
        method: 'POST',
        body: { metadata: { name }, spec: { title: name, slug: name, ...spec } },
      })
    ).status;
  t.same(
    [
      await create('one', { publish: true, tags: ['a', 'b,c'], publishTime: '2026-01-01T00:00:00Z', content: 'text' }),
      await create('two', { publish: true, tags: ['a'], publishTime: '2026-01-02T00:00:00Z' }),
      await create('draft', { tags: ['a', 'secret'] }),
      await create('Bad-slug', {}),
    ],
    [201, 201, 201, 422],
  );
  t.equal(
    (
      await server.call(posts, {
        method: 'POST',
        body: { metadata: { name: 'three' }, spec: { title: 'x', slug: 'one' } },
      })
    ).status,
    409,
  );
  t.match(await json(server.call(`${open}/posts`)), {
    total: 2,
    items: [{ name: 'two' }, { name: 'one', tags: ['a', 'b,c'] }],
  });
  t.match(await json(server.call(`${open}/posts?tag=${encodeURIComponent('b,c')}`)), {
    total: 1,
    items: [{ name: 'one' }],
  });
  t.match(await json(server.call(`${open}/posts/one`)), { title: 'one', content: 'text' });
  t.equal((await server.call(`${open}/posts/draft`)).status, 404);
  t.equal((await server.call(`${open}/posts?size=101`)).status, 400);
  t.same(await json(server.call(`${open}/tags`)), {
    total: 2,
    items: [
      { tag: 'a', posts: 2 },
      { tag: 'b,c', posts: 1 },
    ],
  });
  t.equal((await fetch(`${server.url}${open}/posts`)).status, 200, 'a template opens it to everybody');
  t.equal((await fetch(`${server.url}${posts}`)).status, 401);
});

test("one's own posts over HTTP: created, changed, published and deleted", async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  const own = '/apis/uc.api.content.svc.run/v1alpha1/posts';
  const made = await server.call(own, {
    method: 'POST',
    body: { metadata: { name: 'a' }, spec: { title: 'A', owner: 'x', publish: true } },
  });
  t.match(
    [made.status, made.headers.get('location'), await made.json()],
    [201, `${own}/a`, { spec: { title: 'A', owner: 'admin' } }],
  );
  t.equal(
    (
      await server.call('/apis/content.svc.run/v1alpha1/posts', {
        method: 'POST',
        body: { metadata: { name: 'b' }, spec: { title: 'B', owner: 'bob' } },
      })
    ).status,
    201,
  );
  t.match(await json(server.call(own)), { kind: 'PostList', total: 1, items: [{ metadata: { name: 'a' } }] });
  const absent = await server.call(`${own}/b`);
  t.match(
    [absent.status, await absent.json()],
    [
      404,
      {
        kind: 'Status',
        reason: 'NotFound',
        detail: 'posts.content.svc.run "b" not found',
        details: { group: 'uc.api.content.svc.run', kind: 'posts', name: 'b' },
      },
    ],
  );
  const invalid = await server.call(`${own}/a`, {
    method: 'PATCH',
    body: '{"spec":{"title":""}}',
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.match(
    [invalid.status, await invalid.json()],
    [422, { reason: 'Invalid', errors: [{ pointer: '/spec/title', detail: String }] }],
  );
  t.match(await json(server.call(`${own}/a/publish`, { method: 'PUT' })), {
    spec: { publish: true, publishTime: /^20\d\d-.*Z$/ },
  });
  t.match(await json(server.call('/apis/api.content.svc.run/v1alpha1/posts')), { total: 1, items: [{ name: 'a' }] });
  t.match(await json(server.call(`${own}/a/unpublish`, { method: 'PUT' })), { spec: { publish: false } });
  t.match(await json(server.call(`${own}/a`, { method: 'DELETE' })), { metadata: { deletionTimestamp: String } });
});

test('a user bound to a template has its permissions over HTTP', async (t) => {
  const server = await startTestServer();
  t.teardown(() => server.remove());
  const made = async (path: string, body: object): Promise<void> => {
    const answer = await server.call(path, { method: 'POST', body });
    t.equal(answer.status, 201, await answer.text());
  };
  for (const name of ['ann', 'bob'])
    await made('/api/v1alpha1/users', { metadata: { name }, spec: { password: `the password of ${name}` } });
  const bind = async (user: string, role: string): Promise<void> =>
    made('/api/v1alpha1/rolebindings', {
      metadata: { name: `${user}-${role}` },
      roleRef: { apiGroup: '', kind: 'Role', name: role },
      subjects: [{ apiGroup: '', kind: 'User', name: user }],
    });
  await bind('ann', 'content-own-posts');
  await bind('bob', 'content-own-posts-publish');
  const own = '/apis/uc.api.content.svc.run/v1alpha1/posts';
  const as = async (user: string, method: string, path: string, body?: object): Promise<number> =>
    (
      await server.call(path, {
        method,
        ...(body === undefined ? {} : { body }),
        headers: { authorization: `Basic ${Buffer.from(`${user}:the password of ${user}`).toString('base64')}` },
      })
    ).status;
  for (const user of ['ann', 'bob'])
    t.equal(await as(user, 'POST', own, { metadata: { name: user }, spec: { title: user } }), 201, user);
  t.same(
    [
      await as('ann', 'GET', `${own}/ann`),
      await as('ann', 'GET', `${own}/bob`),
      await as('ann', 'DELETE', `${own}/bob`),
    ],
    [200, 404, 404],
  );
  t.same(
    [
      await as('ann', 'PUT', `${own}/ann/publish`),
      await as('bob', 'PUT', `${own}/bob/publish`),
      await as('bob', 'PUT', `${own}/ann/publish`),
    ],
    [403, 200, 404],
  );
  const posts = '/apis/content.svc.run/v1alpha1/posts';
  t.same([await as('bob', 'GET', posts), await as('bob', 'POST', `${own}/bob/publish`)], [403, 403]);
  await bind('bob', 'content-posts-view');
  t.same(
    [await as('bob', 'GET', posts), await as('bob', 'PUT', `${posts}/ann`, {})],
    [200, 403],
    'counts from the next request on',
  );
  await bind('bob', 'content-posts-manage');
  t.equal(await as('bob', 'DELETE', `${posts}/ann`), 200);
});
