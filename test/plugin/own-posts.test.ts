import { join } from 'node:path';

import { test } from 'tap';
import type { Test } from 'tap';

import { problems } from '../../src/http/problem.ts';
import { authorizePlugin, createClient } from '../../src/plugin/client.ts';
import {
  ClientError,
  type Client,
  type RouteHandler,
  type RouteMethod,
  type RouteResponse,
} from '../../src/plugin/api/plugin.ts';
import { repository } from '../architecture/repository.ts';
import { domain, openStage, temporaryFolder, type Stage } from './host/host-stage.ts';

const type = { group: `content.${domain}`, version: 'v1alpha1', plural: 'posts' };
const base = `/apis/uc.api.content.${domain}/v1alpha1/posts`;
const key = `posts.content.${domain}`;
const identity = { apiVersion: `content.${domain}/v1alpha1`, kind: 'Post' };

type Call = {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly time?: string;
  readonly client?: Client;
};

/** The content plugin as it is built, its own rights, and a call of one of its routes. */
async function staged(t: Test) {
  const stage = await openStage(t, {
    dataDir: await temporaryFolder(t),
    bundled: [join(repository, 'dist', 'plugins')],
  });
  const routes = stage.routes.get('content')?.routes ?? [];
  const own = clientOf(stage);
  const handlerOf = (method: RouteMethod, path: string): RouteHandler => {
    const found = routes.find((route) => route.method === method && route.path === base + path);
    if (found === undefined) throw new Error(`no ${method} ${path}`);
    return found.handler;
  };
  const call = async (
    method: RouteMethod,
    path: string,
    {
      name = '',
      body,
      query = {},
      headers = {},
      user = 'ann',
      time = '2026-01-01T00:00:00.000Z',
      client = own,
    }: Call & { readonly name?: string } = {},
  ): Promise<RouteResponse> =>
    (await handlerOf(
      method,
      path,
    )({
      params: { name },
      query,
      headers,
      body,
      user: { name: user },
      time,
      client: refusing,
      pluginClient: client,
      signal: new AbortController().signal,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    })) ?? {};
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- matched, not typed
  const stored = (name: string): any => stage.object(key, name);
  return { stage, own, call, stored };
}

const refusing = new Proxy(
  {},
  { get: () => () => Promise.reject(new Error('the caller has no rights on posts')) },
) as Client;

function clientOf({ registry, reader, execute }: Stage): Client {
  return createClient(
    { registry, reader, execute, refusalOf: (reason) => problems[reason] },
    {
      authorize: authorizePlugin(registry, 'content'),
      subject: { kind: 'plugin', name: 'content' },
      cause: () => ({ requestId: 'r1', plugin: 'content' }),
    },
  );
}

function post(name: string, spec: object = {}, metadata: object = {}): object {
  return { ...identity, metadata: { name, ...metadata }, spec: { title: name, ...spec } };
}

const refused = (status: number, reason: string) => ({ name: 'ClientError', status, reason });

test('a new post belongs to its author and is unpublished, for any body', async (t) => {
  const { stage, call, stored } = await staged(t);
  const made = await call('POST', '', {
    body: post('a', { owner: 'bob', publish: true, publishTime: '2020-01-01T00:00:00Z', tags: ['x'] }),
  });
  t.match(made, {
    status: 201,
    headers: { location: `${base}/a`, etag: '"0"' },
    body: { ...identity, metadata: { name: 'a', version: 0 }, spec: { title: 'a', owner: 'ann', tags: ['x'] } },
  });
  t.same(stored('a').spec, { title: 'a', tags: ['x'], owner: 'ann' });
  t.match((await call('POST', '', { body: { metadata: { generateName: 'p-' }, spec: { title: 't' } } })).headers, {
    location: `${base}/p-aaaaa`,
  });
  await t.rejects(call('POST', '', { body: post('a') }), refused(409, 'AlreadyExists'));
  await t.rejects(call('POST', '', { body: [] }), refused(400, 'BadRequest'));
  for (const spec of [undefined, null, 'x', [], { title: '' }])
    await t.rejects(call('POST', '', { body: { metadata: { name: 'b' }, spec } }), refused(422, 'Invalid'));
  await stage.close();
});

