import t, { test } from 'tap';

import type { Page } from 'playwright-core';

import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t);

async function make(plural: string, object: object): Promise<void> {
  const made = await stage.server.call(`/api/v1alpha1/${plural}`, { method: 'POST', body: object });
  if (!made.ok) throw new Error(await made.text());
}

async function statusOf(user: string, password: string, path: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return (await fetch(`${stage.server.url}${path}`, { headers: { authorization } })).status;
}

const posts = '/apis/content.svc.run/v1alpha1/posts';

/** Creates a role manager: a user who may manage users and roles, and has the rights to view posts to give away. */
async function makeManager(name: string): Promise<{ readonly user: string; readonly password: string }> {
  const password = 'a manager has a secret';
  await make('users', { metadata: { name }, spec: { password } });
  const roles = ['role-template-manage-users', 'role-template-manage-roles', 'content-posts-view'];
  const path = `/apis/api.console.svc.run/v1alpha1/users/${name}/permissions`;
  const bound = await stage.server.call(path, { method: 'POST', body: { roles } });
  if (!bound.ok) throw new Error(await bound.text());
  return { user: name, password };
}

async function createUser(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('User name').fill(name);
  await dialog.getByLabel('Display name').fill('Jane Doe');
  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('cannot be shown again').waitFor();
  return dialog.getByTestId('password').innerText();
}

test('a role manager creates a user, sees why something is forbidden, and allows it', withBrowser, async (t) => {
  const manager = await makeManager('maria');
  await stage.visit(t, manager, async ({ page, open, picture }) => {
    await open('/access');
    const password = await createUser(page, 'jane');
    await picture('access-new-user');
    t.equal(await statusOf('jane', password, '/api/v1alpha1/roles'), 403, 'the generated password works');

    await page.getByRole('dialog').getByRole('link', { name: 'Give roles' }).click();
    await page.getByRole('heading', { name: 'jane' }).waitFor();
    await page.goto('/console/access/new-role');
    await page.getByLabel('Role name').fill('post-reader');
    await page.getByLabel('Display name').fill('Post reader');
    await page.getByText('Nothing yet').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Post reader' }).waitFor();

    await page.goto('/console/access/users/jane');
    await page.getByText('No roles').waitFor();
    await page.getByRole('button', { name: 'Give a role' }).click();
    await page.getByRole('dialog').getByLabel('Role').selectOption('post-reader');
    await page.getByRole('dialog').getByRole('button', { name: 'Give' }).click();
    await page.getByRole('link', { name: 'Post reader' }).waitFor();
    const binding = page.getByRole('link', { name: /^binding jane-/u });
    t.match(await binding.getAttribute('href'), /\/objects\/-\/v1alpha1\/rolebindings\/jane-/u);
    await picture('access-user');

    await page.getByRole('link', { name: 'Check access' }).click();
    await page.getByRole('button', { name: 'list Post: forbidden' }).click();
    await page.getByText('A rule like this is missing:').waitFor();
    t.equal(await statusOf('jane', password, posts), 403);
    await picture('access-forbidden');

    await page.goto('/console/access/roles/post-reader/edit');
    await page.getByLabel('View posts', { exact: true }).check();
    await page.getByText('+ get, list, watch').first().waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('access-role-edit');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL('**/roles/post-reader');
    await page.getByRole('heading', { name: 'Post reader' }).waitFor();

    await page.goto('/console/access/check?user=jane&verb=list&resource=content.svc.run/posts');
    await page.getByText(/Allowed by rule \d of/u).waitFor();
    t.equal(await statusOf('jane', password, posts), 200);
    await picture('access-allowed');

    await page.goto('/console/access/roles/post-reader');
    await page.getByRole('button', { name: 'Take away the role from jane' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take away' }).click();
    await page.getByText('Nobody has this role directly.').waitFor();
    t.equal(await statusOf('jane', password, posts), 403);
  });
});

test('a role is given to a known user, and to an unknown name only if that is confirmed', withBrowser, async (t) => {
  await make('users', { metadata: { name: 'lena' }, spec: { password: 'lena has a secret' } });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/access/roles/post-author');
    const field = page.getByRole('combobox', { name: 'Give to the user' });
    await field.fill('le');
    await page.getByRole('option', { name: 'lena' }).waitFor();
    await picture('access-give-to-user');
    t.strictSame(await accessibilityProblems(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Give', exact: true }).click();
    await page.getByText('lena has the role Author now.').waitFor();
    await page.getByRole('button', { name: 'Take away the role from lena' }).waitFor();

    await field.fill('nosuch');
    await page.keyboard.press('Enter');
    await page.getByText('No user has this name.').waitFor();
    t.ok(await page.getByRole('button', { name: 'Give', exact: true }).isDisabled());
    await picture('access-give-unknown');
    const bindings = await stage.server.call('/api/v1alpha1/rolebindings?fieldSelector=subjects.name%3Dnosuch');
    t.match(await bindings.json(), { items: [] });
    await page.getByLabel('Give the role to the user who gets this name later').check();
    await page.getByRole('button', { name: 'Give', exact: true }).click();
    await page.getByRole('button', { name: 'Take away the role from nosuch' }).waitFor();
  });
});

test('a proposal shows its effect before it is made', withBrowser, async (t) => {
  await make('users', { metadata: { name: 'joe' }, spec: { password: 'joe has a secret' } });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/access/check?user=joe&verb=create&resource=content.svc.run/posts');
    await page.getByRole('button', { name: 'Try Post Manager' }).click();
    await page.getByText('With the proposed roles').waitFor();
    await page.getByRole('button', { name: 'create Post: would become allowed' }).waitFor();
    await picture('access-what-if');
    t.equal(await statusOf('joe', 'joe has a secret', posts), 403, 'a proposal writes nothing');
    await page.getByRole('button', { name: 'Make this change' }).click();
    await page.getByRole('button', { name: 'create Post: allowed' }).waitFor();
    t.equal(await statusOf('joe', 'joe has a secret', posts), 200);
    const cell = page.getByRole('button', { name: 'get Post: allowed' });
    await cell.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByText(/Allowed by rule \d of/u).waitFor();
    t.match(page.url(), /verb=list/u);
    await open('/access/check?role=post-author');
    const routes = page.getByRole('listitem').filter({ hasText: '/uc.api.content.svc.run/v1alpha1/posts/{name}' });
    await routes
      .filter({ hasText: /^allowed/u })
      .first()
      .waitFor();
    await picture('access-routes');
  });
});

