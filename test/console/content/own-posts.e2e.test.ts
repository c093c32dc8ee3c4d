import t, { test } from 'tap';

import { passwordOf } from '../../support/server/administration.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';
import { checkLook, createPost, isNarrow, person, readPost } from './authors.ts';

const stage = new Stage(t);
t.before(async () => {
  if (withBrowser.skip !== undefined) return;
  const { url } = stage.server;
  await person(url, 'ann', 'post-author');
  await person(url, 'cary', 'post-contributor');
  await person(url, 'ed', 'post-editor');
  await person(url, 'nobody');
  await createPost(url, 'foreign', { title: 'Of somebody else', owner: 'bob' });
});

test('an author logs in at /uc/, writes, looks at the preview and publishes', withBrowser, async (t) => {
  await stage.visit(t, { user: undefined }, async ({ page, picture }) => {
    await page.goto('/uc/');
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password', { exact: true }).fill(passwordOf('ann'));
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByRole('link', { name: 'My posts' }).click();
    await page.getByRole('heading', { level: 1, name: 'My posts' }).waitFor();
    t.match(page.url(), /\/console\/uc\/content$/u);
    await page.getByText('No posts yet').waitFor();
    const sides = page.getByRole('navigation').first();
    t.equal(await sides.getByRole('link', { name: 'Posts', exact: true }).count(), 0);
    t.equal(await sides.getByRole('link', { name: 'Comments', exact: true }).count(), 0);
    await checkLook(t, page);
    await picture('content-own-empty');
    await page.getByRole('link', { name: 'Write the first post' }).click();
    await page.getByLabel('Title').fill('My garden');
    t.equal(await page.getByLabel('Visibility').count(), 0, 'editors decide on it');
    await page.getByRole('textbox', { name: 'Text in Markdown' }).fill('It has *roses*.');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('article', { name: 'Preview' }).locator('em').getByText('roses').waitFor();
    await checkLook(t, page);
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('Published').waitFor();
    const name = page.url().split('/').at(-1) ?? '';
    t.match((await readPost(stage.server.url, name)).spec, { owner: 'ann', publish: true, title: 'My garden' });
    await picture('content-own-published');
    await page.getByRole('button', { name: 'More actions' }).click();
    t.strictSame(await page.getByRole('menuitem').allInnerTexts(), ['Unpublish', 'Delete']);
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No posts yet').waitFor();
    await page.goto('/console/uc/content/posts/foreign');
    await page.getByRole('heading', { level: 1, name: 'Post not found' }).waitFor();
    await page.goto('/console/apps/content/posts');
    await page.getByRole('heading', { level: 1, name: 'No access' }).waitFor();
  });
});

test('a contributor submits a post, and an editor publishes it', withBrowser, async (t) => {
  const contributor = { user: 'cary', password: passwordOf('cary'), width: 320, height: 700 };
  await stage.visit(t, contributor, async ({ page, open, picture }) => {
    await open('/uc/content/new');
    await page.getByLabel('Title').fill('From a contributor');
    t.equal(await page.getByRole('button', { name: 'Publish' }).count(), 0);
    await page.getByRole('button', { name: 'Submit for review' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('In review').waitFor();
    t.equal(await isNarrow(page), true);
    await picture('content-own-review-320');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Back to draft' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('Draft').waitFor();
    await page.getByRole('button', { name: 'Submit for review' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('In review').waitFor();
    await stage.visit(t, { user: 'ed', password: passwordOf('ed') }, async (editor) => {
      await editor.open('/');
      await editor.page.getByRole('link', { name: 'Posts in review' }).click();
      await editor.page.getByRole('link', { name: 'From a contributor' }).click();
      await editor.page.getByRole('button', { name: 'Publish' }).click();
      await editor.page.getByRole('heading', { level: 1 }).getByText('Published').waitFor();
    });
    await page.getByRole('heading', { level: 1 }).getByText('Published').waitFor();
    await open('/uc/content?state=published');
    await page.getByRole('link', { name: 'From a contributor' }).waitFor();
  });
});

test('a page is shown although its front end is ready before the address is resolved', withBrowser, async (t) => {
  await stage.visit(t, { user: 'ann', password: passwordOf('ann') }, async ({ page, open }) => {
    await page.route(/\/assets\/app-page-[^/]*\.js$/u, async (route) => {
      await page.getByRole('link', { name: 'My posts' }).waitFor();
      await route.continue();
    });
    await open('/uc/content?state=draft');
    await page.getByRole('heading', { level: 1, name: 'My posts' }).waitFor();
    t.match(page.url(), /\/uc\/content\?state=draft$/u);
  });
});

test('a user without a role finds only the own comments at /uc/', withBrowser, async (t) => {
  const visit = { user: 'nobody', password: passwordOf('nobody'), language: 'zh-CN' };
  await stage.visit(t, visit, async ({ page, open }) => {
    await page.goto('/uc/');
    await page.getByRole('heading', { level: 1, name: '我的评论' }).waitFor();
    await page.getByText('还没有评论').waitFor();
    await checkLook(t, page);
    await open('/uc/content');
    await page.getByText('plugin:content:own-posts:edit', { exact: true }).waitFor();
  });
});
