import t, { test } from 'tap';

import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t);

async function make(name: string, module: string, dependencies: readonly string[], isHidden = false): Promise<void> {
  const made = await stage.server.call('/api/v1alpha1/roles', {
    method: 'POST',
    body: {
      metadata: {
        name,
        labels: { 'svc.run/role-template': 'true', ...(isHidden && { 'svc.run/hidden': 'true' }) },
        annotations: {
          'rbac.authorization.svc.run/module': module,
          'rbac.authorization.svc.run/dependencies': JSON.stringify(dependencies),
        },
      },
    },
  });
  if (!made.ok) throw new Error(await made.text());
}

t.before(async () => {
  if (withBrowser.skip !== undefined) return;
  await make('shop-secret', 'Shop', [], true);
  await make('shop-view', 'Shop', []);
  await make('shop-edit', 'Shop', ['shop-view']);
  await make('shop-all', 'Stores', ['shop-edit', 'shop-view', 'shop-secret', 'content-posts-view']);
});

test('templates are a graph by module, whose ways the arrow keys follow', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/access/roles');
    const graph = page.getByRole('group', { name: 'Dependencies of templates' });
    const all = graph.getByRole('link', { name: /^shop-all/u });
    await all.waitFor();
    t.equal(
      await all.getAttribute('aria-label'),
      'shop-all. Includes: shop-edit, shop-view, View posts',
      'the connections are spoken, without hidden templates',
    );
    t.equal(await graph.getByText('shop-secret').count(), 0);
    t.equal(await graph.getByRole('group', { name: 'Stores' }).getByRole('link').count(), 1);

    await graph.locator('[tabindex="0"]').focus();
    t.equal(await graph.locator('[tabindex="0"]').count(), 1, 'the graph is one stop of the Tab key');
    await all.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const focused = page.locator('.node:focus');
    t.match(await focused.getAttribute('aria-label'), /^shop-view\. Included in: /u);
    const edit = graph.getByRole('link', { name: /^shop-edit/u });
    t.match(await edit.getAttribute('class'), /is-above/u, 'what includes the focused role is marked');
    t.match(await all.getAttribute('class'), /is-above/u);
    t.match(await graph.getByRole('link', { name: /^Manage Users/u }).getAttribute('class'), /is-other/u);
    await picture('access-graph-focused');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/access/roles/shop-view');
  });
});

test('the list beside the graph marks the same ways', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/access/roles');
    const graph = page.getByRole('group', { name: 'Dependencies of templates' });
    await graph.getByRole('link', { name: /^shop-all/u }).waitFor();
    await page.locator('.modules').getByRole('link', { name: 'shop-edit' }).focus();
    t.match(await graph.getByRole('link', { name: /^shop-view/u }).getAttribute('class'), /is-below/u);
    t.match(await graph.getByRole('link', { name: /^shop-all/u }).getAttribute('class'), /is-above/u);
  });
});

test('the page of a role has its graph; both are accessible in both themes and narrow', withBrowser, async (t) => {
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1_280, 320])
      await stage.visit(t, { theme, width }, async ({ page, open, picture }) => {
        for (const path of ['/access/roles', '/access/roles/shop-edit']) {
          await open(path);
          const graph = page.locator('.role-graph');
          await graph.getByRole('link', { name: /^shop-all/u }).waitFor();
          t.strictSame(await accessibilityProblems(page), [], `${path} in the theme ${theme}`);
          const overflow = await page.evaluate('document.scrollingElement.scrollWidth - innerWidth');
          t.ok(Number(overflow) <= 0, `${path} fits ${String(width)} px`);
          await graph.scrollIntoViewIfNeeded();
          await picture(`access-graph-${path.endsWith('roles') ? 'roles' : 'role'}-${theme}-${String(width)}`);
        }
      });
});
