import t, { test } from 'tap';

import { accessibilityProblems } from './support/accessibility.ts';
import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';
import { testPassword } from '../support/server/start-server.ts';

const stage = new Stage(t);

test('the account is changed, and problems are shown at their fields', withBrowser, async (t) => {
  for (const theme of ['light', 'dark'] as const)
    await stage.visit(t, { theme }, async ({ page, open, picture }) => {
      await open('/profile');
      await page.getByLabel('Display name').waitFor();
      await page.getByText('No access tokens').waitFor();
      t.strictSame(await accessibilityProblems(page), []);
      await picture(`profile-${theme}`);
    });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/profile');
    await page.getByLabel('Display name').fill('The boss');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('button', { name: /The boss/u }).waitFor();
  });
});

test('a token is shown once, works, and is revoked', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/profile');
    await page.getByRole('button', { name: 'New access token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What it is for').fill('A script');
    t.strictSame(await accessibilityProblems(page), []);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Copy the token now').waitFor();
    await picture('token');
    const token = await dialog.getByTestId('token').innerText();
    const asked = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${stage.server.url}/apis/uc.api.svc.run/v1alpha1/users/-`, { headers })).status;
    };
    t.equal(await asked(), 200);
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await page.getByText('A script').waitFor();
    t.equal(await page.getByText(token).count(), 0);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Revoked').waitFor();
    t.equal(await asked(), 401);
  });
});

test('the password is changed with the present one, and the page keeps its session', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/profile');
    const change = page.getByRole('button', { name: 'Change password' });
    const fill = async (present: string, chosen: string): Promise<void> => {
      await page.getByLabel('Current password').fill(present);
      await page.getByLabel('New password', { exact: true }).fill(chosen);
      await page.getByLabel('New password, again').fill(chosen);
      await change.click();
    };
    await fill('not the password', 'another long password');
    await page.getByText('is wrong').waitFor();
    await fill(testPassword, 'password');
    await page.getByText('common', { exact: false }).last().waitFor();
    await fill(testPassword, 'another long password');
    await page.getByText('The password is changed.', { exact: false }).waitFor();
    await page.getByLabel('About me').fill('Still here');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
  });
});