test('a list with summary=true has the posts without their texts', async (t) => {
  const { stage, call } = await staged(t);
  await call('POST', '', { body: post('a', { content: 'long', excerpt: { raw: 'short' }, tags: ['x'] }) });
  const listed = async (query: Call['query'] = {}): Promise<unknown> =>
    ((await call('GET', '', { query })).body as { readonly items: readonly { readonly spec: object }[] }).items[0]
      ?.spec;
  t.strictSame(await listed({ summary: 'true' }), { title: 'a', tags: ['x'], owner: 'ann' });
  t.match(await listed(), { content: 'long', excerpt: { raw: 'short' } });
  t.match(await listed({ summary: 'false' }), { content: 'long' });
  await stage.close();
});

test('each rule of the type is reported for its value', async (t) => {
  const { stage, own, call } = await staged(t);
  await own.create(type, post('secret', { owner: 'bob', slug: 'taken' }));
  const error = await call('POST', '', { body: post('a', { slug: 'taken' }) }).catch((raised: unknown) => raised);
  t.match(error, { ...refused(409, 'UniqueValueTaken'), errors: [{ pointer: '/spec/slug' }] });
  t.match(await call('POST', '', { body: post('a', { title: 3 }) }).catch((raised: unknown) => raised), {
    errors: [{ pointer: '/spec/title' }],
  });
  await stage.close();
});

test("another author's post is 404, and is unchanged", async (t) => {
  const { stage, own, call, stored } = await staged(t);
  await own.create(type, post('bobs', { owner: 'bob', publish: true }));
  await own.create(type, post('nobodys'));
  const before = [stored('bobs'), stored('nobodys')];
  const calls: readonly (readonly [RouteMethod, string, unknown?])[] = [
    ['GET', '/{name}'],
    ['PUT', '/{name}'],
    ['PATCH', '/{name}', { spec: { title: 'x' } }],
    ['DELETE', '/{name}'],
    ['PUT', '/{name}/publish'],
    ['PUT', '/{name}/unpublish'],
  ];
  for (const name of ['bobs', 'nobodys', 'absent', 'No Name', 'n'.repeat(2_000), '']) {
    for (const [method, path, body = method === 'PUT' ? post(name, { owner: 'ann' }) : undefined] of calls) {
      const error = await call(method, path, { name, body }).catch((raised: unknown) => raised as Error);
      t.match(
        error,
        { ...refused(404, 'NotFound'), message: `posts.content.${domain} ${JSON.stringify(name)} not found` },
        `${method} ${path} ${name.slice(0, 10)}`,
      );
    }
  }
  await t.rejects(
    call('PUT', '/{name}', { name: 'mine', body: post('bobs') }),
    refused(400, 'BadRequest'),
    'the path names one post and the body another',
  );
  t.same([stored('bobs'), stored('nobodys')], before);
  await stage.close();
});

