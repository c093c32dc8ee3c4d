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

test('sessions are listed, and one or all others are ended', withBrowser, async (t) => {
  const logIn = async (userAgent: string): Promise<string> => {
    const answer = await fetch(`${stage.server.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent },
      body: JSON.stringify({ username: 'admin', password: testPassword }),
    });
    return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  };
  const asked = async (cookie: string): Promise<number> =>
    (await fetch(`${stage.server.url}/session`, { headers: { cookie } })).status;
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    const firefox = await logIn('Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0');
    const script = await logIn('<b>script</b>/1.0 of a person');
    await open('/profile');
    const entry = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await entry('Firefox 140 on Windows').waitFor();
    await entry('<b>script</b>/1.0').getByText('127.0.0.1').waitFor();
    await entry('This session').getByText('Chrome', { exact: false }).waitFor();
    await picture('sessions');
    await page.getByRole('button', { name: 'End the session of Firefox 140 on Windows' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
    await entry('Firefox 140 on Windows').waitFor({ state: 'detached' });
    t.strictSame([await asked(firefox), await asked(script)], [401, 200]);
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
    await page.getByText(/sessions? (?:has|have) ended/u).waitFor();
    await entry('<b>script</b>/1.0').waitFor({ state: 'detached' });
    t.equal(await asked(script), 401);
    await entry('This session').getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
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
