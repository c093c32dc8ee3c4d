/** Text that is typed while a save runs. The response of the write is held, as by a slow connection. */
import t, { test } from 'tap';

import { passwordOf } from '../../support/server/administration.ts';
import { withBrowser } from '../support/browser.ts';
import { holdWrite } from '../support/held-write.ts';
import { Stage } from '../support/stage.ts';
import { createPost, person, readPost } from './authors.ts';

const stage = new Stage(t);
t.before(async () => {
  if (withBrowser.skip === undefined) await person(stage.server.url, 'ed', 'post-editor');
});
const editor = { user: 'ed', password: passwordOf('ed') };

test('what is typed while a new post is saved stays, with the focus', withBrowser, async (t) => {
  await stage.visit(t, editor, async ({ page, open }) => {
    await open('/apps/content/new');
    await page.getByLabel('Title').fill('Growing');
    const text = page.getByRole('textbox', { name: 'Text in Markdown' });
    await text.fill('one');
    const release = await holdWrite(page, 'POST', async () => page.keyboard.press('Control+s'));
    await page.keyboard.type(' two');
    await release();
    await page.waitForURL(/\/posts\/post-\w+$/u);
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    await page.keyboard.type(' three');
    t.equal(await text.inputValue(), 'one two three');
    const name = page.url().split('/').at(-1) ?? '';
    t.match((await readPost(stage.server.url, name)).spec, { content: 'one' });
    await page.keyboard.press('Control+s');
    await page.getByText('No unsaved changes').waitFor();
    t.match((await readPost(stage.server.url, name)).spec, { content: 'one two three', title: 'Growing' });
  });
});

test('what is typed while a post is saved or published is merged with the saved version', withBrowser, async (t) => {
  const lines = ['first', '', 'second', '', 'third'];
  await createPost(stage.server.url, 'busy', { title: 'Busy', content: lines.join('\n') });
  await stage.visit(t, editor, async ({ page, open }) => {
    await open('/apps/content/posts/busy');
    const text = page.getByRole('textbox', { name: 'Text in Markdown' });
    await text.fill(lines.with(0, 'FIRST').join('\n'));
    await stage.visit(t, {}, async (admin) => {
      await admin.open('/apps/content/posts/busy');
      await admin.page.getByRole('textbox', { name: 'Text in Markdown' }).fill(lines.with(2, 'SECOND').join('\n'));
      await admin.page.keyboard.press('Control+s');
      await admin.page.getByText('No unsaved changes').waitFor();
    });
    const release = await holdWrite(page, 'PATCH', async () => page.keyboard.press('Control+s'));
    await text.fill(lines.with(0, 'FIRST').with(4, 'THIRD').join('\n'));
    await page.getByLabel('Tags').fill('typed, meanwhile');
    await release();
    await page.getByText('Somebody else has saved this post as well').waitFor();
    await page.getByText('No unsaved changes').waitFor();
    t.equal(await text.inputValue(), 'FIRST\n\nSECOND\n\nTHIRD');
    const publish = await holdWrite(page, 'PUT', async () => page.getByRole('button', { name: 'Publish' }).click());
    await page.getByLabel('Title').fill('Busy again');
    await publish();
    await page.getByRole('heading', { level: 1 }).getByText('Published').waitFor();
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    t.match((await readPost(stage.server.url, 'busy')).spec, { title: 'Busy', content: 'FIRST\n\nSECOND\n\nTHIRD' });
    await page.getByRole('button', { name: 'Update' }).click();
    await page.getByText('No unsaved changes').waitFor();
    t.match((await readPost(stage.server.url, 'busy')).spec, { title: 'Busy again', tags: ['typed', 'meanwhile'] });
  });
});

test('what is typed during a choice between two changes stays', withBrowser, async (t) => {
  await createPost(stage.server.url, 'chosen', { title: 'Chosen', content: 'begin' });
  await stage.visit(t, editor, async ({ page, open }) => {
    await open('/apps/content/posts/chosen');
    const text = page.getByRole('textbox', { name: 'Text in Markdown' });
    await text.fill('mine');
    await stage.visit(t, {}, async (admin) => {
      await admin.open('/apps/content/posts/chosen');
      await admin.page.getByRole('textbox', { name: 'Text in Markdown' }).fill('theirs');
      await admin.page.keyboard.press('Control+s');
      await admin.page.getByText('No unsaved changes').waitFor();
    });
    await page.keyboard.press('Control+s');
    const choice = page.getByRole('region', { name: 'Choose between two changes' });
    await choice.waitFor();
    await text.fill('mine, and more');
    await choice.getByText('mine, and more').waitFor();
    await choice.getByRole('radio', { name: 'Mine' }).check();
    await choice.getByRole('button', { name: 'Use this choice' }).click();
    t.equal(await text.inputValue(), 'mine, and more');
    await page.keyboard.press('Control+s');
    await page.getByText('No unsaved changes').waitFor();
    t.match((await readPost(stage.server.url, 'chosen')).spec, { content: 'mine, and more' });
  });
});
