import t, { test } from 'tap';

import { Administration, as, passwordOf } from '../../support/server/administration.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';
import { checkLook, commentsPath, createPost, isNarrow, person } from './authors.ts';

const stage = new Stage(t);
t.before(async () => {
  if (withBrowser.skip !== undefined) return;
  const { url } = stage.server;
  await person(url, 'mod', 'content-comments-moderate');
  await person(url, 'ed', 'content-comments-manage', 'content-posts-view');
  await person(url, 'ann');
  for (const [name, title] of [
    ['news', 'The news'],
    ['recipe', 'A recipe'],
  ])
    await createPost(url, name ?? '', { title, publish: true, publishTime: '2026-01-01T00:00:00Z' });
});

/** Submits a comment as a reader does. */
async function comment(post: string, text: string): Promise<void> {
  const path = `/apis/api.content.svc.run/v1alpha1/posts/${post}/comments`;
  await new Administration(stage.server.url).call('POST', path, { text }, { headers: as('ann') });
}

async function stateOf(text: string): Promise<string | undefined> {
  const { text: answer } = await new Administration(stage.server.url).call('GET', commentsPath);
  const { items } = JSON.parse(answer) as { items: readonly { spec: { text: string; state: string } }[] };
  return items.find(({ spec }) => spec.text === text)?.spec.state;
}

test('a moderator judges comments as they arrive, one by one and many at once', withBrowser, async (t) => {
  await stage.visit(t, { user: 'mod', password: passwordOf('mod') }, async ({ page, open, picture }) => {
    await open('/apps/content/comments');
    await page.getByText('No comment is waiting').waitFor();
    await checkLook(t, page);
    t.equal(await page.getByRole('link', { name: 'Posts', exact: true }).count(), 0);
    await comment('news', 'Well said.');
    await comment('news', 'Buy now\n<script>alert(1)</script>');
    await comment('recipe', 'Too much salt.');
    await page.getByText('3 comments', { exact: true }).waitFor();
    await checkLook(t, page);
    await picture('content-comments');
    const row = (text: string) => page.getByRole('listitem').filter({ hasText: text });
    t.equal(await row('Well said.').getByRole('button', { name: 'Delete' }).count(), 0);
    await row('Well said.').getByRole('button', { name: 'Approve' }).click();
    await page.getByText('One comment approved').waitFor();
    await row('Well said.').waitFor({ state: 'detached' });
    t.equal(await stateOf('Well said.'), 'approved');
    await row('Too much salt.').getByRole('link', { name: 'A recipe' }).click();
    await page.getByText('one comment', { exact: true }).waitFor();
    await page.getByText('On “A recipe”').waitFor();
    await page.getByRole('link', { name: 'All posts' }).click();
    await page.getByText('2 comments', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Choose all' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('2 chosen').waitFor();
    await picture('content-comments-chosen');
    const bulk = page.getByRole('group', { name: 'Chosen comments' });
    await bulk.getByRole('button', { name: 'Refuse' }).press('Enter');
    await page.getByText('2 comments refused').waitFor();
    await page.getByText('No comment is waiting').waitFor();
    t.equal(await stateOf('Too much salt.'), 'spam');
    await page.getByRole('link', { name: 'Refused' }).click();
    await row('Too much salt.').getByRole('button', { name: 'Back to waiting' }).click();
    await page.getByRole('link', { name: 'Waiting' }).click();
    await row('Too much salt.').waitFor();
    await page.setViewportSize({ width: 320, height: 700 });
    t.equal(await isNarrow(page), true);
    await picture('content-comments-320');
  });
});

test('who manages comments sees the titles of posts, changes live, and deletes', withBrowser, async (t) => {
  await comment('news', 'To be deleted');
  const visit = { user: 'ed', password: passwordOf('ed'), language: 'zh-CN' };
  await stage.visit(t, visit, async ({ page, open, picture }) => {
    await open('/apps/content/comments?post=news');
    await page.getByText('To be deleted').waitFor();
    await page.getByText('关于“The news”').waitFor();
    await comment('news', 'Just now');
    await page.getByText('Just now').waitFor();
    const row = page.getByRole('listitem').filter({ hasText: 'To be deleted' });
    await row.getByRole('button', { name: '删除' }).click();
    await picture('content-comment-delete');
    await page.getByRole('dialog').getByRole('button', { name: '删除' }).click();
    await row.waitFor({ state: 'detached' });
    t.equal(await stateOf('To be deleted'), undefined);
    await page.getByRole('listitem').filter({ hasText: 'Just now' }).getByRole('button', { name: '批准' }).click();
    await page.getByText('没有待处理的评论').waitFor();
    t.equal(await stateOf('Just now'), 'approved');
  });
});

test('Home shows what waits for the user', withBrowser, async (t) => {
  await comment('recipe', 'Waiting');
  await stage.visit(t, { user: 'mod', password: passwordOf('mod') }, async ({ page, open, picture }) => {
    await open('/');
    await page.getByRole('link', { name: 'Comments waiting' }).click();
    await page.getByText('Waiting', { exact: true }).last().waitFor();
    await open('/');
    await page.getByRole('link', { name: 'Comments waiting' }).waitFor();
    t.equal(await page.getByRole('link', { name: 'Posts in review' }).count(), 0);
    await checkLook(t, page);
    await picture('content-home');
  });
});
