import t, { test } from 'tap';

import { withBrowser } from '../support/browser.ts';
import { change, checkLook, goodsApi, goodsPath, goodsStage, make, read, rowOf } from './goods.ts';

const stage = goodsStage(t);
const groups = `${goodsPath}/groups`;
const named = (prefix: string): string => `${groups}?fieldSelector=metadata.name%5E%3D${prefix}&sort=metadata.name,asc`;

test('the deletion of an object shows its effects before it begins', withBrowser, async (t) => {
  const uid = await make(stage, 'groups', 'owner', { metadata: { finalizers: ['example.com/hold'] } });
  await make(stage, 'links', 'by-refuse', { spec: { refuse: 'owner' } });
  await make(stage, 'links', 'by-cascade', { spec: { cascade: 'owner' } });
  await make(stage, 'links', 'by-clear', { spec: { clear: 'owner' } });
  const ownerReferences = [{ apiVersion: 'goods.example/v1', kind: 'Group', name: 'owner', uid }];
  await make(stage, 'links', 'dependent', { metadata: { ownerReferences } });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(`${groups}/owner`);
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete owner?' });
    await dialog.getByText('Refused', { exact: true }).waitFor();
    await dialog.getByRole('link', { name: 'by-cascade' }).waitFor();
    t.equal(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), true);
    await checkLook(t, page, { picture, name: 'delete-refused' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const actions = page.getByRole('button', { name: 'Actions' });
    await actions.press('Enter');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await dialog.getByText('Refused', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await actions.and(page.locator(':focus')).waitFor();

    await change(stage, 'links', 'by-refuse', { spec: { refuse: null } });
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByText('example.com/hold').waitFor();
    await dialog.getByText('These dependents are deleted too:').waitFor();
    await dialog.getByLabel('Dependents', { exact: true }).selectOption('Orphan');
    await dialog.getByText('These dependents stay, without this owner:').waitFor();
    await picture('delete-effects');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('owner is marked for deletion.').waitFor();
    await page.getByText('Being deleted').waitFor();
    await change(stage, 'groups', 'owner', { metadata: { finalizers: null } });
    await page.getByText('Deleted', { exact: true }).waitFor();
  });
  t.equal((await read(stage, 'links', 'by-cascade')).status, 404);
  t.strictSame((await read(stage, 'links', 'by-clear')).spec, {});
  t.equal((await read(stage, 'links', 'dependent')).status, 200);
});

test('rows are chosen with the keyboard, and deleted except for those that are refused', withBrowser, async (t) => {
  for (const name of ['row-a', 'row-b', 'row-c', 'row-d', 'row-e']) await make(stage, 'groups', name);
  await make(stage, 'links', 'keeps-b', { spec: { refuse: 'row-b' } });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(named('row-'));
    await rowOf(page, 'row-a').getByRole('link').focus();
    await page.keyboard.press('Space');
    const bar = page.getByRole('region', { name: 'Selected objects' });
    await bar.getByText('1 selected').waitFor();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await bar.getByText('3 selected').waitFor();
    await page.keyboard.press('Escape');
    await bar.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+a');
    await bar.getByText('5 selected').waitFor();
    await rowOf(page, 'row-e').getByRole('checkbox', { name: 'Select row-e' }).uncheck();
    await bar.getByText('4 selected').waitFor();
    await checkLook(t, page, { picture, name: 'objects-chosen' });
    await bar.getByRole('button', { name: 'Delete' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Delete 4 objects of the type Group?' });
    await dialog.getByText('3 objects are removed at once.').waitFor();
    await dialog.getByText('1 object cannot be deleted and stays.').waitFor();
    await dialog.getByText('keeps-b').first().waitFor();
    await checkLook(t, page, { picture, name: 'delete-many' });
    await dialog.getByRole('button', { name: 'Delete 3' }).press('Enter');
    await page.getByText('3 objects are deleted.').waitFor();
    const rest = page.getByRole('dialog', { name: 'Delete row-b?' });
    await rest.getByText('Refused', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await bar.getByText('1 selected').waitFor();
    await rowOf(page, 'row-a').waitFor({ state: 'detached' });
    t.equal(await rowOf(page, 'row-e').count(), 1);
  });
  t.equal((await read(stage, 'groups', 'row-c')).status, 404);
  t.equal((await read(stage, 'groups', 'row-b')).status, 200);
});

test('objects that are deleted meanwhile are left out', withBrowser, async (t) => {
  for (const name of ['gone-a', 'gone-b', 'gone-c']) await make(stage, 'groups', name);
  await make(stage, 'links', 'keeps-gone', { spec: { refuse: 'gone-c' } });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(named('gone-'));
    await rowOf(page, 'gone-a').getByRole('checkbox').check();
    await rowOf(page, 'gone-b').getByRole('checkbox').check();
    await rowOf(page, 'gone-c').getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 objects are removed at once.').waitFor();
    await stage.server.call(`${goodsApi}/groups/gone-a`, { method: 'DELETE' });
    await dialog.getByRole('button', { name: 'Delete 2' }).click();
    await page.getByText('2 objects are deleted.').waitFor();
    await stage.server.call(`${goodsApi}/links/keeps-gone`, { method: 'DELETE' });
    await dialog.getByText('gone-c').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('The object is removed at once.', { exact: false }).waitFor();
    await stage.server.call(`${goodsApi}/groups/gone-c`, { method: 'DELETE' });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
});

test('a deletion that is refused after the preview is named, and can be checked again', withBrowser, async (t) => {
  for (const name of ['late-a', 'late-b']) await make(stage, 'groups', name);
  await stage.visit(t, { language: 'zh-CN', theme: 'dark' }, async ({ page, open, picture }) => {
    await open(named('late-'));
    await rowOf(page, 'late-a').waitFor();
    await page.getByRole('checkbox', { name: '选择可见的行' }).check();
    await page.getByRole('button', { name: '删除' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 个对象会立即移除。').waitFor();
    await make(stage, 'links', 'late', { spec: { refuse: 'late-b' } });
    await dialog.getByRole('button', { name: '删除 2 个' }).click();
    const failures = dialog.getByRole('alert');
    await failures.getByText('late-b', { exact: true }).waitFor();
    await checkLook(t, page, { picture, name: 'delete-failures-zh' });
    await change(stage, 'links', 'late', { spec: { refuse: null } });
    await dialog.getByRole('button', { name: '再次检查' }).click();
    await dialog.getByText('对象会立即移除，不影响其他对象。').waitFor();
    await dialog.getByRole('button', { name: '删除', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  });
  t.equal((await read(stage, 'groups', 'late-b')).status, 404);
});

test('names of any length and values of any kind fit into the dialogs', withBrowser, async (t) => {
  const name = `long-${'x'.repeat(200)}`;
  const finalizers = ['example.com/hold'];
  const hostile = '<img src=x onerror="console.error(1)">\u202e';
  await make(stage, 'groups', name, { metadata: { finalizers, annotations: { 'example.com/a': hostile } } });
  await make(stage, 'links', `by-${'y'.repeat(200)}`, { spec: { clear: name, orphan: hostile } });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(named('long-'));
    await rowOf(page, name).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('example.com/hold').waitFor();
    await checkLook(t, page, { picture, name: 'delete-long' });
    await page.keyboard.press('Escape');
    await open(`${groups}/${name}/edit`);
    await page.getByRole('button', { name: 'metadata', exact: false }).first().click();
    await page.getByRole('button', { name: 'annotations', exact: false }).first().waitFor();
    t.equal(await page.locator('img').count(), 0);
    await checkLook(t, page, { picture, name: 'form-long' });
  });
});
