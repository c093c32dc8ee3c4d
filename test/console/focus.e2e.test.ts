import t, { test } from 'tap';

import type { Locator, Page } from 'playwright-core';

import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';

const stage = new Stage(t);
const widgets = 'example.com/v1alpha1/widgets';

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

test('the focus stays in the page when an action removes the focused element', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`/objects/${widgets}`);
    await page.getByRole('link', { name: 'New' }).first().click();
    await focused(page, page.getByRole('textbox', { name: 'name', exact: true }));
    await page.keyboard.type('lamp');
    await page.getByLabel('title').fill('Lamp');
    await page.getByRole('button', { name: /^metadata/u }).click();
    await page.getByRole('button', { name: 'Add labels' }).click();
    await focused(page, page.getByLabel('Name of a new entry'));
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/widgets/lamp');
    await focused(page, page.getByRole('heading', { name: 'lamp', level: 1 }));

    const created = await stage.server.call(`/apis/${widgets}/lamp`);
    const { metadata } = (await created.json()) as { readonly metadata: { readonly resourceVersion: string } };
    await stage.server.call(`/apis/${widgets}/lamp`, { method: 'DELETE' });
    await open(`/history/${widgets}/lamp?at=${metadata.resourceVersion}`);
    await page.getByRole('button', { name: 'Restore…' }).click();
    await focused(page, page.getByRole('dialog').getByRole('button', { name: 'Cancel' }));
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Restored: the object exists again.').waitFor();
    await focused(page, page.getByRole('heading', { level: 1 }));
  });
});