test("a list holds one's own posts only, and works like the generated API's lists", async (t) => {
  const { stage, own, call } = await staged(t);
  const odd = String.raw`oidc:a, b=(c)\ `;
  for (const [name, owner] of [
    ['a', 'ann'],
    ['b', 'bob'],
    ['c', 'ann'],
    ['d', 'ann'],
    ['e', odd],
  ] as const)
    await own.create(
      type,
      post(name, { owner, tags: [name] }, { labels: { 'example.com/odd': name === 'c' ? '1' : '2' } }),
    );
  const names = async (query: Call['query'] = {}, user = 'ann'): Promise<unknown> =>
    (
      (await call('GET', '', { query: { sort: 'metadata.name,asc', ...query }, user })).body as {
        items: { metadata: { name: string } }[];
      }
    ).items.map(({ metadata }) => metadata.name);
  t.same(await names(), ['a', 'c', 'd']);
  t.same(await names({}, 'bob'), ['b']);
  t.same(await names({}, odd), ['e']);
  t.same(await names({}, odd.trim()), []);
  t.same(await names({}, 'nobody'), []);
  t.same(await names({ fieldSelector: 'spec.owner=bob' }), [], 'a selector only ever narrows');
  t.same(await names({ fieldSelector: ['spec.tags in (a,b,c)', 'spec.tags!=a'] }), ['c']);
  t.same(await names({ labelSelector: 'example.com/odd=2' }), ['a', 'd']);
  t.same(await names({ sort: ['metadata.name,desc'] }), ['d', 'c', 'a']);
  const { items, ...page } = (await call('GET', '', { query: { page: '2', size: '2' } })).body as {
    items: readonly unknown[];
  };
  t.equal(items.length, 1);
  t.match(page, {
    apiVersion: identity.apiVersion,
    kind: 'PostList',
    metadata: { resourceVersion: /^\d+$/ },
    page: 2,
    size: 2,
    total: 3,
    first: false,
    last: true,
    hasNext: false,
    hasPrevious: true,
    totalPages: 2,
  });
  t.match((await call('GET', '', { query: { page: '0' } })).body, {
    page: 1,
    size: 0,
    total: 3,
    first: true,
    last: true,
    hasNext: false,
    hasPrevious: false,
    totalPages: 1,
  });
  t.match((await call('GET', '', { query: { size: '2' }, user: 'nobody' })).body, {
    page: 1,
    total: 0,
    totalPages: 0,
    items: [],
  });
  for (const query of [
    { page: '-1' },
    { size: 'x' },
    { size: ['1', '2'] },
    { sort: 'spec.content' },
    { fieldSelector: 'spec.content=1' },
    { labelSelector: '((' },
    { limit: '1' },
    { continue: 'x' },
  ]) {
    await t.rejects(call('GET', '', { query }), refused(400, 'BadRequest'), JSON.stringify(query));
  }
  await stage.close();
});

test('changes keep the owner and the published state', async (t) => {
  const { stage, own, call, stored } = await staged(t);
  await own.create(
    type,
    post('a', { owner: 'ann', publish: true, publishTime: '2026-01-01T00:00:00Z', content: 'old' }),
  );
  const kept = { owner: 'ann', publish: true, publishTime: '2026-01-01T00:00:00Z' };
  await call('PUT', '/{name}', {
    name: 'a',
    body: post('a', { owner: 'bob', publish: false, publishTime: '2020-01-01T00:00:00Z' }),
  });
  t.same(stored('a').spec, { title: 'a', ...kept }, 'PUT replaces the rest');
  await call('PATCH', '/{name}', {
    name: 'a',
    body: { spec: { owner: null, publish: null, publishTime: null, content: 'new' } },
  });
  t.same(stored('a').spec, { title: 'a', content: 'new', ...kept });
  for (const spec of [null, 'x', []])
    await t.rejects(call('PATCH', '/{name}', { name: 'a', body: { spec } }), refused(422, 'Invalid'));
  await t.rejects(
    call('PATCH', '/{name}', { name: 'a', body: { metadata: { name: 'b' } } }),
    refused(400, 'BadRequest'),
  );
  await t.rejects(
    call('PUT', '/{name}', { name: 'a', body: { metadata: { name: 'a' }, spec: { title: 'x' } } }),
    refused(400, 'BadRequest'),
    'apiVersion and kind are needed',
  );
  t.same(stored('a').spec, { title: 'a', content: 'new', ...kept });
  await stage.close();
});

test('publish and unpublish', async (t) => {
  const { stage, call, stored } = await staged(t);
  await call('POST', '', { body: post('a') });
  const at = (minute: number): string => `2026-01-01T00:0${String(minute)}:00.000Z`;
  t.match(await call('PUT', '/{name}/publish', { name: 'a', time: at(1) }), {
    body: { spec: { publish: true, publishTime: at(1) } },
  });
  const { version } = stored('a').metadata;
  t.match(
    await call('PUT', '/{name}/publish', { name: 'a', time: at(2) }),
    { body: { metadata: { version }, spec: { publishTime: at(1) } } },
    'again: unchanged',
  );
  await t.rejects(
    call('PUT', '/{name}/unpublish', { name: 'a', body: { metadata: { version: version - 1 } } }),
    refused(409, 'Conflict'),
  );
  await call('PUT', '/{name}/unpublish', { name: 'a', body: { metadata: { version } } });
  t.same(stored('a').spec, { title: 'a', owner: 'ann', publish: false });
  await call('PUT', '/{name}/publish', { name: 'a', time: at(3) });
  t.match(stored('a').spec, { publish: true, publishTime: at(3) });
  await stage.close();
});

