import t, { test } from 'tap';

import { accessibilityProblems } from './support/accessibility.ts';
import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';
import { testPassword } from '../support/server/start-server.ts';

const stage = new Stage(t);
const widgets = '/objects/example.com/v1alpha1/widgets';
const api = '/apis/example.com/v1alpha1/widgets';

test('a page survives the end of its session, and keeps what is on it', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, context, open, picture }) => {
    await open('/profile');
    await page.getByLabel('About me').fill('Not saved yet');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('session-ended');
    await dialog.getByLabel('Password of admin').fill('wrong password');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('The user name or the password is wrong.').waitFor();
    await dialog.getByLabel('Password of admin').fill(testPassword);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.equal(await page.getByLabel('About me').inputValue(), 'Not saved yet');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
  });
});

test('the end of a session is shown above an open dialog, which goes on afterwards', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, context, open, picture }) => {
    await open('/profile');
    await page.getByRole('button', { name: 'New access token' }).click();
    const creation = page.getByRole('dialog', { name: 'New access token' });
    await creation.getByLabel('What it is for').fill('A script');
    await context.clearCookies();
    await creation.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password of admin').fill(testPassword);
    await picture('session-ended-dialog');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.equal(await creation.getByLabel('What it is for').inputValue(), 'A script');
    await creation.getByRole('button', { name: 'Create' }).click();
    await creation.getByText('Copy the token now').waitFor();
  });
});

test('a restart of the server is shown calmly, and the page goes on without a reload', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture, problems }) => {
    await open(widgets);
    await page.getByText('No Widget yet').waitFor();
    await page.evaluate('window.isTheSamePage = true');
    await stage.restartServer(async () => {
      await page.getByText('The server cannot be reached. Trying again…').waitFor();
      t.strictSame(await accessibilityProblems(page), []);
      await picture('connection-lost');
    });
    await page.getByText('The server cannot be reached. Trying again…').waitFor({ state: 'detached' });
    const body = { metadata: { name: 'after-restart' }, spec: { title: 'Made after the restart' } };
    t.equal((await stage.server.call(api, { method: 'POST', body })).status, 201);
    await page.getByText('Made after the restart').waitFor();
    t.equal(await page.evaluate('window.isTheSamePage'), true);
    t.strictSame(
      problems.take().filter((line) => !line.includes('net::ERR_')),
      [],
    );
  });
});

test('a server that hangs is noticed, and the page goes on when it answers again', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(widgets);
    await page.getByText('Live', { exact: true }).waitFor();
    const held: (() => void)[] = [];
    await page.route('**/*', async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await page.getByRole('link', { name: 'Plugins', exact: true }).first().click();
    await page.getByText('The server cannot be reached. Trying again…').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    for (const proceed of held) proceed();
    await page.getByText('The server cannot be reached. Trying again…').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Plugins' }).waitFor();
  });
});

test('a page shows its mark until the server has answered', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page }) => {
    let proceed = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    await page.route('**/version', async (route) => {
      await answered;
      await route.continue();
    });
    await page.goto('/console/');
    await page.getByRole('heading', { name: 'Waiting for the server' }).waitFor();
    proceed();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
  });
});

test('a log-out ends the session, and the next log-in begins another one', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, context, open }) => {
    await open('/profile');
    await page.getByRole('button', { name: /^Account/u }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    t.equal((await context.request.get('/apis/uc.api.svc.run/v1alpha1/users/-')).status(), 401);
  });
});

test('a page without the right to it says so, until the right is given', withBrowser, async (t) => {
  const core = '/api/v1alpha1';
  const user = { metadata: { name: 'jane' }, spec: { displayName: 'Jane', password: 'jane-has-a-secret' } };
  t.equal((await stage.server.call(`${core}/users`, { method: 'POST', body: user })).status, 201);
  await stage.visit(t, { user: 'jane', password: 'jane-has-a-secret' }, async ({ page, open, picture }) => {
    await open('/objects/content.svc.run/v1alpha1/posts');
    await page.getByText('None of your roles allows you to read objects of the type Post.').waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('forbidden');
    const types = page.getByRole('navigation', { name: 'Pages and types' });
    t.equal(await types.getByRole('link', { name: 'Widget' }).count(), 0);
    const path = '/apis/api.console.svc.run/v1alpha1/users/jane/permissions';
    t.equal((await stage.server.call(path, { method: 'POST', body: { roles: ['post-editor'] } })).status, 200);
    // The page reads the rights again when the window gets the focus.
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText('No Post yet').waitFor({ timeout: 30_000 });
    await types.getByRole('link', { name: 'Post', exact: true }).waitFor();
  });
});
