import t, { test } from 'tap';

import type { Locator, Page } from 'playwright-core';

import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';

const stage = new Stage(t);

/** Waits until an element has the focus. */
async function focused(page: Page, element: Locator): Promise<void> {
  await element.and(page.locator(':focus')).waitFor();
}

test('a dialog has the focus at its first field, or at Cancel', withBrowser, async (t) => {
  const made = await stage.server.call('/api/v1alpha1/users', {
    method: 'POST',
    body: { metadata: { name: 'jane' }, spec: { password: 'jane has a secret' } },
  });
  t.equal(made.status, 201);
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/access');
    await page.getByRole('button', { name: 'New user' }).click();
    await focused(page, page.getByRole('textbox', { name: 'User name' }));
    await page.keyboard.press('Escape');
    await focused(page, page.getByRole('button', { name: 'New user' }));

    await page.getByRole('link', { name: 'jane' }).first().click();
    await page.getByRole('button', { name: 'Give a role' }).click();
    await focused(page, page.getByRole('dialog').getByLabel('Role'));
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await focused(page, page.getByRole('button', { name: 'Cancel' }));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });

    await open('/plugins');
    await page.getByRole('button', { name: 'Install plugin' }).click();
    await focused(page, page.getByRole('button', { name: 'Choose' }));
  });
});
