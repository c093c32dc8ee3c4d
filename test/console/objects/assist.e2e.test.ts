import t, { test } from 'tap';

import { withBrowser } from '../support/browser.ts';
import { goodsStage } from './goods.ts';

const stage = goodsStage(t);
const shapes = '/create/goods.example/v1/shapes';

test('the text editor offers members and values of the schema, in YAML and JSON', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(shapes);
    await page.getByRole('button', { name: 'YAML' }).click();
    const text = page.locator('.cm-content');
    const offers = page.getByRole('listbox').getByRole('option');
    await text.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('spec:\n  ti');
    await offers.first().waitFor();
    t.match(await offers.first().innerText(), /^title\s*string, required/u);
    await page.getByText('The title of the shape.').waitFor();
    await picture('assist-yaml');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Named\nmode: ');
    await page.keyboard.press('Control+Space');
    await offers.filter({ hasText: 'off' }).waitFor();
    const off = page.getByRole('option', { name: 'off', selected: true });
    // The list takes no keys in its first moment, so that it does not get keys that were meant for the text.
    while ((await off.count()) === 0) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    t.equal(await text.innerText(), 'spec:\n  title: Named\n  mode: off');

    await text.getByText('title').hover();
    await page.locator('.cm-explained').getByText('title · string · required').waitFor();
    await picture('assist-hover');
    await page.mouse.move(0, 0);

    await page.getByRole('button', { name: 'JSON' }).click();
    await text.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('{"spec": {"titl');
    // Unlike a key, a click chooses an offer also in the first moment of the list.
    await offers.filter({ hasText: 'title' }).first().click();
    t.match((await text.innerText()).replaceAll(/\s/gu, ''), /^\{"spec":\{"title":/u);
  });
});

test('offers are readable in the dark theme and narrow, and are about metadata too', withBrowser, async (t) => {
  await stage.visit(t, { theme: 'dark', width: 320, language: 'zh-CN' }, async ({ page, open, picture }) => {
    await open(shapes);
    await page.getByRole('button', { name: 'YAML' }).click();
    await page.locator('.cm-content').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('metadata:\n  na');
    const offers = page.getByRole('listbox').getByRole('option');
    await offers.filter({ hasText: 'name' }).first().waitFor();
    t.match(await offers.first().innerText(), /name\s*string, 必填/u);
    await picture('assist-dark-narrow');
    const overflow = await page.evaluate('document.scrollingElement.scrollWidth - innerWidth');
    t.ok(Number(overflow) <= 0);
  });
});