test('the version in a body must be the current one', async (t) => {
  const { stage, call, stored } = await staged(t);
  await call('POST', '', { body: post('a') });
  const first = stored('a').metadata;
  await call('PATCH', '/{name}', { name: 'a', body: { metadata: { version: first.version }, spec: { title: 'b' } } });
  const { metadata } = stored('a');
  for (const stale of [{ version: first.version }, { resourceVersion: first.resourceVersion }, { uid: 'other' }]) {
    await t.rejects(
      call('PATCH', '/{name}', { name: 'a', body: { metadata: stale, spec: { title: 'c' } } }),
      refused(409, 'Conflict'),
      JSON.stringify(stale),
    );
    await t.rejects(
      call('PUT', '/{name}', { name: 'a', body: post('a', {}, stale) }),
      refused(409, 'Conflict'),
      JSON.stringify(stale),
    );
  }
  await t.rejects(
    call('DELETE', '/{name}', { name: 'a', body: { preconditions: { resourceVersion: first.resourceVersion } } }),
    refused(409, 'Conflict'),
  );
  await t.rejects(
    call('DELETE', '/{name}', { name: 'a', body: { preconditions: { uid: 'other' } } }),
    refused(409, 'Conflict'),
  );
  for (const asks of [{ query: { dryRun: 'All' } }, { body: { dryRun: ['All'] } }, { body: [] }])
    await t.rejects(call('DELETE', '/{name}', { name: 'a', ...asks }), refused(400, 'BadRequest'));
  for (const etag of [`"${String(first.version)}"`, 'W/"1"', '""'])
    await t.rejects(
      call('PATCH', '/{name}', { name: 'a', body: { spec: { title: 'c' } }, headers: { 'if-match': etag } }),
      refused(412, 'PreconditionFailed'),
      etag,
    );
  t.equal(stored('a').metadata.version, metadata.version, 'nothing was written');
  for (const etag of [`"${String(metadata.version)}"`, `"7", "${String(metadata.version)}"`, '*'])
    t.match(
      await call('PATCH', '/{name}', { name: 'a', body: {}, headers: { 'if-match': etag } }),
      { headers: { etag: `"${String(metadata.version)}"` } },
      etag,
    );
  t.match(await call('PUT', '/{name}', { name: 'a', body: post('a', {}, { version: metadata.version }) }), {
    body: { spec: { title: 'a' } },
  });
  const conflicted = await call('DELETE', '/{name}', { name: 'a', body: { preconditions: { uid: metadata.uid } } });
  t.match(conflicted, { body: { metadata: { name: 'a', deletionTimestamp: String } } });
  await stage.close();
});

test('visitors have no posts, as they all share one name', async (t) => {
  const { stage, call } = await staged(t);
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/{name}'],
  ] as const)
    await t.rejects(call(method, path, { user: 'system:anonymous', body: post('a') }), refused(403, 'Forbidden'));
  await stage.close();
});

/** What somebody else does to a post between its being found and its being written, each time it is found. */
function between(
  client: Client,
  act: (time: number) => Promise<unknown>,
): { readonly client: Client; readonly reads: () => number } {
  let reads = 0;
  const get: Client['get'] = async (...asked) => {
    const found = await client.get(...asked);
    reads += 1;
    await act(reads);
    return found;
  };
  return { client: { ...client, get }, reads: () => reads };
}

const writes: readonly (readonly [RouteMethod, string, unknown?])[] = [
  ['PUT', '/{name}', post('a', { content: 'mine' })],
  ['PATCH', '/{name}', { spec: { content: 'mine' } }],
  ['DELETE', '/{name}'],
  ['PUT', '/{name}/publish'],
  ['PUT', '/{name}/unpublish'],
];

