/** Whole stories of users with few roles. The role manager's is in access.e2e.test.ts. */
import type { Page } from 'playwright-core';
import t, { test } from 'tap';

import { Administration, passwordOf } from '../../support/server/administration.ts';
import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t, { ACCESS_EVENTS: 'on' });
const widgets = '/objects/example.com/v1alpha1/widgets';

/** Creates a user with roles. */
async function userWith(name: string, ...roles: readonly string[]): Promise<{ user: string; password: string }> {
  await new Administration(stage.server.url).user(name);
  const path = `/apis/api.console.svc.run/v1alpha1/users/${name}/permissions`;
  const given = await stage.server.call(path, { method: 'POST', body: { roles } });
  if (!given.ok) throw new Error(await given.text());
  return { user: name, password: passwordOf(name) };
}

test('a visitor without roles has an account, and is told what else there is', withBrowser, async (t) => {
  const { user, password } = await userWith('vera');
  await stage.visit(t, { user: undefined }, async ({ page, open, picture }) => {
    await open(`${widgets}/lamp?tab=x`);
    await page.getByLabel('User name').fill(user);
    await page.getByLabel('Password').fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByText('The user name or the password is wrong.').waitFor();
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('None of your roles allows you to read objects of the type Widget.').waitFor();
    for (const path of ['/access', '/audit', '/plugins']) {
      await open(path);
      await page.getByText('You do not have access to this page').waitFor();
    }
    await picture('visitor-forbidden');
    const pages = page.getByRole('navigation', { name: 'Pages and types' });
    t.strictSame(await pages.getByRole('link').allInnerTexts(), ['Home', 'My comments']);
    await pages.getByRole('link', { name: 'Home' }).click();
    await page.getByText('There are no types that you may read').waitFor();
    await page.getByRole('button', { name: /^Account/u }).click();
    await page.getByRole('menuitem', { name: 'Profile' }).click();
    await page.getByLabel('Display name').fill('Vera V.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: /Vera V\./u }).waitFor();
    await page.getByRole('button', { name: /^Account/u }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  });
});

test('an auditor reads and verifies everything, and changes nothing', withBrowser, async (t) => {
  const auditor = await userWith('anton', 'role-template-audit-viewer');
  const body = { metadata: { name: 'audited' }, spec: { title: 'A fine lamp' } };
  t.equal((await stage.server.call('/apis/example.com/v1alpha1/widgets', { method: 'POST', body })).status, 201);
  await stage.visit(t, auditor, async ({ page, open, picture }) => {
    await open('/');
    const pages = page.getByRole('navigation', { name: 'Pages and types' });
    await pages.getByRole('link', { name: 'Audit' }).click();
    for (const hidden of ['Access', 'Plugins', 'Widget'])
      t.equal(await pages.getByRole('link', { name: hidden }).count(), 0, hidden);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('audited');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const events = page.getByRole('list', { name: 'Events' });
    await events.getByRole('button', { name: /Created.*audited.*admin/u }).click();
    await events.getByRole('button', { name: 'Verify the proof' }).click();
    await events.getByText('Proven', { exact: true }).waitFor();
    await picture('auditor');
    t.strictSame(await accessibilityProblems(page), []);
    const parts = page.getByRole('navigation', { name: 'Parts of the audit' });
    await parts.getByRole('link', { name: 'Checkpoints' }).click();
    await page.getByRole('heading', { name: 'Present checkpoint' }).waitFor();
    t.equal(await page.getByRole('alert').count(), 0);
    await open(`${widgets}/audited`);
    await page.getByText('None of your roles allows you to read objects of the type Widget.').waitFor();
  });
});

test('a keeper of widgets creates one with the keyboard alone', withBrowser, async (t) => {
  const keeper = await userWith('paula', 'example-widgets-manage');
  await stage.visit(t, keeper, async ({ page, open }) => {
    await open('/');
    await page.getByRole('navigation', { name: 'Pages and types' }).getByRole('link', { name: 'Widget' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('widget');
    await page
      .getByRole('option', { name: /Widget/u })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/widgets');
    await tabTo(page, 'New');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/create/**');
    await page.getByLabel(/^title/u).waitFor();
    await tabTo(page, 'name');
    await page.keyboard.type('by-keyboard');
    await tabTo(page, 'title');
    await page.keyboard.type('By keyboard');
    await page.getByText('Valid', { exact: true }).waitFor();
    await tabTo(page, 'Create');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'by-keyboard' }).waitFor();
  });
  t.equal((await stage.server.call('/apis/example.com/v1alpha1/widgets/by-keyboard')).status, 200);
});

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let press = 0; press < 200; press += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(`(() => {
      const element = document.activeElement;
      return (element.ariaLabel ?? element.labels?.[0]?.innerText ?? element.innerText ?? '').trim();
    })()`);
    if (focused.replace(/\s*\*$/u, '') === name) return;
    passed.push(focused);
  }
  throw new Error(`Tab does not reach ${name}, only ${passed.join(', ')}`);
}
