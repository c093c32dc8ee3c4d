/** The user's own posts and comments at /uc/, with the pictures of docs/console.md. */
import t, { test } from 'tap';
import type { Page } from 'playwright-core';

import { Administration, as, passwordOf } from '../../support/server/administration.ts';
import { withBrowser } from '../support/browser.ts';
import { document } from '../support/documented.ts';
import { Stage } from '../support/stage.ts';
import { checkLook, commentsPath, createPost, isNarrow, person } from './authors.ts';

const stage = new Stage(t);
const content = [
  'Everything that the server knows is in one log. It has grown by a million events this year, and each of them can',
  'still be read, with its author, its time and its cause. The tables that answer requests are derived from it.',
  '',
  '## What follows',
  '',
  '- **Replays** rebuild each table.',
  '- *Watches* continue from any position.',
  '',
  '> Nothing is ever overwritten.',
].join('\n');
t.before(async () => {
  if (withBrowser.skip !== undefined) return;
  const { url } = stage.server;
  await person(url, 'ann', 'post-author');
  await person(url, 'ed', 'post-editor');
  const published = { publish: true, publishTime: '2026-01-01T00:00:00Z' };
  await createPost(url, 'ledgers', { title: 'A year of ledgers', content, owner: 'ann', tags: ['log', 'year'] });
  await createPost(url, 'harvest', { title: 'The harvest', content, owner: 'bob', ...published });
  await createPost(url, 'recipe', { title: 'A recipe', content: 'Salt *to taste*.', owner: 'bob', ...published });
});

const visit = { user: 'ann', password: passwordOf('ann') };

async function comment(user: string, post: string, text: string): Promise<string> {
  const path = `/apis/api.content.svc.run/v1alpha1/posts/${post}/comments`;
  const answered = await new Administration(stage.server.url).call('POST', path, { text }, { headers: as(user) });
  return (JSON.parse(answered.text) as { readonly name: string }).name;
}

async function judge(name: string, action: 'approve' | 'spam'): Promise<void> {
  const path = `/apis/console.api.content.svc.run/v1alpha1/comments/${name}/${action}`;
  await new Administration(stage.server.url).call('PUT', path);
}

/** Returns the list that fills with the lists of posts that the page has read. */
function readLists(page: Page): Promise<string>[] {
  const lists: Promise<string>[] = [];
  page.on('response', (response) => {
    if (/\/posts\?/u.test(response.url()) && !response.url().includes('watch')) lists.push(response.text());
  });
  return lists;
}

test('an author finds and edits the own posts, whose lists have no texts', withBrowser, async (t) => {
  await stage.visit(t, visit, async ({ page, open, picture }) => {
    const lists = readLists(page);
    await page.goto('/uc/');
    await page.getByRole('heading', { level: 1, name: 'Your things' }).waitFor();
    await checkLook(t, page);
    await picture('content-own-start');
    await page.getByRole('main').getByRole('link', { name: 'My posts' }).click();
    await page.getByRole('link', { name: 'A year of ledgers' }).waitFor();
    await page.getByText('#year').waitFor();
    t.ok(lists.length > 0);
    t.notOk((await Promise.all(lists)).some((list) => list.includes('ever overwritten')));
    await page.getByRole('link', { name: 'A year of ledgers' }).click();
    await page.getByRole('article', { name: 'Preview' }).getByText('Nothing is ever overwritten.').waitFor();
    await document(page, 'post', 700);
    await open('/uc/content?q=ledg');
    await page.getByText('one post', { exact: true }).waitFor();
  });
  await stage.visit(t, { user: 'ed', password: passwordOf('ed') }, async ({ page, open }) => {
    const lists = readLists(page);
    await open('/apps/content/posts');
    await page.getByRole('link', { name: 'The harvest' }).waitFor();
    t.ok(lists.length > 0);
    t.notOk((await Promise.all(lists)).some((list) => list.includes('ever overwritten')));
  });
});

test('users see the states of their comments, follow them to the posts, and withdraw them', withBrowser, async (t) => {
  await comment('ed', 'harvest', 'Of somebody else');
  await judge(await comment('ann', 'harvest', 'We had more apples than ever.'), 'approve');
  await judge(await comment('ann', 'recipe', 'Buy salt here: https://salt.example'), 'spam');
  const waiting = await comment('ann', 'recipe', 'Half of the salt\nis enough.');
  await stage.visit(t, visit, async ({ page, open, picture }) => {
    await open('/uc/content/comments');
    const row = (text: string) => page.getByRole('listitem').filter({ hasText: text });
    await row('more apples').getByText('Approved').waitFor();
    await row('Buy salt').getByText('Refused').waitFor();
    await row('Half of the salt').getByText('Waiting').waitFor();
    await row('more apples').getByRole('link', { name: 'The harvest' }).waitFor();
    await page.getByText('3 comments', { exact: true }).waitFor();
    t.equal(await row('Of somebody else').count(), 0);
    t.equal(await page.getByRole('link', { name: 'My posts' }).getAttribute('aria-current'), null);
    await checkLook(t, page);
    await document(page, 'comments');
    await page.setViewportSize({ width: 320, height: 700 });
    t.equal(await isNarrow(page), true);
    await picture('content-own-comments-320');
    await page.setViewportSize({ width: 1_280, height: 800 });
    await judge(waiting, 'approve');
    await row('Half of the salt').getByText('Approved').waitFor();

    await row('Half of the salt').getByRole('link', { name: 'A recipe' }).click();
    await page.getByRole('heading', { level: 1, name: 'A recipe' }).waitFor();
    await page.locator('em').getByText('to taste').waitFor();
    await checkLook(t, page);
    await picture('content-reading');
    await page.goBack();
    const states = page.getByRole('navigation', { name: 'States of comments' });
    await states.getByRole('link', { name: 'Refused' }).click();
    await page.getByText('one comment', { exact: true }).waitFor();
    await row('Buy salt').getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await page.getByText('The comment is withdrawn').waitFor();
    await page.getByText('No refused comments').waitFor();
    const { text } = await new Administration(stage.server.url).call('GET', commentsPath);
    t.notMatch(text, /Buy salt/u);
    await open('/uc/content/read/ledgers');
    await page.getByText('The post does not exist, or it is not public').waitFor();
  });
});