test('a post whose owner changes during a write is not written', async (t) => {
  const { stage, own, call, stored } = await staged(t);
  for (const [method, path, body] of writes) {
    const what = `${method} ${path}`;
    await own.create(type, post('a', { owner: 'ann', content: 'first' }));
    let given: unknown;
    const race = between(own, async (time) => {
      if (time === 1) given = await own.patch(type, 'a', { spec: { owner: 'bob' } });
    });
    await t.rejects(call(method, path, { name: 'a', body, client: race.client }), refused(404, 'NotFound'), what);
    t.same(stored('a'), given, what);
    await remove(stage);
  }
  await stage.close();
});

test('the future version of a post that changes its owner does not help', async (t) => {
  const { stage, own, call, stored } = await staged(t);
  await own.create(type, post('a', { owner: 'ann' }));
  const race = between(own, async (time) => {
    if (time === 1) await own.patch(type, 'a', { spec: { owner: 'bob' } });
  });
  await t.rejects(
    call('PUT', '/{name}', { name: 'a', body: post('a', {}, { version: 1 }), client: race.client }),
    refused(404, 'NotFound'),
  );
  t.equal(stored('a').spec.owner, 'bob');
  await stage.close();
});

test('a post changed by another writer is read again, a bounded number of times', async (t) => {
  const { stage, own, call, stored } = await staged(t);
  for (const [method, path, body] of writes) {
    const what = `${method} ${path}`;
    await own.create(type, post('a', { owner: 'ann', publish: method !== 'PUT' || path !== '/{name}/publish' }));
    const race = between(own, async (time) => {
      if (time < 3) await own.patch(type, 'a', { spec: { tags: [`t${String(time)}`] } });
    });
    await call(method, path, { name: 'a', body, client: race.client });
    t.equal(race.reads(), 3, what);
    if (method === 'DELETE') t.equal(stage.object(key, 'a'), undefined, what);
    else if (method !== 'PUT' || path !== '/{name}') t.same(stored('a').spec.tags, ['t2'], `${what} loses nothing`);
    await remove(stage);
  }
  await own.create(type, post('a', { owner: 'ann' }));
  const wild = between(own, async (time) => own.patch(type, 'a', { spec: { tags: [`t${String(time)}`] } }));
  await t.rejects(
    call('PATCH', '/{name}', { name: 'a', body: { spec: { content: 'x' } }, client: wild.client }),
    refused(409, 'Conflict'),
  );
  t.equal(wild.reads(), 8);
  const stale = between(own, async () => undefined);
  await t.rejects(
    call('PATCH', '/{name}', { name: 'a', body: { metadata: { version: 0 } }, client: stale.client }),
    refused(409, 'Conflict'),
  );
  t.equal(stale.reads(), 2, 'what the caller asked of the version is not tried over and over');
  await stage.close();
});

test('concurrent unconditional patches are all kept', async (t) => {
  const { stage, call, stored } = await staged(t);
  await call('POST', '', { body: post('a') });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 6 }, async (_, index) =>
      call('PATCH', '/{name}', {
        name: 'a',
        body: { metadata: { labels: { [`example.com/l${String(index)}`]: '1' } } },
      }),
    ),
  );
  const done = outcomes.filter(({ status }) => status === 'fulfilled').length;
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') t.ok(outcome.reason instanceof ClientError && outcome.reason.status === 409);
  t.equal(Object.keys(stored('a').metadata.labels as object).length, done);
  await stage.close();
});

/** Acts as the collector: removes marked posts, so that the name is free. */
async function remove(stage: Stage): Promise<void> {
  if (stage.object(key, 'a') !== undefined) await stage.write(key, { type: 'delete', name: 'a', preconditions: {} });
}

