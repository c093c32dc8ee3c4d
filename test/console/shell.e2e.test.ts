import t, { test } from 'tap';

import { accessibilityProblems } from './support/accessibility.ts';
import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';

const stage = new Stage(t);

test('a visitor logs in, and gets to the page that they wanted', withBrowser, async (t) => {
  await stage.visit(t, { user: undefined }, async ({ page, open, picture }) => {
    await open('/objects/example.com/v1alpha1/widgets');
    t.match(page.url(), /\/console\/login\?to=/u);
    await picture('login');
    await page.getByLabel('User name').fill('admin');
    await page.getByLabel('Password').fill('wrong password');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('The user name or the password is wrong.').waitFor();
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/console/objects/example.com/v1alpha1/widgets');
  });
});

test('the sidebar has the types that the user may list', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/');
    const types = page.getByRole('navigation', { name: 'Pages and types' });
    await types.getByRole('link', { name: 'Widget' }).waitFor();
    t.match(await page.title(), 'Home · Ledgerplane');
    await picture('home');
  });
});

test('a type with a page of its own is under More types, which the browser keeps open', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/');
    const sides = page.getByRole('navigation', { name: 'Pages and types' });
    await sides.getByRole('link', { name: 'Posts', exact: true }).waitFor();
    await sides.getByRole('heading', { name: 'Content' }).waitFor();
    await sides.getByRole('heading', { name: 'Example' }).waitFor();
    await sides.getByRole('link', { name: 'Widget' }).waitFor();
    const more = sides.getByRole('button', { name: 'More types' });
    t.equal(await more.getAttribute('aria-expanded'), 'false');
    const kinds = [
      'Comment',
      'Event',
      'PersonalAccessToken',
      'Plugin',
      'Post',
      'Role',
      'RoleBinding',
      'Session',
      'User',
    ];
    for (const kind of kinds) t.equal(await sides.getByRole('link', { name: kind, exact: true }).count(), 0, kind);
    await more.click();
    for (const kind of kinds) await sides.getByRole('link', { name: kind, exact: true }).waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('sidebar');
    await page.reload();
    await sides.getByRole('link', { name: 'RoleBinding' }).waitFor();
    await more.click();
    await open('/objects/-/v1alpha1/roles');
    await sides.getByRole('link', { name: 'Role', exact: true }).waitFor();
  });
});

test('the files of the tables load before a table is opened', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    const loaded = page.waitForResponse(/\/assets\/objects-page-.*\.js$/u);
    await open('/');
    t.equal((await loaded).status(), 200);
  });
});

for (const theme of ['light', 'dark'] as const)
  test(`the shell is accessible in the ${theme} theme, and in Chinese`, withBrowser, async (t) => {
    await stage.visit(t, { theme, user: undefined, language: 'zh-CN' }, async ({ page, open }) => {
      await open('/login');
      await page.getByRole('heading', { name: '登录' }).waitFor();
      t.strictSame(await accessibilityProblems(page), []);
    });
    await stage.visit(t, { theme }, async ({ page, open, picture }) => {
      await open('/');
      await page.getByRole('link', { name: 'Widget' }).first().waitFor();
      t.strictSame(await accessibilityProblems(page), []);
      await picture(`home-${theme}`);
      await page.getByRole('button', { name: /^Account/u }).click();
      await page.getByRole('menuitem', { name: 'Log out' }).waitFor();
      t.strictSame(await accessibilityProblems(page), []);
    });
  });

test('the palette finds pages, types and objects with the keyboard alone', withBrowser, async (t) => {
  const created = await stage.server.call('/apis/example.com/v1alpha1/widgets', {
    method: 'POST',
    body: { metadata: { name: 'palette-lamp' }, spec: { title: 'Lamp' } },
  });
  t.equal(created.status, 201);
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/');
    await page.getByRole('link', { name: 'Widget' }).first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nothing-l');
    await page.getByText('No page, type or object has this name.').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('palette-l');
    await page.getByRole('option', { name: /palette-lamp/u }).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('widget');
    await page.getByRole('option', { name: /palette-lamp/u }).waitFor();
    t.match(await page.getByRole('option').first().innerText(), /^Widget\s+example\.com$/u);
    await page.keyboard.type(' pal');
    await page.getByRole('option').first().filter({ hasText: 'palette-lamp' }).waitFor();
    await picture('palette');
    t.strictSame(await accessibilityProblems(page), []);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/objects/example.com/v1alpha1/widgets/palette-lamp');
  });
});

test('a first press of Tab reaches the link to the content', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/');
    await page.getByRole('link', { name: 'Widget' }).first().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    t.equal(await page.evaluate('document.activeElement.id'), 'main');
  });
});

test('at 320 pixels nothing is cut off, and the menu opens and closes', withBrowser, async (t) => {
  await stage.visit(t, { width: 320, height: 640 }, async ({ page, open, picture }) => {
    await open('/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    await page.getByRole('button', { name: 'Menu' }).click();
    const link = page.getByRole('navigation', { name: 'Pages and types' }).getByRole('link', { name: 'Widget' });
    await link.waitFor();
    await picture('menu-320');
    t.strictSame(await accessibilityProblems(page), []);
    await page.keyboard.press('Escape');
    await link.waitFor({ state: 'hidden' });
  });
});

test('an unknown address, in English and in Chinese', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/nowhere/at/all');
    await page.getByText('There is nothing at this address').waitFor();
    t.equal(await page.title(), 'Page not found · Ledgerplane');
    await page.getByRole('button', { name: /^Account/u }).click();
    await page.getByRole('menuitem', { name: '简体中文' }).click();
    await page.getByText('此地址没有任何内容').waitFor();
    t.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN');
  });
});
