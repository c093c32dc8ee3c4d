import t, { test, type Test } from 'tap';
import type { Page } from 'playwright-core';

import { tgz } from '../packages/archives.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';

const stage = new Stage(t);

/** Returns the package of a plugin that has a type, two routes, a log line and, in version 2.0.0, a further rule. */
function notes(version: string): { readonly name: string; readonly mimeType: string; readonly buffer: Buffer } {
  const required = version === '1.0.0' ? ['text'] : ['text', 'author'];
  const manifest = {
    apiVersion: 'plugin.${domain}/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'notes' },
    spec: { version, main: 'main.mjs', displayName: 'Notes', description: 'Short texts.' },
  };
  const type = {
    group: 'notes.example.com',
    version: 'v1',
    plural: 'notes',
    singular: 'note',
    kind: 'Note',
    schema: {
      type: 'object',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          required,
          properties: { text: { type: 'string' }, author: { type: 'string' } },
        },
      },
    },
  };
  const main = `export default ({ log }) => {
    log.info('the notes are open', { edition: '${version}' });
    return {
    types: [${JSON.stringify(type)}],
    routes: [
      { method: 'GET', path: '/apis/api.notes.example.com/v1/greetings/{name}', summary: 'Greets somebody',
        handler: ({ params }) => ({ body: { greeting: 'hello ' + params.name } }) },
    ],
  }; };`;
  const buffer = tgz([
    { name: 'notes', kind: 'folder' },
    { name: 'notes/plugin.yaml', content: JSON.stringify(manifest) },
    { name: 'notes/main.mjs', content: main },
  ]);
  return { name: `notes-${version}.tgz`, mimeType: 'application/gzip', buffer };
}

/** Checks the page in the dark theme as well, and in 320 px. */
async function checkLook(t: Test, page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    t.strictSame(await accessibilityProblems(page), [], colorScheme);
  }
}

async function isWithinWidth(page: Page): Promise<boolean> {
  return (await page.evaluate('document.documentElement.scrollWidth <= innerWidth')) === true;
}

test('a plugin is installed, tried, checked before an upgrade, read and uninstalled', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/plugins');
    await page.getByRole('link', { name: 'Content', exact: true }).waitFor();
    await checkLook(t, page);
    await picture('plugins');

    await page.getByRole('button', { name: 'Install plugin' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Package').setInputFiles(notes('1.0.0'));
    await dialog.getByText('It has 1 type (Note) and 1 route.').waitFor();
    await dialog.getByText('No stored object and no index changes.').waitFor();
    await checkLook(t, page);
    await picture('plugin-install');
    await dialog.getByRole('button', { name: 'Install plugin' }).click();
    await page.getByRole('heading', { level: 1, name: 'Notes' }).waitFor();
    await page.getByText('Notes 1.0.0 is installed').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Plugins', exact: true }).waitFor();
    await page.getByText('Started', { exact: true }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Note', exact: true }).waitFor();
    await checkLook(t, page);
    await picture('plugin');

    await page.getByRole('link', { name: 'Routes' }).click();
    await page.getByRole('button', { name: /^Try /u }).click();
    await page.getByRole('textbox', { name: 'name' }).fill('you & me');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('"hello you & me"').waitFor();
    await checkLook(t, page);
    await picture('plugin-routes');

    await page.getByRole('link', { name: 'Logs' }).click();
    await page.getByText('the notes are open').first().waitFor();
    await checkLook(t, page);
    await picture('plugin-logs');

    const stored = { metadata: { name: 'first' }, spec: { text: 'hello' } };
    const created = await stage.server.call('/apis/notes.example.com/v1/notes', { method: 'POST', body: stored });
    t.equal(created.status, 201);
    await page.getByRole('button', { name: 'Upgrade' }).click();
    await dialog.getByLabel('Package').setInputFiles(notes('2.0.0'));
    await dialog.getByText('1 stored object breaks with this version.').waitFor();
    await dialog.getByText(/\/spec\/author is required/u).waitFor();
    await checkLook(t, page);
    await picture('plugin-upgrade');
    t.equal(await page.getByRole('main').getByText('2.0.0').count(), 0, 'nothing is upgraded yet');
    await dialog.getByRole('button', { name: 'Upgrade anyway' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1 }).getByText('2.0.0').waitFor();

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByText('Stopped', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Enable' }).click();
    await page.getByText('Started', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Uninstall' }).click();
    await dialog.getByText('1 object', { exact: true }).waitFor();
    await dialog.getByLabel('Also delete the data').check();
    await checkLook(t, page);
    await picture('plugin-uninstall');
    await dialog.getByRole('button', { name: 'Uninstall' }).click();
    await page.getByRole('heading', { level: 1, name: 'Plugins' }).waitFor();
    await page.getByRole('link', { name: 'Notes' }).waitFor({ state: 'detached' });
    t.equal((await stage.server.call('/apis/notes.example.com/v1/notes')).status, 404);
  });
});

test('a file that is no package is refused with the reason, in Chinese on a narrow window', withBrowser, async (t) => {
  await stage.visit(t, { language: 'zh-CN', width: 320, theme: 'dark' }, async ({ page, open, picture }) => {
    await open('/plugins');
    await page.getByRole('link', { name: 'Content', exact: true }).waitFor();
    t.ok(await isWithinWidth(page));
    await picture('plugins-320-zh');
    await page.getByRole('button', { name: '安装插件' }).click();
    const text = { name: 'text.tgz', mimeType: 'application/gzip', buffer: Buffer.from('no package') };
    await page.getByLabel('安装包', { exact: true }).setInputFiles(text);
    await page.getByText('服务器拒绝此安装包').waitFor();
    t.ok(await page.getByRole('dialog').getByRole('button', { name: '安装插件' }).isDisabled());
    await picture('plugin-refused-320-zh');
    await page.keyboard.press('Escape');
    await page.goto('/console/plugins/content');
    await page.getByRole('link', { name: 'content-posts-view' }).waitFor();
    await page.getByRole('link', { name: 'Post', exact: true }).waitFor();
    t.ok(await isWithinWidth(page));
    await picture('plugin-320-zh');
  });
});
