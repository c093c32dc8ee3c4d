import t, { test } from 'tap';

import { withBrowser } from '../support/browser.ts';
import { change, checkLook, goodsPath, goodsStage, make, read, rowOf } from './goods.ts';

const stage = goodsStage(t);
const groups = `${goodsPath}/groups`;
const named = (prefix: string): string => `${groups}?fieldSelector=metadata.name%5E%3D${prefix}&sort=metadata.name,asc`;

test('labels of chosen objects are set and removed after a dry run', withBrowser, async (t) => {
  await make(stage, 'groups', 'label-a', { metadata: { labels: { team: 'red', old: 'yes' } } });
  await make(stage, 'groups', 'label-b', { metadata: { labels: { team: 'blue' } } });
  await make(stage, 'groups', 'label-c');
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(named('label-'));
    await rowOf(page, 'label-a').waitFor();
    await page.getByRole('checkbox', { name: 'Select the visible rows' }).check();
    await page.getByRole('button', { name: 'Label' }).click();
    const dialog = page.getByRole('dialog', { name: 'Label 3 objects of the type Group' });
    t.equal(await dialog.getByRole('button', { name: 'Check' }).isDisabled(), true);
    await dialog.getByLabel('Label', { exact: true }).fill('not a label!');
    await dialog.getByLabel('Value').fill('blue');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByText('3 objects could not be changed').waitFor();
    t.ok((await dialog.getByRole('alert').count()) > 1, 'the problem is at the label as well');
    await picture('label-problem');
    await dialog.getByLabel('Label', { exact: true }).fill('team');
    await dialog.getByRole('button', { name: 'Another label' }).click();
    await dialog.getByLabel('Action').last().selectOption('remove');
    await dialog.getByLabel('Label', { exact: true }).last().fill('old');
    await page.keyboard.press('Enter');
    await dialog.getByText('2 objects change.').waitFor();
    await dialog.getByText('1 object is like this already.').waitFor();
    await checkLook(t, page, { picture, name: 'label-plan' });
    await dialog.getByRole('button', { name: 'Change 2 objects' }).click();
    await page.getByText('The labels of 2 objects are changed').waitFor();
    await dialog.waitFor({ state: 'detached' });
  });
  for (const name of ['label-a', 'label-b', 'label-c'])
    t.strictSame((await read(stage, 'groups', name)).labels, { team: 'blue' }, name);
});

test('an object that changes after the dry run is not overwritten', withBrowser, async (t) => {
  for (const name of ['raced-a', 'raced-b']) await make(stage, 'groups', name);
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(named('raced-'));
    await rowOf(page, 'raced-a').getByRole('checkbox').check();
    await rowOf(page, 'raced-b').getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Label' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Label', { exact: true }).fill('team');
    await dialog.getByLabel('Value').fill('green');
    await page.keyboard.press('Enter');
    await dialog.getByText('2 objects change.').waitFor();
    await change(stage, 'groups', 'raced-b', { metadata: { labels: { team: 'red' } } });
    await dialog.getByRole('button', { name: 'Change 2 objects' }).click();
    await dialog.getByText('the object has been modified', { exact: false }).waitFor();
    t.strictSame((await read(stage, 'groups', 'raced-b')).labels, { team: 'red' });
    await dialog.getByRole('button', { name: 'Check again' }).click();
    await dialog.getByText('1 object changes.').waitFor();
    await dialog.getByText('red', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Change 1 object' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
  for (const name of ['raced-a', 'raced-b'])
    t.strictSame((await read(stage, 'groups', name)).labels, { team: 'green' }, name);
});

test('a range of rows is chosen, also of rows that were never drawn', withBrowser, async (t) => {
  for (let index = 0; index < 320; index += 1) await make(stage, 'groups', `far-${String(index).padStart(3, '0')}`);
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(named('far-'));
    await rowOf(page, 'far-002').getByRole('checkbox').check();
    await rowOf(page, 'far-002').getByRole('link').focus();
    await page.keyboard.press('End');
    await page.locator('a:focus', { hasText: 'far-319' }).waitFor();
    await rowOf(page, 'far-319')
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await page.getByText('318 selected').waitFor();
    await page.getByRole('button', { name: 'Select all 320' }).click();
    await page.getByText('320 selected').waitFor();
    await page.getByLabel('Select by labels').fill('absent');
    await page.getByText('No Group matches').waitFor();
    t.equal(await page.getByText('320 selected').count(), 0, 'another selection begins without chosen rows');
  });
});
