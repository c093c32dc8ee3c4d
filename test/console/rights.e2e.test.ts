import t, { test } from 'tap';

import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';

const stage = new Stage(t);
const password = 'rita has a secret';

test('a role that an administrator gives and takes shows in the open page of the user', withBrowser, async (t) => {
  const made = await stage.server.call('/api/v1alpha1/users', {
    method: 'POST',
    body: { metadata: { name: 'rita' }, spec: { password } },
  });
  t.equal(made.status, 201);
  await stage.visit(t, { user: 'rita', password }, async ({ page: user, open: openOfUser }) => {
    const asked: string[] = [];
    user.on('request', (request) => {
      if (request.url().includes('/users/-/permissions')) asked.push(new URL(request.url()).search);
    });
    await openOfUser('/audit');
    await user.getByRole('heading', { name: 'No access' }).waitFor();
    const pages = user.getByRole('navigation', { name: 'Pages and types' });
    t.equal(await pages.getByRole('link', { name: 'Audit' }).count(), 0);
    await stage.visit(t, {}, async ({ page, open }) => {
      await open('/access/users/rita');
      await page.getByRole('button', { name: 'Give a role' }).click();
      await page.getByRole('dialog').getByLabel('Role').selectOption('role-template-audit-viewer');
      await page.getByRole('dialog').getByRole('button', { name: 'Give' }).click();
      await pages.getByRole('link', { name: 'Audit' }).waitFor();
      await user.getByRole('heading', { name: 'Audit', exact: true }).waitFor();

      await page.getByRole('button', { name: /^Take away/u }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Take away' }).click();
      await user.getByRole('heading', { name: 'No access' }).waitFor();
      t.equal(await pages.getByRole('link', { name: 'Audit' }).count(), 0);
    });
    // Only requests that wait at the server, and reads after a refusal, have followed the first one.
    t.ok(asked.filter((query) => query === '?wait=25').length >= 2);
    t.ok(asked.length <= 8, asked.join(' '));
  });
});
