import t, { test } from 'tap';

import { withBrowser } from '../support/browser.ts';
import { checkLook, goodsPath, goodsStage, make, rowOf } from './goods.ts';

const stage = goodsStage(t);
const groups = `${goodsPath}/groups`;

test('selectors are completed with keys, fields and values', withBrowser, async (t) => {
  const hostile = '<img src=x onerror=alert(1)>, (a)';
  await make(stage, 'links', 'one', { metadata: { labels: { team: 'red', room: 'hall' } }, spec: { refuse: 'alpha' } });
  await make(stage, 'links', 'two', { metadata: { labels: { team: 'blue' } }, spec: { refuse: 'beta' } });
  await make(stage, 'links', 'three', { spec: { refuse: hostile } });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(`${goodsPath}/links`);
    await rowOf(page, 'three').waitFor();
    const labels = page.getByRole('combobox', { name: 'Select by labels' });
    await labels.focus();
    await page.getByRole('option', { name: 'room' }).waitFor();
    await page.keyboard.type('te');
    await page.getByRole('option', { name: 'room' }).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: 'blue' }).waitFor();
    await checkLook(t, page, { picture, name: 'selector' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    t.equal(await labels.inputValue(), 'team=blue');
    await page.getByText('1 object', { exact: true }).waitFor();
    await page.keyboard.type(',!roo');
    await page.getByRole('option', { name: 'room' }).click();
    await page.waitForURL(/labelSelector=team(?:=|%3D)blue,!room/u);
    await labels.fill('');

    const fields = page.getByRole('combobox', { name: 'Select by fields' });
    await fields.fill('spec');
    await page.getByRole('option', { name: 'spec.refuse' }).click();
    await page.getByRole('option', { name: 'alpha' }).waitFor();
    await page.getByRole('option', { name: '<img src=x' }).click();
    await rowOf(page, 'three').waitFor();
    await page.getByText('1 object', { exact: true }).waitFor();
    await fields.fill('spec.refuse in (alpha,b');
    await page.getByRole('option', { name: 'beta' }).click();
    t.equal(await fields.inputValue(), 'spec.refuse in (alpha,beta');
    await page.keyboard.press('Escape');
    t.equal(await page.getByRole('listbox').count(), 0);
  });
});

test('a list is read in pages that do not shift', withBrowser, async (t) => {
  for (let index = 0; index < 60; index += 1) await make(stage, 'groups', `page-${String(index).padStart(2, '0')}`);
  await stage.visit(t, { theme: 'dark' }, async ({ page, open, picture }) => {
    await open(`${groups}?sort=metadata.name,asc`);
    await rowOf(page, 'page-00').waitFor();
    await page.getByLabel('Paging').selectOption('25');
    await page.waitForURL(/limit=25/u);
    await page.getByText('1–25 of 60').waitFor();
    await page.getByText('Fixed', { exact: true }).waitFor();
    await stage.server.call('/apis/goods.example/v1/groups/page-03', { method: 'DELETE' });
    await page.getByRole('button', { name: 'Next page' }).press('Enter');
    await page.getByText('26–50 of').waitFor();
    t.equal(await rowOf(page, 'page-25').count(), 1, 'no object is missed');
    await page.getByRole('button', { name: 'Next page' }).press('Enter');
    await page.getByText('51–60 of').waitFor();
    t.equal(await page.getByRole('button', { name: 'Next page' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Previous page' }).click();
    await rowOf(page, 'page-25').waitFor();
    await rowOf(page, 'page-25').getByRole('checkbox').check();
    await rowOf(page, 'page-30')
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await page.getByText('6 selected').waitFor();
    await checkLook(t, page, { picture, name: 'pages' });
    await page.getByRole('button', { name: 'Begin again with the present objects' }).click();
    await page.getByText('1–25 of 59').waitFor();
    await page.reload();
    await page.getByText('1–25 of 59').waitFor();
    await page.getByRole('link', { name: 'As it was' }).click();
    await page.waitForURL('**/console/past/goods.example/v1/groups?sort=metadata.name,asc');
  });
});

test('a view is saved with a name in this browser', withBrowser, async (t) => {
  await make(stage, 'shapes', 'seen', { metadata: { labels: { team: 'red' } }, spec: { title: 'Seen' } });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(`${goodsPath}/shapes?labelSelector=team%3Dred&sort=metadata.name,desc`);
    await page.getByRole('button', { name: 'Views' }).press('Enter');
    await page.getByLabel('Name of the present view').fill('<b>Red</b> ones');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: '<b>Red</b> ones' }).waitFor();
    await checkLook(t, page, { picture, name: 'views' });
    await open(`${goodsPath}/shapes`);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('link', { name: '<b>Red</b> ones' }).click();
    await page.waitForURL((url) => url.searchParams.get('labelSelector') === 'team=red');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: 'Remove the view <b>Red</b> ones' }).click();
    await page.getByText('No saved views yet.').waitFor();
  });
});
