import type { Page } from 'playwright-core';
import t, { test } from 'tap';

import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { checkLook, goodsPath, goodsStage, make, read } from './goods.ts';

const stage = goodsStage(t);
const create = (plural: string): string => `/create/goods.example/v1/${plural}`;
const shapes = `${goodsPath}/shapes`;

async function editorText(page: Page): Promise<string> {
  return page.locator('.cm-content').innerText();
}

test('an object is created from a form, with the keyboard', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(create('shapes'));
    await page.getByRole('textbox', { name: 'name', exact: true }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('formed');
    await page.getByRole('button', { name: /^metadata/u, expanded: false }).waitFor();
    await page.getByLabel('title').fill('Formed');
    t.match(await page.getByLabel('count').getAttribute('placeholder'), '3', 'the default is shown');
    await page.getByText('The title of the shape.').waitFor();
    await page.getByLabel('count').fill('7');
    await page.getByLabel('enabled').selectOption('true');
    await page.getByLabel('mode').selectOption({ label: 'off' });
    await page.getByLabel('when').fill('2026-11-27T03:04:05');
    await page.getByLabel('when').blur();
    await page.getByLabel('port').fill('http');
    await page.getByLabel('note is null').check();
    await page.getByLabel('text').fill('two\nlines');
    await page.getByRole('button', { name: 'Add tags' }).press('Enter');
    await page.keyboard.type('first');
    await page.getByRole('button', { name: 'Add element' }).press('Enter');
    await page.keyboard.type('second');
    await page.getByRole('button', { name: 'Move tags 2 up' }).press('Enter');
    await page
      .locator('button:focus')
      .and(page.getByRole('button', { name: 'Move tags 1 down' }))
      .waitFor();
    await page.getByRole('button', { name: 'Add settings' }).press('Enter');
    await page.getByLabel('Name of a new entry').fill('<b>colour</b>');
    await page.keyboard.press('Enter');
    await page.keyboard.type('red');
    await page.getByText('Valid', { exact: true }).waitFor();
    await checkLook(t, page, { picture, name: 'form' });
    await page.getByRole('button', { name: 'Create' }).press('Enter');
    await page.waitForURL(`**/console${shapes}/formed`);
  });
  const { spec } = await read(stage, 'shapes', 'formed');
  t.match(spec, {
    title: 'Formed',
    count: 7,
    enabled: true,
    mode: 'off',
    port: 'http',
    note: null,
    text: 'two\nlines',
  });
  t.match(spec, { tags: ['second', 'first'], settings: { '<b>colour</b>': 'red' } });
});

