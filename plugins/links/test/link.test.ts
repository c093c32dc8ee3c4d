import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { startPlugin, type PluginTest } from 'ledgerplane/testing';

import { linkGroup } from '../src/link-group.ts';
import { link } from '../src/link.ts';

const api = '/apis/api.links.example.com/v1alpha1';
const links = '/apis/links.example.com/v1beta1/links';

/** A real server with this plugin alone. The compiled test is in dist/test. */
let plugin: PluginTest;
before(async () => {
  plugin = await startPlugin({ folder: new URL('../..', import.meta.url) });
});
after(async () => {
  await plugin.stop();
});

function specOf(slug: string, more: object = {}): object {
  return { groupName: 'welcome', slug, title: slug, target: 'https://example.com', ...more };
}

async function create(slug: string, more: object = {}): Promise<void> {
  await plugin.client.create(link, { metadata: { name: slug }, spec: specOf(slug, more) });
}

/** Returns the pointers of the problems for which the server refuses a link. */
async function problemsOf(more: object): Promise<readonly string[]> {
  const body = { metadata: { generateName: 'bad-' }, spec: specOf('bad', more) };
  const answer = await plugin.fetch(links, { method: 'POST', body });
  assert.equal(answer.status, 422);
  const { errors } = (await answer.json()) as { readonly errors: readonly { readonly pointer: string }[] };
  return errors.map(({ pointer }) => pointer);
}

/** Follows a link, and returns the status and the location of the answer. */
async function follow(slug: string): Promise<string> {
  const answer = await fetch(`${plugin.url}${api}/go/${slug}`, { redirect: 'manual' });
  await answer.arrayBuffer();
  return `${String(answer.status)} ${answer.headers.get('location') ?? ''}`.trim();
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(50);
}

test('the plugin comes with a group and a link, which have their defaults', async () => {
  await plugin.settled();
  assert.deepEqual((await plugin.client.get(linkGroup, 'welcome'))?.spec, { title: 'Welcome', description: '' });
  const docs = await plugin.client.get(link, 'docs');
  assert.equal(docs?.spec.priority, 50);
  assert.deepEqual(docs.metadata.finalizers, ['links.example.com/retiring']);
});

test('wrong links are refused, each with the place of its problem', async () => {
  assert.deepEqual(await problemsOf({ groupName: 'none' }), ['/spec/groupName']);
  assert.deepEqual(await problemsOf({ target: 'example.com' }), ['/spec/target']);
  assert.deepEqual(await problemsOf({ target: 'https://user:secret@example.com' }), ['/spec/target']);
  const [validFrom, validUntil] = ['2026-02-01T00:00:00Z', '2026-01-01T00:00:00Z'];
  assert.deepEqual(await problemsOf({ validFrom, validUntil }), ['/spec/validUntil']);
  const second = { metadata: { name: 'second' }, spec: specOf('docs') };
  assert.equal((await plugin.fetch(links, { method: 'POST', body: second })).status, 409);
});

test('clicks are counted, all of them, however many come at once', async () => {
  await create('busy');
  const followed = await Promise.all(Array.from({ length: 50 }, async () => follow('busy')));
  assert.deepEqual(new Set(followed), new Set(['302 https://example.com']));
  await until(async () => (await plugin.client.get(link, 'busy'))?.status?.clicks === 50);
  const history = (await (await plugin.fetch(`${links}/busy/history`)).json()) as { readonly items: readonly object[] };
  assert.ok(history.items.length < 25, 'fifty clicks are only a few events');
});

test('a link that is not valid yet does not exist, and one that is over is gone', async () => {
  await create('early', { validFrom: '2999-01-01T00:00:00Z' });
  await create('late', { validUntil: '2001-01-01T00:00:00Z' });
  assert.deepEqual([await follow('early'), await follow('late'), await follow('none')], ['404', '410', '404']);
});

test('the slug of a deleted link is gone, and free after its time', async () => {
  await create('old');
  await plugin.client.delete(link, 'old');
  assert.equal(await follow('old'), '410');
  await assert.rejects(create('old'), { status: 409 });
  await plugin.client.patch(link, 'old', { spec: { goneSeconds: 0 } });
  await until(async () => (await plugin.client.get(link, 'old')) === undefined);
  await create('old');
});

test('a group counts its links, and is deleted together with them', async () => {
  await plugin.client.create(linkGroup, { metadata: { name: 'team' }, spec: { title: 'Team' } });
  for (const slug of ['one', 'two']) await create(slug, { groupName: 'team', goneSeconds: 0 });
  await plugin.settled();
  assert.equal((await plugin.client.get(linkGroup, 'team'))?.status?.links, 2);
  await plugin.client.delete(linkGroup, 'team');
  await until(async () => (await plugin.client.get(link, 'two')) === undefined);
  await until(async () => (await plugin.client.get(linkGroup, 'team')) === undefined);
});

test('an import reports the outcome of each link', async () => {
  const editor = await plugin.as('editor', { roles: ['links-editor'] });
  const body = {
    groupName: 'welcome',
    links: [
      { slug: 'news', title: 'News', target: 'https://example.com/news' },
      { slug: 'bad', title: 'Bad' },
    ],
  };
  const send = async (): Promise<unknown> =>
    (await editor.fetch(`${api}/links/-/import`, { method: 'POST', body })).json();
  const problem = {
    status: 422,
    reason: 'Invalid',
    message: 'Link.links.example.com "bad" is invalid: spec.target: is required',
  };
  const refused = { slug: 'bad', outcome: 'refused', problem };
  assert.deepEqual(await send(), {
    created: 1,
    existing: 0,
    refused: 1,
    links: [{ slug: 'news', outcome: 'created' }, refused],
  });
  assert.deepEqual(await send(), {
    created: 0,
    existing: 1,
    refused: 1,
    links: [{ slug: 'news', outcome: 'exists' }, refused],
  });
  const viewer = await plugin.as('viewer', { roles: ['links-viewer'] });
  assert.equal((await viewer.fetch(`${api}/links/-/import`, { method: 'POST', body })).status, 403);
});

test('the most clicked links of a group are streamed to viewers', async () => {
  await plugin.client.create(linkGroup, { metadata: { name: 'seen' }, spec: { title: 'Seen' } });
  await create('popular', { groupName: 'seen' });
  const viewer = await plugin.as('viewer', { roles: ['links-viewer'] });
  const stream = await viewer.fetch(`${api}/linkgroups/seen/top`, { headers: { accept: 'text/event-stream' } });
  await follow('popular');
  let text = '';
  const decoder = new TextDecoder();
  for await (const part of stream.body ?? []) {
    text += decoder.decode(part as Uint8Array, { stream: true });
    if (text.includes('popular')) break;
  }
  assert.match(text, /event: top\ndata: \[\]\n\n(:\n\n)*event: top\ndata: \[\{"slug":"popular","clicks":1\}\]/u);
});

test('users with the role have their own links', async () => {
  const own = '/apis/uc.api.links.example.com/v1beta1/links';
  const [ann, bob] = [
    await plugin.as('ann', { roles: ['links-own'] }),
    await plugin.as('bob', { roles: ['links-own'] }),
  ];
  const body = { metadata: { name: 'mine' }, spec: specOf('mine') };
  assert.equal((await ann.fetch(own, { method: 'POST', body })).status, 201);
  assert.equal((await plugin.client.get(link, 'mine'))?.spec.owner, 'ann');
  assert.equal((await bob.fetch(`${own}/mine`)).status, 404);
  assert.equal((await bob.fetch(links)).status, 403);
});
