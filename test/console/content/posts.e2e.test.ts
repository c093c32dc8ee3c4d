import t, { test } from 'tap';

import { Administration, passwordOf } from '../../support/server/administration.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';
import { checkLook, createPost, isNarrow, person, postsPath, readPost } from './authors.ts';

const stage = new Stage(t);
t.before(async () => {
  if (withBrowser.skip === undefined) await person(stage.server.url, 'ed', 'post-editor');
});
// The types of the browser exist only in the page.
const radiusOf = (element: unknown): string =>
  (globalThis as unknown as { getComputedStyle: (of: unknown) => { borderRadius: string } }).getComputedStyle(element)
    .borderRadius;
const editor = { user: 'ed', password: passwordOf('ed') };

test('an editor writes a post, previews, saves, publishes and unpublishes it', withBrowser, async (t) => {
  await stage.visit(t, editor, async ({ page, open, picture }) => {
    await open('/apps/content/posts');
    await page.getByText('No posts yet').waitFor();
    await checkLook(t, page);
    await page.getByRole('link', { name: 'Write the first post' }).click();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('alert').getByText('A post needs a title').waitFor();
    await page.getByLabel('Title').fill('A Year of Ledgers');
    t.equal(await page.getByLabel('Slug').inputValue(), 'a-year-of-ledgers');
    const text = page.getByRole('textbox', { name: 'Text in Markdown' });
    await text.fill(
      '# Start\n\nSome *plain* words.\n\n- one\n- two\n\n| a | b |\n| - | -: |\n| 1 | 2 |\n\n```\ncode\n```\n',
    );
    const preview = page.getByRole('article', { name: 'Preview' });
    await preview.getByRole('heading', { level: 2, name: 'A Year of Ledgers' }).waitFor();
    await preview.getByRole('heading', { level: 3, name: 'Start' }).waitFor();
    t.equal(await preview.locator('em').innerText(), 'plain');
    t.equal(await preview.locator('li').count(), 2);
    t.equal(await preview.locator('td.is-right').innerText(), '2');
    await page.getByLabel('Tags').fill('news, year， 年度');
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    await checkLook(t, page);
    await picture('content-editor');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.waitForURL(/\/apps\/content\/posts\/post-\w+$/u);
    await page.getByText('No unsaved changes').waitFor();
    const name = page.url().split('/').at(-1) ?? '';
    t.match((await readPost(stage.server.url, name)).spec, {
      title: 'A Year of Ledgers',
      slug: 'a-year-of-ledgers',
      tags: ['news', 'year', '年度'],
      owner: 'ed',
      publish: undefined,
    });
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('Published').waitFor();
    t.match((await readPost(stage.server.url, name)).spec, { publish: true, publishTime: String });
    await text.fill('New words.');
    await page.getByRole('button', { name: 'Update' }).click();
    await page.getByText('No unsaved changes').waitFor();
    t.match((await readPost(stage.server.url, name)).spec, { publish: true, content: 'New words.' });
    await page.getByRole('button', { name: 'More actions' }).click();
    await picture('content-actions');
    await page.getByRole('menuitem', { name: 'Unpublish' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('Draft').waitFor();
    t.match((await readPost(stage.server.url, name)).spec, { publish: false });
  });
});

test('posts are listed by state, found by words, and live', withBrowser, async (t) => {
  const { url } = stage.server;
  await createPost(url, 'pub', {
    title: 'Harvest report',
    owner: 'ann',
    publish: true,
    publishTime: '2026-01-01T00:00:00Z',
    pinned: true,
  });
  await createPost(url, 'sub', { title: 'Autumn plans', owner: 'bob', submitted: true, tags: ['garden'] });
  await createPost(url, 'bin', { title: 'Old things', owner: 'bob', deleted: true, visible: 'PRIVATE' });
  await stage.visit(t, editor, async ({ page, open, picture }) => {
    await open('/apps/content/posts');
    await page.getByRole('link', { name: 'Harvest report' }).waitFor();
    t.equal(await page.getByRole('link', { name: 'Old things' }).count(), 0);
    await checkLook(t, page);
    const badge = page.getByText('In review', { exact: true }).last();
    t.equal(await badge.evaluate(radiusOf), '999px', 'the kit has its styles');
    await picture('content-posts');
    const states = page.getByRole('navigation', { name: 'States of posts' });
    await states.getByRole('link', { name: 'In review' }).click();
    await page.getByText('one post', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Autumn plans' }).waitFor();
    await states.getByRole('link', { name: 'Recycle bin' }).click();
    await page.getByRole('link', { name: 'Old things' }).waitFor();
    await states.getByRole('link', { name: 'All' }).click();
    await page.getByRole('link', { name: 'Harvest report' }).waitFor();
    await page.getByRole('searchbox').fill('gard aut');
    await page.getByText('one post', { exact: true }).waitFor();
    t.match(page.url(), /q=gard\+aut|q=gard%20aut/u);
    await page.getByRole('searchbox').fill('nothing (=,\\ at all');
    await page.getByText('No post matches').waitFor();
    await page.getByRole('link', { name: 'Show all posts' }).click();
    await page.getByRole('link', { name: 'Harvest report' }).waitFor();
    await createPost(url, 'late', { title: 'Arrived just now' });
    await page.getByRole('link', { name: 'Arrived just now' }).waitFor();
    await page.setViewportSize({ width: 320, height: 700 });
    t.equal(await isNarrow(page), true);
    await picture('content-posts-320');
    await page.getByRole('link', { name: 'Autumn plans' }).click();
    await page.getByRole('button', { name: 'Publish' }).waitFor();
    t.equal(await isNarrow(page), true);
    await checkLook(t, page);
    await picture('content-editor-320');
  });
});

test('an unsaved text is kept when the page is left or reloaded', withBrowser, async (t) => {
  await createPost(stage.server.url, 'kept', { title: 'Kept', content: 'stored' });
  await stage.visit(t, editor, async ({ page, open }) => {
    page.on('dialog', (dialog) => void dialog.accept());
    await open('/apps/content/new');
    await page.getByLabel('Title').fill('Unfinished');
    await page.getByRole('navigation').first().getByRole('link', { name: 'Posts', exact: true }).click();
    await page.getByRole('link', { name: 'Kept' }).click();
    const text = page.getByRole('textbox', { name: 'Text in Markdown' });
    await text.fill('changed');
    await page.reload();
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    t.equal(await text.inputValue(), 'changed');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Discard changes' }).click();
    await page.getByText('No unsaved changes').waitFor();
    t.equal(await text.inputValue(), 'stored');
    await open('/apps/content/new');
    t.equal(await page.getByLabel('Title').inputValue(), 'Unfinished');
    t.equal(await page.getByLabel('Slug').inputValue(), 'unfinished');
  });
});

test('two people who edit one post lose nothing', withBrowser, async (t) => {
  const content = 'first\n\nsecond\n\nthird';
  await createPost(stage.server.url, 'shared', { title: 'Shared', content, slug: 'shared' });
  await stage.visit(t, {}, async (admin) => {
    await admin.open('/apps/content/posts/shared');
    const theirs = admin.page.getByRole('textbox', { name: 'Text in Markdown' });
    await stage.visit(t, editor, async ({ page, open, picture }) => {
      await open('/apps/content/posts/shared');
      const mine = page.getByRole('textbox', { name: 'Text in Markdown' });
      await mine.fill('FIRST\n\nsecond\n\nthird');
      await theirs.fill('first\n\nsecond\n\nTHIRD');
      await admin.page.getByLabel('Title').fill('Shared by two');
      await admin.page.keyboard.press('Control+s');
      await admin.page.getByText('No unsaved changes').waitFor();
      await page.getByText('Somebody else has saved this post in the meantime').waitFor();
      await checkLook(t, page);
      await page.keyboard.press('Control+s');
      await page.getByText('No unsaved changes').waitFor();
      t.equal(await mine.inputValue(), 'FIRST\n\nsecond\n\nTHIRD');
      t.equal(await page.getByLabel('Title').inputValue(), 'Shared by two');
      await admin.page.getByRole('article', { name: 'Preview' }).getByText('FIRST', { exact: true }).waitFor();

      await mine.fill('mine');
      await page.getByLabel('Title').fill('My title');
      await theirs.fill('theirs');
      await admin.page.getByLabel('Title').fill('Their title');
      await admin.page.keyboard.press('Control+s');
      await admin.page.getByText('No unsaved changes').waitFor();
      await page.keyboard.press('Control+s');
      const choice = page.getByRole('region', { name: 'Choose between two changes' });
      await choice.waitFor();
      t.equal(await page.getByRole('button', { name: 'Save draft' }).isDisabled(), true);
      await checkLook(t, page);
      await picture('content-conflict');
      await choice.getByRole('group', { name: 'Title' }).getByRole('radio', { name: 'Theirs' }).check();
      await choice.getByRole('group', { name: 'Text' }).getByRole('radio', { name: 'Both' }).check();
      await choice.getByRole('button', { name: 'Use this choice' }).click();
      t.equal(await mine.inputValue(), 'mine\n\ntheirs');
      await page.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText('No unsaved changes').waitFor();
      t.match((await readPost(stage.server.url, 'shared')).spec, { title: 'Their title', content: 'mine\n\ntheirs' });

      await mine.fill('written while it is deleted');
      await new Administration(stage.server.url).call('DELETE', `${postsPath}/shared`);
      await page.getByText('This post has been deleted').waitFor();
      await page.getByRole('button', { name: 'Continue as a new post' }).click();
      await page.waitForURL(/\/apps\/content\/new$/u);
      t.equal(await mine.inputValue(), 'written while it is deleted');
      await page.keyboard.press('Control+s');
      await page.waitForURL(/\/posts\/post-\w+$/u);
    });
    await admin.page.getByText('This post has been deleted').waitFor();
  });
});

const hostile = `
<script>alert(1)</script> <img src=x onerror=alert(1)> <b onclick=alert(1)>bold</b>
[js](javascript:alert(1)) [upper](JaVaScRiPt:alert(1)) [data](data:text/html,<script>alert(1)</script>)
[vb](vbscript:x) [file](file:///etc/passwd) [ok](https://example.com/a?b=1) [mail](mailto:a@b.example)
[tab](java&#9;script:alert(1)) [relative](/console/) <javascript:alert(1)> https://bare.example
![inline](data:image/png;base64,iVBORw0KGgo=) ![far](https://elsewhere.example/x.png) ![near](/console/none.png)
![stream](/apis/content.svc.run/v1alpha1/posts?watch=true) ![api](/apis/content.svc.run/v1alpha1/posts)

${'>'.repeat(3_000)} deep

${'*a '.repeat(3_000)}
${'['.repeat(3_000)}

\u202Ereversed &lt;i&gt; &copy;
`;

test('hostile Markdown does no harm', withBrowser, async (t) => {
  await createPost(stage.server.url, 'hostile', {
    title: '<img src=x onerror=alert(1)> {{ 1 + 1 }}',
    content: hostile,
    tags: ['<b>', '"quoted"'],
    owner: '<i>',
  });
  await stage.visit(t, editor, async ({ page, open, picture }) => {
    page.on('dialog', () => t.fail('a script has run'));
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await open('/apps/content/posts');
    await page.getByRole('link', { name: '<img src=x onerror=alert(1)> {{ 1 + 1 }}' }).click();
    const preview = page.getByRole('article', { name: 'Preview' });
    await preview.getByText('<script>alert(1)</script>').first().waitFor();
    t.strictSame(
      await preview.getByRole('link').evaluateAll((links) => links.map((link) => (link as { href?: string }).href)),
      [
        'https://example.com/a?b=1',
        'mailto:a@b.example',
        `${stage.server.url}/console/apps/content/posts/java%09script:alert(1)`,
        `${stage.server.url}/console/`,
        'https://bare.example/',
        'https://elsewhere.example/x.png',
        `${stage.server.url}/apis/content.svc.run/v1alpha1/posts?watch=true`,
        `${stage.server.url}/apis/content.svc.run/v1alpha1/posts`,
      ],
    );
    t.strictSame(
      await preview.locator('img').evaluateAll((images) => images.map((image) => (image as { src?: string }).src)),
      [`${stage.server.url}/console/none.png`],
    );
    t.equal(await preview.locator('script, b, iframe, [onclick], [style]').count(), 0);
    await preview.getByText('<i> ©').waitFor();
    t.strictSame(
      requests.filter((url) => /elsewhere|\/apis\/.*posts(?:\?watch=true)?$/u.test(url)),
      [],
    );
    await picture('content-hostile');
    const text = page.getByRole('textbox', { name: 'Text in Markdown' });
    await text.fill('a '.repeat(150_000));
    await preview.getByText('The preview ends here').waitFor();
  });
});

test('the editor works by keyboard, and formats what is selected', withBrowser, async (t) => {
  await stage.visit(t, { ...editor, language: 'zh-CN' }, async ({ page, open, picture }) => {
    await open('/apps/content/new');
    await page.getByRole('heading', { level: 1, name: '新文章' }).waitFor();
    await page.getByLabel('标题', { exact: false }).first().focus();
    await page.keyboard.type('键盘');
    const text = page.getByRole('textbox', { name: 'Markdown 正文' });
    await text.focus();
    await page.keyboard.type('word');
    await page.keyboard.press('Shift+Control+ArrowLeft');
    await page.keyboard.press('Control+b');
    t.equal(await text.inputValue(), '**word**');
    await page.keyboard.press('Control+i');
    t.equal(await text.inputValue(), '***word***');
    await page.keyboard.press('Control+z');
    t.equal(await text.inputValue(), '**word**');
    await text.fill('one\ntwo');
    await page.keyboard.press('Control+a');
    await page.getByRole('button', { name: '编号列表' }).press('Enter');
    t.equal(await text.inputValue(), '1. one\n2. two');
    await page.getByRole('button', { name: '预览' }).press('Enter');
    await page.getByRole('article', { name: '预览' }).locator('ol').waitFor();
    await picture('content-editor-zh');
    await page.keyboard.press('Control+s');
    await page.getByText('已保存').waitFor();
    await page.getByRole('button', { name: '更多操作' }).press('Enter');
    await page.getByRole('menuitem', { name: '删除' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: '删除' }).press('Enter');
    await page.getByText('文章已删除').waitFor();
    await page.waitForURL(/\/apps\/content\/posts$/u);
  });
});
