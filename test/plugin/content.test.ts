import { join } from 'node:path';

import { test, type Test } from 'tap';

import { comment, type Comment } from '../../plugins/content/comment.ts';
import { excerptOf, permalinkOf, readingMinutesOf } from '../../plugins/content/post-text.ts';
import { post } from '../../plugins/content/post.ts';
import { searchWords } from '../../plugins/content/search-words.ts';
import { startPlugin, type PluginTest, type TestCaller } from '../../src/sdk/testing.ts';
import { repository } from '../architecture/repository.ts';

const domain = 'svc.run';
const [posts, comments] = [post(domain), comment(domain)];
const [open, own, console] = ['api', 'uc.api', 'console.api'].map(
  (audience) => `/apis/${audience}.content.${domain}/v1alpha1`,
) as [string, string, string];

async function started(t: Test): Promise<PluginTest> {
  const plugin = await startPlugin({ folder: join(repository, 'dist', 'plugins', 'content'), bundled: 'itself' });
  t.teardown(() => plugin.stop());
  return plugin;
}

async function answered(
  caller: TestCaller,
  method: string,
  path: string,
  body?: unknown,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- matched, not typed
): Promise<{ readonly status: number; readonly body: any }> {
  const answer = await caller.fetch(path, { method, ...(body === undefined ? {} : { body }) });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

test('the excerpt of a text and its reading time', async (t) => {
  t.equal(excerptOf('# A <b>bold</b> start\n\nand *more*'), 'A bold start and more');
  t.equal(excerptOf(''), '');
  t.match(excerptOf('word '.repeat(100)), /^(?:word ){39}word…$/u);
  t.match(excerptOf('x'.repeat(300)), /^x{200}…$/u);
  t.equal(excerptOf(`${'x'.repeat(199)}😀😀`), `${'x'.repeat(199)}…`, 'no half characters');
  t.same(
    [
      readingMinutesOf(''),
      readingMinutesOf('one'),
      readingMinutesOf('w '.repeat(200)),
      readingMinutesOf('w '.repeat(201)),
      readingMinutesOf('字'.repeat(201)),
    ],
    [0, 1, 1, 2, 2],
  );
  t.same([permalinkOf('a', undefined), permalinkOf('a', 'b')], ['/posts/a', '/posts/b']);
});

test("a post's status follows its text, its slug and its comments, and is written only on a change", async (t) => {
  const { client, settled } = await started(t);
  await client.create(posts, { metadata: { name: 'a' }, spec: { title: 'A', content: 'Some text.', publish: true } });
  await settled();
  t.same((await client.get(posts, 'a'))?.status, {
    permalink: '/posts/a',
    excerpt: 'Some text.',
    readingMinutes: 1,
    comments: 0,
  });
  await client.patch(posts, 'a', { spec: { slug: 'a-post', content: null } });
  await client.create(comments, { metadata: { name: 'c' }, spec: { post: 'a', text: 'Well.', state: 'approved' } });
  await settled();
  const kept = await client.get(posts, 'a');
  t.same(kept?.status, { permalink: '/posts/a-post', excerpt: '', readingMinutes: 0, comments: 1 });
  t.match(kept?.metadata.finalizers, [`content.${domain}/comments`]);
  await settled();
  t.equal((await client.get(posts, 'a'))?.metadata.version, kept?.metadata.version, 'nothing more is written');
  await client.patchStatus(posts, 'a', { status: { excerpt: 'made up' } });
  await settled();
  t.equal((await client.get(posts, 'a'))?.status?.excerpt, '', 'what somebody else wrote there is put right');
  await client.patch(comments, 'c', { spec: { state: 'spam' } });
  await settled();
  t.equal((await client.get(posts, 'a'))?.status?.comments, 0);
});

test('a comment belongs to its post, in either order of creation', async (t) => {
  const { client, settled } = await started(t);
  await client.create(comments, { metadata: { name: 'early' }, spec: { post: 'a', text: 'First!' } });
  await settled();
  t.equal((await client.get(comments, 'early'))?.metadata.ownerReferences, undefined);
  const {
    metadata: { uid },
  } = await client.create(posts, { metadata: { name: 'a' }, spec: { title: 'A' } });
  await client.create(comments, { metadata: { name: 'late' }, spec: { post: 'a', text: 'Last.' } });
  await settled();
  for (const name of ['early', 'late'])
    t.match((await client.get(comments, name))?.metadata.ownerReferences, [{ kind: 'Post', name: 'a', uid }], name);
});

test('a post is deleted after its comments, in any number', async (t) => {
  const { client, settled } = await started(t);
  await client.create(posts, { metadata: { name: 'a' }, spec: { title: 'A' } });
  await client.create(posts, { metadata: { name: 'b' }, spec: { title: 'B' } });
  for (let index = 0; index < 130; index += 1)
    await client.create(comments, { metadata: { name: `c${String(index)}` }, spec: { post: 'a', text: 'x' } });
  await client.create(comments, { metadata: { name: 'other' }, spec: { post: 'b', text: 'x' } });
  await settled();
  await client.delete(posts, 'a');
  await settled();
  t.same(
    (await client.list(posts)).items.map(({ metadata }) => metadata.name),
    ['b'],
  );
  t.same(
    (await client.list(comments)).items.map(({ metadata }) => metadata.name),
    ['other'],
  );
});

test('readers see approved comments on published posts; submissions of authenticated users are pending', async (t) => {
  const plugin = await started(t);
  const { client, visitor, settled } = plugin;
  for (const [name, publish] of [
    ['open', true],
    ['draft', false],
  ] as const)
    await client.create(posts, { metadata: { name }, spec: { title: name, publish } });
  const ann = await plugin.as('ann');
  const made = await answered(ann, 'POST', `${open}/posts/open/comments`, { text: 'Hello.' });
  t.match(made, { status: 201, body: { author: 'ann', text: 'Hello.', state: 'pending' } });
  t.equal((await answered(visitor, 'POST', `${open}/posts/open/comments`, { text: 'Hello.' })).status, 401);
  t.equal((await answered(ann, 'POST', `${open}/posts/draft/comments`, { text: 'Hello.' })).status, 404);
  t.equal((await answered(ann, 'POST', `${open}/posts/open/comments`, { text: '' })).status, 422);
  t.equal((await answered(ann, 'POST', `${open}/posts/open/comments`)).status, 422);
  t.match(await answered(visitor, 'GET', `${open}/posts/open/comments`), {
    status: 200,
    body: { total: 0, items: [] },
  });
  t.equal((await answered(visitor, 'GET', `${open}/posts/draft/comments`)).status, 404);
  await client.patch(comments, String(made.body.name), { spec: { state: 'approved' } });
  t.match(await answered(visitor, 'GET', `${open}/posts/open/comments`), {
    body: { total: 1, items: [{ author: 'ann', text: 'Hello.' }] },
  });
  await settled();
  t.match(await answered(visitor, 'GET', `${open}/posts/open`), { body: { comments: 1, permalink: '/posts/open' } });
  t.equal((await answered(visitor, 'GET', `${open}/posts/open/comments?size=101`)).status, 400);
});

test('a post or a comment that is being deleted is not public', async (t) => {
  const plugin = await started(t);
  const { client, visitor, settled } = plugin;
  const held = { finalizers: ['example.com/held'] };
  for (const name of ['gone', 'kept'])
    await client.create(posts, {
      metadata: { name, ...held },
      spec: { title: name, publish: true, tags: [name] },
    });
  for (const name of ['gone-comment', 'kept-comment'])
    await client.create(comments, {
      metadata: { name, ...held },
      spec: { post: 'kept', text: name, state: 'approved' },
    });
  await settled();
  await client.delete(posts, 'gone');
  await client.delete(comments, 'gone-comment');
  await settled();
  t.type((await client.get(posts, 'gone'))?.metadata.deletionTimestamp, 'string');
  t.type((await client.get(comments, 'gone-comment'))?.metadata.deletionTimestamp, 'string');
  t.match(await answered(visitor, 'GET', `${open}/posts`), {
    body: { total: 1, items: [{ name: 'kept', comments: 1 }] },
  });
  t.match(await answered(visitor, 'GET', `${open}/posts?tag=gone`), { body: { total: 0, items: [] } });
  t.same((await answered(visitor, 'GET', `${open}/tags`)).body.items, [{ tag: 'kept', posts: 1 }]);
  t.equal((await answered(visitor, 'GET', `${open}/posts/gone`)).status, 404);
  t.match(await answered(visitor, 'GET', `${open}/posts/kept/comments`), {
    body: { total: 1, items: [{ name: 'kept-comment' }] },
  });
});

test("one's own comments can be read and deleted, nobody else's", async (t) => {
  const plugin = await started(t);
  await plugin.client.create(posts, { metadata: { name: 'a' }, spec: { title: 'A', publish: true } });
  const [ann, bob] = [await plugin.as('ann'), await plugin.as('bob')];
  const {
    body: { name },
  } = await answered(ann, 'POST', `${open}/posts/a/comments`, { text: 'Mine.' });
  const path = `${own}/comments/${String(name)}`;
  t.match(await answered(ann, 'GET', `${own}/comments`), {
    body: { kind: 'CommentList', total: 1, items: [{ spec: { text: 'Mine.', state: 'pending' } }] },
  });
  t.match(await answered(bob, 'GET', `${own}/comments`), { body: { total: 0 } });
  t.same(
    [
      (await answered(bob, 'GET', path)).status,
      (await answered(bob, 'DELETE', path)).status,
      (await answered(ann, 'GET', path)).status,
    ],
    [404, 404, 200],
  );
  t.equal((await answered(plugin.visitor, 'GET', `${own}/comments`)).status, 401);
  t.match(await answered(ann, 'DELETE', path), { status: 200, body: { metadata: { deletionTimestamp: String } } });
  await plugin.settled();
  t.equal((await answered(ann, 'GET', path)).status, 404);
});

test('moderators list pending comments and approve or reject them', async (t) => {
  const plugin = await started(t);
  const { client } = plugin;
  await client.create(posts, { metadata: { name: 'a' }, spec: { title: 'A', publish: true } });
  await client.create(posts, { metadata: { name: 'b' }, spec: { title: 'B' } });
  for (const name of ['one', 'two', 'three'])
    await client.create(comments, { metadata: { name }, spec: { post: name === 'three' ? 'b' : 'a', text: name } });
  const mod = await plugin.as('mod', { roles: ['content-comments-moderate'] });
  const names = async (query: string): Promise<readonly string[]> =>
    ((await answered(mod, 'GET', `${console}/comments${query}`)).body as { items: Comment[] }).items.map(
      ({ metadata }) => metadata.name,
    );
  t.same(await names(''), ['one', 'two', 'three']);
  t.same(await names('?post=b'), ['three']);
  t.match(await answered(mod, 'PUT', `${console}/comments/one/approve`), {
    status: 200,
    body: { spec: { state: 'approved', text: 'one' } },
  });
  t.equal((await answered(mod, 'PUT', `${console}/comments/two/spam`)).status, 200);
  t.same(
    [await names('?state=approved'), await names('?state=spam'), await names('?state=pending')],
    [['one'], ['two'], ['three']],
  );
  t.match(await answered(mod, 'GET', `${console}/counts`), {
    body: { posts: { published: 1, unpublished: 1 }, comments: { pending: 1, approved: 1, spam: 1 } },
  });
  t.match(await answered(mod, 'PUT', `${console}/comments/one/unapprove`), { body: { spec: { state: 'pending' } } });
  t.same(
    [
      (await answered(mod, 'PUT', `${console}/comments/none/approve`)).status,
      (await answered(mod, 'GET', `${console}/comments?state=x`)).status,
    ],
    [404, 400],
  );
  await t.rejects(mod.client.patch(comments, 'one', { spec: { text: 'rewritten' } }), {
    name: 'ClientError',
    status: 403,
    reason: 'Forbidden',
  });
  t.equal((await answered(await plugin.as('ann'), 'GET', `${console}/comments`)).status, 403);
});

test('editors publish the version that they have read, at the time of the server', async (t) => {
  const plugin = await started(t);
  const editor = await plugin.as('ed', { roles: ['post-editor'] });
  const author = await plugin.as('ann', { roles: ['post-contributor'] });
  const post = { metadata: { name: 'a' }, spec: { title: 'A', submitted: true } };
  t.match(await answered(author, 'POST', `${own}/posts`, post), { status: 201, body: { spec: { submitted: true } } });
  await plugin.settled();
  const version = async () => ({
    metadata: { resourceVersion: (await plugin.client.get(posts, 'a'))!.metadata.resourceVersion },
  });
  const path = `${console}/posts/a`;
  const read = await version();
  t.equal((await answered(author, 'PUT', `${path}/publish`, read)).status, 403);
  for (const body of [undefined, {}, { metadata: {} }, { metadata: { resourceVersion: 1 } }])
    t.equal(Math.trunc((await answered(editor, 'PUT', `${path}/publish`, body)).status / 100), 4);
  t.match(await answered(editor, 'PUT', `${path}/publish`, read), {
    status: 200,
    body: { spec: { publish: true, publishTime: String, submitted: undefined } },
  });
  t.match(await answered(editor, 'PUT', `${path}/unpublish`, read), { status: 409, body: { reason: 'Conflict' } });
  await plugin.settled();
  const { body } = await answered(editor, 'PUT', `${path}/unpublish`, await version());
  t.match(body, { spec: { publish: false, publishTime: undefined, submitted: undefined } });
  t.equal((await answered(editor, 'PUT', `${console}/posts/none/publish`, read)).status, 404);
});

test('posts are found by the beginnings of the words of their titles and tags', async (t) => {
  const { client } = await started(t);
  const tags = ['Release notes'];
  await client.create(posts, { metadata: { name: 'a' }, spec: { title: 'The Ledger’s 2nd year, in Zürich', tags } });
  await client.create(posts, { metadata: { name: 'b' }, spec: { title: '控制面板v2入门', content: 'ledger' } });
  const found = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await client.list(posts, { fieldSelector: words.map((word) => `words^=${word}`) })).items.map(
      ({ metadata }) => metadata.name,
    );
  for (const words of [['led'], ['year', 'the'], ['2nd'], ['zür'], ['notes', 'rel']])
    t.same(await found(...words), ['a'], words.join(' '));
  for (const words of [['控制'], ['面板'], ['v2'], ['门']]) t.same(await found(...words), ['b'], words.join(' '));
  for (const words of [['edger'], ['led', 'none'], ['制控']]) t.same(await found(...words), [], words.join(' '));
  t.equal(searchWords([Array.from({ length: 500 }, (_, index) => `w${String(index)}`).join(' ')]).length, 200);
  t.equal(searchWords(['字'.repeat(200)]).length, 12);
});

