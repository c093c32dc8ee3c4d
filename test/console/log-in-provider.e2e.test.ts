/** Log-ins at an identity provider, from the page Log in of the console. */
import t, { test } from 'tap';

import { accessibilityProblems } from './support/accessibility.ts';
import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';
import { clientId, clientSecret, startProvider } from '../support/server/identity-provider.ts';

const provider = await startProvider(t);
const { host } = new URL(provider.url);
const stage = new Stage(t, {
  OIDC_ISSUER: provider.url,
  OIDC_CLIENT_ID: clientId,
  OIDC_CLIENT_SECRET: clientSecret,
});

test('a user of the provider logs in, and gets to the page that they wanted', withBrowser, async (t) => {
  for (const theme of ['light', 'dark'] as const)
    await stage.visit(t, { user: undefined, theme }, async ({ page, open, picture }) => {
      await open('/profile?from=a%20link#here');
      await page.getByRole('link', { name: `Log in at ${host}` }).waitFor();
      t.strictSame(await accessibilityProblems(page), []);
      await picture(`login-provider-${theme}`);
      await page.getByRole('link', { name: `Log in at ${host}` }).click();
      await page.waitForURL('**/console/profile?from=a%20link#here');
      await page.getByRole('button', { name: /oidc:jane/u }).waitFor();
      await page.getByText('This session').waitFor();
    });
});

test('a long address loses its query, and no more', withBrowser, async (t) => {
  await stage.visit(t, { user: undefined }, async ({ page, open }) => {
    await open(`/profile?from=${'x'.repeat(600)}`);
    await page.getByRole('link', { name: `Log in at ${host}` }).click();
    await page.waitForURL('**/console/profile');
  });
});

test('a log-in that fails says why, and can be begun again', withBrowser, async (t) => {
  await stage.visit(t, { user: undefined }, async ({ page, open, picture }) => {
    provider.behaviour.denies = 'access_denied';
    await open('/profile');
    const link = page.getByRole('link', { name: `Log in at ${host}` });
    await link.click();
    const alert = page.getByRole('alert');
    await alert.getByText('The identity provider did not log you in.').waitFor();
    await alert.getByText(/^Request /u).waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('login-denied');
    provider.behaviour.denies = undefined;
    provider.behaviour.token = 'status';
    await link.click();
    await alert.getByText('The identity provider cannot be reached', { exact: false }).waitFor();
    provider.behaviour.token = undefined;
    await page.getByLabel('User name').fill('nobody');
    await page.getByLabel('Password').fill('nothing');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('The user name or the password is wrong.').waitFor();
    t.equal(await alert.count(), 1, 'the newest problem is shown alone');
    await link.click();
    await page.waitForURL('**/console/profile');
  });
});

test('an ended session of the provider goes on after a log-in in another tab', withBrowser, async (t) => {
  await stage.visit(t, { user: undefined }, async ({ page, context, open, picture }) => {
    await open('/profile');
    await page.getByRole('link', { name: `Log in at ${host}` }).click();
    await page.getByText('This session').waitFor();
    await context.clearCookies();
    t.equal(await page.getByText('access token').count(), 0, 'users of a provider have no tokens');
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('session-ended-provider');
    const opened = context.waitForEvent('page');
    await dialog.getByRole('link', { name: `Log in at ${host}` }).click();
    const other = await opened;
    await other.getByRole('heading', { name: 'Home' }).waitFor();
    await other.close();
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await dialog.waitFor({ state: 'detached' });
  });
});
