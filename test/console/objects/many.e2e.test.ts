import t, { test } from 'tap';

import { Administration, passwordOf } from '../../support/server/administration.ts';
import { withBrowser } from '../support/browser.ts';
import { goodsApi, goodsPath, goodsStage, make } from './goods.ts';

/** The limit of users is so low that the actions on many objects reach it. */
const stage = goodsStage(t, { WRITES_PER_USER: '120' });
const groups = `${goodsPath}/groups`;

async function countOf(): Promise<number> {
  const list = await (await stage.server.call(`${goodsApi}/groups?size=1`)).json();
  return (list as { readonly total: number }).total;
}

test(
  'actions on many objects are bounded, keep to the limits of the user, and can be stopped',
  withBrowser,
  async (t) => {
    for (let index = 0; index < 1_030; index += 1) await make(stage, 'groups', `many-${String(index)}`);
    const administration = new Administration(stage.server.url);
    await administration.user('cleaner');
    await administration.role('cleaner', { rules: [{ apiGroups: ['goods.example'], resources: ['*'], verbs: ['*'] }] });
    await administration.bind('cleaner', 'cleaner', 'cleaner');
    await stage.visit(t, { user: 'cleaner', password: passwordOf('cleaner') }, async ({ page, open, picture }) => {
      await open(groups);
      await page.getByRole('checkbox', { name: 'Select the visible rows' }).check();
      await page.getByRole('button', { name: 'Select the first 1,000 of 1,030' }).click();
      await page.getByText('1,000 selected (the most at once)').waitFor();
      await page.getByRole('region', { name: 'Selected objects' }).getByRole('button', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('1,000 objects are removed at once.').waitFor();
      await dialog.getByRole('button', { name: 'Delete 1,000' }).click();
      await dialog.getByText(/^[1-9]\d+ of 1,000 deleted$/u).waitFor();
      await picture('delete-progress');
      await dialog.getByRole('button', { name: 'Stop' }).click();
      await dialog.getByRole('button', { name: /^Delete \d+$/u }).waitFor();
      const left = await countOf();
      t.ok(left > 30 && left < 1_030, `${String(left)} objects are left after the stop`);
      await dialog.getByRole('button', { name: /^Delete \d+$/u }).click();
      await dialog.waitFor({ state: 'detached' });
      t.equal(await page.getByRole('alert').count(), 0, 'refusals because of the limit are retried');
    });
    t.equal(await countOf(), 30);
  },
);