test('an author cannot set the finalizers and the owner references of a post', async (t) => {
  const { call, stored, own } = await staged(t);
  const held = {
    finalizers: ['example.com/mine'],
    ownerReferences: [{ apiVersion: 'v1alpha1', kind: 'User', name: 'ann', uid: 'u', blockOwnerDeletion: true }],
  };
  const of = () => {
    const { finalizers, ownerReferences } = stored('a').metadata as { finalizers?: unknown; ownerReferences?: unknown };
    return { finalizers, ownerReferences };
  };
  await call('POST', '', { body: post('a', {}, held) });
  t.same(of(), { finalizers: undefined, ownerReferences: undefined }, 'made');
  await call('PATCH', '/{name}', { name: 'a', body: { metadata: { ...held, labels: { 'example.com/l': '1' } } } });
  t.same(of(), { finalizers: undefined, ownerReferences: undefined }, 'patched');
  await call('PUT', '/{name}', { name: 'a', body: post('a', {}, held) });
  t.same(of(), { finalizers: undefined, ownerReferences: undefined }, 'replaced');
  await own.patch(type, 'a', { metadata: { finalizers: ['example.com/theirs'] } });
  await call('PUT', '/{name}', { name: 'a', body: post('a', { title: 'Other' }) });
  await call('PATCH', '/{name}', { name: 'a', body: { metadata: { finalizers: null } } });
  t.same(of(), { finalizers: ['example.com/theirs'], ownerReferences: undefined }, 'nor to take away');
});

const moderated = { visible: 'INTERNAL', deleted: true, pinned: true, priority: 7, releaseSnapshot: 'released' };

test("an author's write keeps what an editor decided about a post", async (t) => {
  const { stage, own, call, stored } = await staged(t);
  await own.create(type, post('a', { owner: 'ann', allowComment: false, ...moderated }));
  await call('PUT', '/{name}', { name: 'a', body: post('a', { content: 'replaced' }) });
  t.same(stored('a').spec, { title: 'a', content: 'replaced', owner: 'ann', ...moderated }, 'PUT without them');
  await call('PATCH', '/{name}', { name: 'a', body: { spec: { content: 'patched' } } });
  await call('PUT', '/{name}/publish', { name: 'a' });
  t.match(stored('a').spec, { content: 'patched', publish: true, ...moderated }, 'PATCH and publish');
  const { body } = await call('GET', '/{name}', { name: 'a' });
  const read = body as { readonly spec: object };
  await call('PUT', '/{name}', { name: 'a', body: { ...read, spec: { ...read.spec, title: 'b' } } });
  t.match(stored('a').spec, { title: 'b', ...moderated }, 'PUT of the post as it was read');
  await stage.close();
});

test('an author who sets a member of the editors is refused, and nothing is written', async (t) => {
  const { stage, own, call, stored } = await staged(t);
  await own.create(type, post('moderated', { owner: 'ann', ...moderated }));
  await own.create(type, post('plain', { owner: 'ann' }));
  const before = [stored('moderated'), stored('plain')];
  const others = { visible: 'PRIVATE', deleted: true, pinned: true, priority: -1, releaseSnapshot: 'x' };
  const neutral = { visible: 'PUBLIC', deleted: false, pinned: false, priority: 0, releaseSnapshot: '' };
  const cases: readonly (readonly [name: string, values: object])[] = [
    ['moderated', neutral],
    ['moderated', Object.fromEntries(Object.keys(neutral).map((member) => [member, null]))],
    ['plain', others],
  ];
  for (const [name, values] of cases) {
    for (const [member, value] of Object.entries(values) as readonly (readonly [string, unknown])[]) {
      const error = { ...refused(422, 'Invalid'), errors: [{ pointer: `/spec/${member}` }] };
      const spec = { [member]: value };
      await t.rejects(call('PATCH', '/{name}', { name, body: { spec } }), error, `PATCH ${name} ${member}`);
      await t.rejects(call('PUT', '/{name}', { name, body: post(name, spec) }), error, `PUT ${name} ${member}`);
      if (name === 'plain') await t.rejects(call('POST', '', { body: post('new', spec) }), error, `POST ${member}`);
    }
  }
  const all = await call('POST', '', { body: post('new', others) }).catch((raised: unknown) => raised);
  t.match(all, { errors: Object.keys(others).map((member) => ({ pointer: `/spec/${member}` })) });
  t.same([stored('moderated'), stored('plain')], before);
  t.equal(stored('new'), undefined);
  t.match(await call('POST', '', { body: post('new', neutral) }), { status: 201 }, 'the values that change nothing');
  await call('PATCH', '/{name}', { name: 'plain', body: { spec: { ...neutral, pinned: null } } });
  t.same(stored('plain').spec, { title: 'plain', owner: 'ann' }, 'and they are not written');
  await stage.close();
});
