import t, { test } from 'tap';

import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t);
const core = '/api/v1alpha1';

test('the form of a user hides the password, and offers no field without an effect', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/create/-/v1alpha1/users');
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('secretive');
    const password = page.getByLabel('password');
    t.equal(await password.getAttribute('type'), 'password');
    await password.fill('a user has a secret');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    t.equal(await password.getAttribute('type'), 'text');
    for (const member of ['totpEncryptedSecret', 'emailVerified', 'registeredAt', 'loginHistoryLimit'])
      t.equal(await page.getByText(member).count(), 0, member);
    await page.getByText('Valid', { exact: true }).waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('user-form');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/users/secretive');
  });
});

test('the console offers no request that the server always refuses', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/objects/-/v1alpha1/sessions');
    await page.getByRole('row').filter({ hasText: 'admin' }).first().waitFor();
    t.equal(await page.getByRole('link', { name: 'New' }).count(), 0);
    await page.getByRole('row').filter({ hasText: 'admin' }).first().getByRole('link').click();
    await page.getByRole('link', { name: 'Definition' }).waitFor();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
    await open('/create/-/v1alpha1/sessions');
    await page.getByText('There is nothing at this address').waitFor();
    await open('/create/-/v1alpha1/personalaccesstokens');
    await page.getByRole('button', { name: 'New access token' }).waitFor();
    await open('/objects/plugin.svc.run/v1alpha1/plugins');
    await page.getByRole('link', { name: 'New' }).click();
    await page.getByRole('button', { name: 'Install plugin' }).waitFor();
  });
});

test('who may only read an object opens all parts of its form', withBrowser, async (t) => {
  const name = 'rita';
  const password = 'rita has a secret';
  await stage.server.call(`${core}/users`, { method: 'POST', body: { metadata: { name }, spec: { password } } });
  const path = `/apis/api.console.svc.run/v1alpha1/users/${name}/permissions`;
  const bound = await stage.server.call(path, { method: 'POST', body: { roles: ['example-widgets-view'] } });
  t.equal(bound.status, 200);
  const lamp = {
    metadata: { name: 'shown-lamp', labels: { room: 'hall' } },
    spec: { title: 'Lamp', tags: ['a', 'b'] },
  };
  const made = await stage.server.call('/apis/example.com/v1alpha1/widgets', { method: 'POST', body: lamp });
  t.equal(made.status, 201);
  await stage.visit(t, { user: name, password }, async ({ page, open, picture }) => {
    await open('/objects/example.com/v1alpha1/widgets/shown-lamp/edit');
    await page.getByRole('button', { name: /^metadata/u }).click();
    t.equal(await page.getByLabel('room').inputValue(), 'hall');
    t.ok(await page.getByLabel('room').isDisabled());
    t.ok(await page.getByLabel('tags 1').isDisabled());
    for (const change of [/^Move/u, /^Remove/u, /^Add/u])
      t.equal(await page.getByRole('main').getByRole('button', { name: change }).count(), 0, String(change));
    await picture('form-read-only');
  });
});
