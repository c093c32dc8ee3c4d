import t, { test } from 'tap';

import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';

const stage = new Stage(t);
const prefix = 'rbac.authorization.svc.run';

test('roles, modules and types have their names in the language of the page', withBrowser, async (t) => {
  const made = await stage.server.call('/api/v1alpha1/roles', {
    method: 'POST',
    body: {
      metadata: {
        name: 'shop-view',
        labels: { 'svc.run/role-template': 'true' },
        annotations: {
          [`${prefix}/display-name`]: 'View the shop',
          [`${prefix}/display-name.zh`]: '查看商店',
          [`${prefix}/module`]: 'Shop',
          [`${prefix}/module.zh`]: '商店',
        },
      },
    },
  });
  t.equal(made.status, 201);
  await stage.visit(t, { language: 'zh-CN' }, async ({ page, open, picture }) => {
    await open('/access/roles');
    const pages = page.getByRole('navigation').first();
    await pages.getByRole('button', { name: '更多类型' }).click();
    for (const name of ['用户', '角色', '个人访问令牌', '评论', '文章', 'Widget'])
      await pages.getByRole('link', { name, exact: true }).first().waitFor();
    const list = page.locator('.modules');
    for (const name of ['查看用户', '管理角色', '查看商店', '审核评论'])
      await list.getByRole('link', { name, exact: true }).waitFor();
    for (const module of ['用户', '运维', '商店', '评论'])
      await list.getByRole('heading', { name: module, exact: true }).waitFor();
    await page.getByRole('group', { name: '商店' }).getByRole('link', { name: '查看商店' }).waitFor();
    await picture('access-names-zh');

    await page.keyboard.press('Control+k');
    await page.keyboard.type('文章');
    await page.getByRole('option', { name: /^文章.*content/u }).waitFor();
    await page.keyboard.press('Escape');

    await open('/access/roles/shop-view/edit');
    await page.locator('input').first().fill('See the shop');
    await page.getByRole('button', { name: '保存' }).click();
    await page.getByRole('heading', { name: 'See the shop' }).waitFor();
  });
  const renamed = (await (await stage.server.call('/api/v1alpha1/roles/shop-view')).json()) as {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  };
  t.strictSame(
    Object.keys(renamed.metadata.annotations).sort(),
    ['dependencies', 'display-name', 'module', 'module.zh'].map((key) => `${prefix}/${key}`),
    'a new name replaces its translations',
  );
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/access/roles');
    await page.getByRole('button', { name: 'More types' }).click();
    await page.locator('.modules').getByRole('link', { name: 'See the shop' }).waitFor();
    await page.getByRole('navigation').first().getByRole('link', { name: 'PersonalAccessToken' }).waitFor();
  });
});