test('form and text are views of one draft, and comments are kept', withBrowser, async (t) => {
  await make(stage, 'shapes', 'viewed', { spec: { title: 'Viewed', tags: ['a', 'b'] } });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${shapes}/viewed/edit`);
    await page.getByRole('button', { name: 'metadata', exact: false }).first().click();
    t.equal(
      await page.getByRole('textbox', { name: 'name', exact: true }).isDisabled(),
      true,
      'the name cannot be changed',
    );
    await page.getByRole('button', { name: 'YAML' }).click();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(
      'apiVersion: goods.example/v1\nkind: Shape\nmetadata:\n  name: viewed\nspec:\n  # why\n  title: Viewed # kept\n',
    );
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByLabel('title').fill('Changed');
    await page.getByLabel('count').fill('many');
    await page.getByRole('button', { name: 'JSON' }).click();
    t.match(await editorText(page), /"count": "many"/u, 'a text in place of a number is not lost');
    await page.getByRole('button', { name: 'YAML' }).click();
    t.match(await editorText(page), /# why\s+title: Changed # kept\s+count: many/u);
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByText('must be of type integer').first().waitFor();
    await page.getByLabel('count').fill('');
    await page.getByText('Valid', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('viewed is saved').waitFor();
    await page.reload();
    await page.getByLabel('title').waitFor();
    t.equal(await page.getByLabel('title').inputValue(), 'Changed', 'the chosen view is remembered');
  });
});

test('the draft of a new object survives a look at another page', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(create('shapes'));
    await page.getByLabel('title').fill('Unfinished');
    await page.getByLabel('either').fill('a: [');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.goBack();
    await page.getByLabel('title').waitFor();
    t.equal(await page.getByLabel('title').inputValue(), 'Unfinished');
    t.equal(await page.getByLabel('either').inputValue(), 'a: [');
    await page.getByRole('button', { name: 'Discard' }).click();
    t.equal(await page.getByLabel('title').inputValue(), '');
  });
});

test('problems are at their fields, and the first one gets the focus', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(create('shapes'));
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('faulty');
    await page.getByRole('button', { name: 'Add rules' }).click();
    await page.getByRole('textbox', { name: 'name', exact: true }).last().fill('x');
    await page.getByRole('button', { name: 'rules 1', exact: false }).first().click();
    await page.getByText('2 problems', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('[data-pointer="/spec/title"] [aria-invalid=true]:focus').waitFor();
    await page.getByRole('button', { name: '/spec/rules/0/name', exact: false }).click();
    await page.locator('[data-pointer="/spec/rules/0/name"] input:focus').waitFor();
    await checkLook(t, page, { picture, name: 'form-problems' });
  });
});

test('a value without a field is YAML, whose mistakes are kept and prevent saving', withBrowser, async (t) => {
  await stage.visit(t, { language: 'zh-CN', theme: 'dark' }, async ({ page, open, picture }) => {
    await open(create('shapes'));
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('mixed');
    await page.getByLabel('title').fill('Mixed');
    await page.getByLabel('either').fill('a: [');
    await page.getByLabel('either').and(page.locator('[aria-invalid=true]')).waitFor();
    t.equal(await page.getByRole('button', { name: '创建' }).isDisabled(), true);
    await page.getByRole('button', { name: 'YAML' }).click();
    await page.locator('.cm-content').waitFor();
    t.equal(await page.getByRole('button', { name: '创建' }).isDisabled(), true);
    await page.getByRole('button', { name: '表单' }).click();
    t.equal(await page.getByLabel('either').inputValue(), 'a: [');
    await checkLook(t, page, { picture, name: 'form-zh' });
    await page.getByLabel('either').fill('a: 5');
    await page.getByRole('button', { name: '创建' }).click();
    await page.waitForURL(`**/console${shapes}/mixed`);
  });
  t.match((await read(stage, 'shapes', 'mixed')).spec, { either: { a: 5 } });
});

test(
  'a reference is completed with names, and large and endless schemas are drawn in parts',
  withBrowser,
  async (t) => {
    for (const name of ['group-one', 'group-two', 'other']) await make(stage, 'groups', name);
    await stage.visit(t, {}, async ({ page, open, picture }) => {
      await open(create('shapes'));
      const field = page.getByRole('combobox', { name: 'group' });
      await field.fill('group-');
      await page.getByRole('option', { name: 'group-two' }).waitFor();
      await page.getByRole('option', { name: 'other' }).waitFor({ state: 'detached' });
      t.equal(await page.locator('[role=option]').count(), 2);
      await picture('form-reference');
      await field.press('ArrowDown');
      await field.press('ArrowDown');
      await field.press('Enter');
      t.equal(await field.inputValue(), 'group-two');
      for (let level = 0; level < 4; level += 1)
        await page.getByRole('button', { name: level === 0 ? 'Add tree' : 'Add inner' }).click();
      await open(create('wides'));
      await page.getByLabel('member39', { exact: true }).waitFor();
      t.equal(await page.getByLabel('member40', { exact: true }).count(), 0);
      await page.getByRole('button', { name: 'Show 960 more' }).click();
      await page.getByLabel('member79', { exact: true }).waitFor();
    });
  },
);

test('a value that is too large for a form is edited as text', withBrowser, async (t) => {
  const either = Array.from({ length: 4_000 }, (_, index) => `line ${String(index)} of a long text`).join('\n');
  await make(stage, 'shapes', 'large', { spec: { title: 'Large', either } });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${shapes}/large/edit`);
    await page.getByText('It is too long. Edit it as text.').waitFor();
    await page.getByRole('button', { name: 'Show the text' }).click();
    await page.getByRole('textbox', { name: 'Text of large' }).getByText('line 3 of a long text').waitFor();
  });
});

test('a choice among many values is searched, with the keyboard and the pointer', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(create('shapes'));
    await page.getByLabel('name', { exact: false }).first().fill('travelled');
    await page.getByLabel('title').fill('Travelled');
    const nation = page.getByRole('combobox', { name: 'nation' });
    const options = page.getByRole('listbox').getByRole('option');
    await nation.click();
    await options.filter({ hasText: 'nation 5' }).first().waitFor();
    t.ok((await options.count()) < 40, 'only the options in view are drawn');
    t.equal(await options.first().getAttribute('aria-setsize'), '301', 'no value is a choice, too');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.locator('.is-active', { hasText: 'nation 298' }).waitFor();
    await picture('search-select');
    t.strictSame(await accessibilityProblems(page), []);
    await page.keyboard.type('29');
    await page.getByRole('option', { name: 'nation 129' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    t.equal(await nation.inputValue(), 'nation 129');
    await nation.fill('nowhere');
    await nation.blur();
    t.equal(await nation.inputValue(), 'nation 129', 'a text that is no value is dropped');
    await nation.fill('nation 7');
    await page.getByRole('option', { name: 'nation 71' }).click();
    t.equal(await nation.inputValue(), 'nation 71');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(`**/console${shapes}/travelled`);
  });
  t.match((await read(stage, 'shapes', 'travelled')).spec, { nation: 'nation 71' });
});
