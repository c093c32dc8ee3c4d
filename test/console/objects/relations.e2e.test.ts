import t, { test } from 'tap';

import { Administration, passwordOf } from '../../support/server/administration.ts';
import { withBrowser } from '../support/browser.ts';
import { checkLook, goodsPath, goodsStage, make } from './goods.ts';

const stage = goodsStage(t);
const groups = `${goodsPath}/groups`;
const ownedBy = (name: string, uid: string) => ({
  metadata: { ownerReferences: [{ apiVersion: 'goods.example/v1', kind: 'Group', name, uid }] },
});

test('owners and dependents are trees, which the keyboard opens', withBrowser, async (t) => {
  const top = await make(stage, 'groups', 'top');
  const middle = await make(stage, 'groups', 'middle', ownedBy('top', top));
  await make(stage, 'links', 'below', ownedBy('middle', middle));
  await make(stage, 'links', 'naming', { spec: { clear: 'middle' } });
  await make(stage, 'groups', 'plain');
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(`${groups}/top`);
    const tree = page.getByRole('tree', { name: 'Dependents' });
    await tree.getByRole('treeitem', { name: 'Group middle' }).waitFor();
    await tree.getByRole('treeitem', { name: 'Group top' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await tree.getByRole('treeitem', { name: 'Link naming' }).getByText('spec.clear').waitFor();
    await page.keyboard.press('ArrowRight');
    await tree.getByRole('treeitem', { name: 'Link below' }).and(page.locator(':focus')).waitFor();
    t.equal(await tree.getByRole('treeitem', { name: 'Link below' }).getAttribute('aria-level'), '3');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await tree.getByRole('treeitem', { name: 'Link below' }).waitFor({ state: 'detached' });
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    await checkLook(t, page, { picture, name: 'relations' });
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console${groups}/middle`);
    const owners = page.getByRole('tree', { name: 'Owners' });
    await owners.getByRole('treeitem', { name: 'Group top' }).waitFor();
    t.equal(await owners.getByRole('treeitem', { name: 'Group top' }).getAttribute('aria-level'), '2');
    await open(`${groups}/plain`);
    await page.getByText('No object depends on this one.').waitFor();
  });
});

test('owners in a circle end, and dependents are hidden from users that may not delete', withBrowser, async (t) => {
  const first = await make(stage, 'groups', 'first');
  const second = await make(stage, 'groups', 'second', ownedBy('first', first));
  const body = ownedBy('second', second);
  const headers = { 'content-type': 'application/merge-patch+json' };
  await stage.server.call('/apis/goods.example/v1/groups/first', { method: 'PATCH', body, headers });
  await stage.visit(t, { language: 'zh-CN', theme: 'dark' }, async ({ page, open }) => {
    await open(`${groups}/first`);
    const tree = page.getByRole('tree').last();
    await tree.getByRole('treeitem', { name: 'Group second' }).focus();
    await page.keyboard.press('ArrowRight');
    const again = tree.getByRole('treeitem', { name: 'Group first' }).last();
    await again.and(page.locator('[aria-level="3"]')).waitFor();
    t.equal(await again.getAttribute('aria-expanded'), null, 'an object is not opened below itself');
  });
  const administration = new Administration(stage.server.url);
  await administration.user('reader');
  const rules = [{ apiGroups: ['goods.example'], resources: ['*'], verbs: ['get', 'list', 'watch'] }];
  await administration.role('reader', { rules });
  await administration.bind('reader', 'reader', 'reader');
  await stage.visit(t, { user: 'reader', password: passwordOf('reader') }, async ({ page, open }) => {
    await open(`${groups}/first`);
    await page.getByText('Shown only to users that may delete the object.').waitFor();
    t.equal(await page.getByRole('button', { name: 'Actions' }).count(), 0);
    await page.getByRole('link', { name: 'Definition' }).click();
    await page.getByText('None of your roles allows changes.').waitFor();
    t.equal(await page.getByText('The server checks while you type').count(), 0);
    await open(groups);
    await page.getByRole('link', { name: 'first', exact: true }).waitFor();
    t.equal(await page.getByRole('checkbox').count(), 0, 'rows cannot be selected without a right to change them');
  });
});
