/** The tour of docs/console.md, with its pictures: the first minutes of somebody who has never seen the console. */
import type { BrowserContext, Page } from 'playwright-core';
import t, { test } from 'tap';

import { sampleMs } from '../../../src/limits/requests.ts';
import { tgz } from '../../packages/archives.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { testPassword } from '../../support/server/start-server.ts';
import { withBrowser } from '../support/browser.ts';
import { document } from '../support/documented.ts';
import { Stage } from '../support/stage.ts';

const hourMs = 3_600_000;
/** The server has run for an hour when the story begins, so that Home has something to plot. */
const clock = new FakeClock(Date.now() - hourMs);
const stage = new Stage(t, {}, { clock });
const widgets = '/apis/example.com/v1alpha1/widgets';

async function passAnHour(): Promise<void> {
  const lamps = ['desk', 'floor', 'ceiling', 'garden', 'street'];
  for (const lamp of lamps) {
    const body = { metadata: { name: `${lamp}-lamp` }, spec: { title: `A ${lamp} lamp`, size: 0 } };
    await stage.server.call(widgets, { method: 'POST', body });
  }
  const headers = { 'content-type': 'application/merge-patch+json' };
  for (let sample = 0; sample < hourMs / sampleMs; sample += 1) {
    const changes = Math.round(3 + 2 * Math.sin(sample / 25) + (sample % 3));
    for (let change = 0; change < changes; change += 1) {
      const place = (sample + change) % lamps.length;
      const body = { spec: { size: (sample * 7 + place * 131) % 1_000 } };
      await stage.server.call(`${widgets}/${lamps[place] ?? ''}-lamp`, { method: 'PATCH', body, headers });
    }
    clock.advance(sampleMs);
  }
}

/** A plugin that adds the type Note. */
function notes(): { readonly name: string; readonly mimeType: string; readonly buffer: Buffer } {
  const manifest = {
    apiVersion: 'plugin.${domain}/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'notes' },
    spec: { version: '1.0.0', main: 'main.mjs', displayName: 'Notes', description: 'Short texts.' },
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
      properties: { spec: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } },
    },
  };
  const buffer = tgz([
    { name: 'notes', kind: 'folder' },
    { name: 'notes/plugin.yaml', content: JSON.stringify(manifest) },
    { name: 'notes/main.mjs', content: `export default () => ({ types: [${JSON.stringify(type)}] });` },
  ]);
  return { name: 'notes-1.0.0.tgz', mimeType: 'application/gzip', buffer };
}

test('the tour of the documentation', withBrowser, async (t) => {
  await passAnHour();
  await stage.visit(t, { user: undefined }, async ({ page, context, open }) => {
    await open('/');
    await logIn(page);
    const second = await createAndChange(page, context);
    await lookBack(page, second);
    await giveARole(page);
    await installAPlugin(page);
    await second.close();
  });
});

async function logIn(page: Page): Promise<void> {
  await page.getByText('First log-in: where is the password?').click();
  await page.getByText('data/admin-password').waitFor();
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password').fill(testPassword);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.getByRole('figure').last().locator('canvas').waitFor();
  await page.getByText('by admin').first().waitFor();
  await document(page, 'home', 860);
}

/** Creates a widget from a form, and changes it while a second window shows it. Returns that window. */
async function createAndChange(page: Page, context: BrowserContext): Promise<Page> {
  const types = page.getByRole('navigation', { name: 'Pages and types' });
  await types.getByRole('link', { name: 'Widget' }).click();
  await page.getByRole('row').filter({ hasText: 'A desk lamp' }).waitFor();
  await document(page, 'objects');
  await page.getByRole('link', { name: 'New' }).click();
  await page.getByLabel('name', { exact: false }).first().fill('reading-lamp');
  await page.getByLabel(/^title/u).fill('A reading lamp');
  await page.getByLabel(/^size/u).fill('3');
  await page.getByText('Valid', { exact: true }).waitFor();
  await document(page, 'form');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'reading-lamp' }).waitFor();

  clock.advance(60_000);
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByText('A reading lamp').waitFor();
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await page.getByLabel(/^title/u).fill('A brighter lamp');
  await page.getByText('Valid', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await second.getByText('A brighter lamp').waitFor();
  return second;
}

/** Looks at the widget as it was, and brings that state back. */
async function lookBack(page: Page, second: Page): Promise<void> {
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByRole('slider', { name: 'Version' }).focus();
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('region', { name: 'As it was: version 0' }).getByText('"A reading lamp"').waitFor();
  await document(page, 'history');
  await page.getByRole('button', { name: 'Restore…' }).click();
  await page.getByRole('dialog').getByText('A brighter lamp').first().waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByText('Restored as version 2.').waitFor();
  await second.getByText('A reading lamp').waitFor();
}

/** Creates a colleague with a role, and sees why something is forbidden to them. */
async function giveARole(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Access', exact: true }).click();
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('User name').fill('jane');
  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('link', { name: 'Give roles' }).click();
  await page.getByText('No roles').waitFor();
  await page.getByRole('button', { name: 'Give a role' }).click();
  await dialog.getByLabel('Role').selectOption('post-author');
  await dialog.getByRole('button', { name: 'Give' }).click();
  await page.getByRole('link', { name: 'Author', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Check access' }).click();
  await page.getByRole('button', { name: 'delete Widget: forbidden' }).click();
  await page.getByText('A rule like this is missing:').waitFor();
  await document(page, 'access');
}

async function installAPlugin(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Plugins', exact: true }).click();
  await page.getByRole('button', { name: 'Install plugin' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Package').setInputFiles(notes());
  await dialog.getByText('No stored object and no index changes.').waitFor();
  await dialog.getByRole('button', { name: 'Install plugin' }).click();
  await page.getByText('Notes 1.0.0 is installed').waitFor();
  const types = page.getByRole('navigation', { name: 'Pages and types' });
  await types.getByRole('link', { name: 'Note' }).waitFor();
  await document(page, 'plugin');
}