test('every route refuses a dry run and a past state in any spelling, and writes nothing', async (t) => {
  const plugin = await started(t);
  const author = await plugin.as('ann', { roles: ['post-author', 'content-comments-moderate'] });
  const post = { metadata: { name: 'a' }, spec: { title: 'A' } };
  t.equal((await answered(author, 'POST', `${own}/posts`, post)).status, 201);
  t.equal((await answered(author, 'PUT', `${own}/posts/a/publish`)).status, 200);
  const {
    body: { name },
  } = await answered(author, 'POST', `${open}/posts/a/comments`, { text: 'Mine.' });
  await plugin.settled();
  const state = async (): Promise<unknown> => [
    await plugin.client.list(posts),
    (await plugin.client.list(comments)).items,
  ];
  const before = await state();
  const writes: readonly (readonly [string, string, unknown?])[] = [
    ['POST', `${own}/posts`, { metadata: { name: 'b' }, spec: { title: 'B' } }],
    ['PUT', `${own}/posts/a`, { ...post, spec: { title: 'C' } }],
    ['PATCH', `${own}/posts/a`, { spec: { title: 'C' } }],
    ['DELETE', `${own}/posts/a`],
    ['PUT', `${own}/posts/a/unpublish`],
    ['POST', `${open}/posts/a/comments`, { text: 'Two.' }],
    ['DELETE', `${own}/comments/${String(name)}`],
    ['PUT', `${console}/comments/${String(name)}/approve`],
  ];
  for (const [method, path, body] of writes) {
    for (const query of ['dryRun=All', 'dryrun=All', 'DRY-RUN=All', 'dry_run=', 'at=1']) {
      t.match(
        await answered(author, method, `${path}?${query}`, body),
        { status: 400, body: { reason: 'BadRequest' } },
        `${method} ${path}?${query}`,
      );
    }
  }
  for (const path of [
    `${own}/posts`,
    `${own}/comments`,
    `${open}/posts`,
    `${open}/posts/a`,
    `${open}/posts/a/comments`,
    `${open}/tags`,
    `${console}/comments`,
    `${console}/counts`,
  ]) {
    t.equal((await answered(author, 'GET', `${path}?At=1`)).status, 400, path);
  }
  await plugin.settled();
  t.same(await state(), before);
});

test("a watch of one's own posts or comments is refused: it would be a list", async (t) => {
  const author = await (await started(t)).as('ann', { roles: ['post-author'] });
  for (const plural of ['posts', 'comments']) {
    for (const watch of ['true', '1', 'TRUE', '', 'true&watch=false']) {
      const { status, body } = await answered(author, 'GET', `${own}/${plural}?watch=${watch}`);
      t.match({ status, body }, { status: 400, body: { message: /^watch is not supported/u } }, `${plural} ${watch}`);
    }
    for (const query of ['', '?watch=false', '?watch=0', '?watch=False']) {
      t.equal((await answered(author, 'GET', `${own}/${plural}${query}`)).status, 200, `${plural}${query}`);
    }
  }
});