test('a user is disabled, and gets another password', withBrowser, async (t) => {
  await make('users', { metadata: { name: 'kim' }, spec: { password: 'kim has a secret' } });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/access/users/kim');
    await page.getByRole('button', { name: 'Set a password' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Password/u).fill('password');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await dialog.getByText('common', { exact: false }).last().waitFor();
    await dialog.getByLabel(/^Password/u).fill('kim has a better one');
    await dialog.getByRole('button', { name: 'Set', exact: true }).click();
    await dialog.getByText('cannot be shown again').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    const account = '/apis/uc.api.svc.run/v1alpha1/users/-';
    t.equal(await statusOf('kim', 'kim has a better one', account), 200);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled').waitFor();
    t.equal(await statusOf('kim', 'kim has a better one', account), 401);
  });
});

test('cycles end, hidden templates do not show, and missing roles are named', withBrowser, async (t) => {
  const dependencies = (...names: readonly string[]): object => ({
    'rbac.authorization.svc.run/dependencies': JSON.stringify(names),
  });
  const template = { 'svc.run/role-template': 'true' };
  await make('roles', {
    metadata: { name: 'hidden-part', labels: { ...template, 'svc.run/hidden': 'true' } },
  });
  await make('roles', { metadata: { name: 'part-b', labels: template } });
  await make('roles', {
    metadata: { name: 'part-a', labels: template, annotations: dependencies('part-b', 'hidden-part', 'no-such-role') },
  });
  const patched = await stage.server.call('/api/v1alpha1/roles/part-b', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { annotations: dependencies('part-a') } },
  });
  t.equal(patched.status, 200);
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/access/roles/part-a');
    await page.getByText('a cycle ends here').waitFor();
    await page.getByText('does not exist').waitFor();
    t.equal(await page.getByText('hidden-part').count(), 0);
    await picture('access-role-cycle');
    await open('/access/roles');
    await page.getByRole('link', { name: 'part-a', exact: true }).waitFor();
    t.equal(await page.getByText('hidden-part').count(), 0);
  });
});

test('every page is accessible in both themes, narrow, and in Chinese', withBrowser, async (t) => {
  const pages = {
    users: ['/access', 'admin'],
    user: ['/access/users/admin', 'super-role'],
    roles: ['/access/roles', 'post-author'],
    role: ['/access/roles/post-author', 'Submit own posts'],
    'new-role': ['/access/new-role', 'View Users'],
    check: ['/access/check?role=post-author&verb=list&resource=content.svc.run/posts', 'watch'],
  } as const;
  for (const theme of ['light', 'dark'] as const)
    await stage.visit(t, { theme }, async ({ page, open, picture }) => {
      for (const [name, [path, content]] of Object.entries(pages)) {
        await open(path);
        await page.locator('main').getByText(content).locator('visible=true').first().waitFor();
        t.strictSame(await accessibilityProblems(page), [], `${name} in the theme ${theme}`);
        await picture(`access-${name}-${theme}`);
      }
    });
  await stage.visit(t, { width: 320, language: 'zh-CN' }, async ({ page, open, picture }) => {
    const inChinese: Readonly<Record<string, string>> = { role: '提交自己的文章', 'new-role': '查看用户' };
    for (const [name, [path, content]] of Object.entries(pages)) {
      await open(path);
      await page
        .locator('main')
        .getByText(inChinese[name] ?? content)
        .locator('visible=true')
        .first()
        .waitFor();
      const overflow = await page.evaluate('document.scrollingElement.scrollWidth - innerWidth');
      t.ok(Number(overflow) <= 0, `${name} fits 320 px`);
      await picture(`access-${name}-320`);
    }
  });
});
