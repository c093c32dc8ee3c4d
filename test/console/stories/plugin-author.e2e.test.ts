/** The author of a plugin drops its package, reads the check, and finds a mistake by the plugin's log. */
import type { Page } from 'playwright-core';
import t, { test } from 'tap';

import { tgz } from '../../packages/archives.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t);

function greeter(version: string, main: string): Buffer {
  const manifest = {
    apiVersion: 'plugin.${domain}/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'greeter' },
    spec: { version, main: 'main.mjs', displayName: 'Greeter' },
  };
  return tgz([
    { name: 'greeter', kind: 'folder' },
    { name: 'greeter/plugin.yaml', content: JSON.stringify(manifest) },
    { name: 'greeter/main.mjs', content: main },
  ]);
}

const route = (body: string): string => `export default ({ log }) => ({ routes: [
  { method: 'GET', path: '/apis/api.greeter.example.com/v1/greetings', handler: () => { ${body} } },
] });`;

/** Drops a file on the place for packages, as a person does from a window of files. */
async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  const files = await page.evaluateHandle<DataTransferLike>(`(() => {
    const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], '${name}', { type: 'application/gzip' }));
    return transfer;
  })()`);
  const place = page.locator('.file-drop');
  await place.dispatchEvent('dragover', { dataTransfer: files });
  await place.dispatchEvent('drop', { dataTransfer: files });
}
type DataTransferLike = object;

test('a package is dropped, checked, tried, corrected by its log, and upgraded', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/plugins');
    await page.getByRole('button', { name: 'Install plugin' }).click();
    const dialog = page.getByRole('dialog');
    await drop(page, 'broken.tgz', greeter('1.0.0', 'export default () => ({ routes: 7 });'));
    await dialog.getByText('The server refuses this package').waitFor();
    await dialog.getByRole('button', { name: 'Choose another' }).click();
    await drop(page, 'greeter.tgz', greeter('1.0.0', route("log.error('no name'); throw new Error('who?');")));
    await dialog.getByText('No stored object and no index changes.').waitFor();
    await dialog.getByRole('button', { name: 'Install plugin' }).click();
    await page.getByText('Greeter 1.0.0 is installed').waitFor();

    await page.getByRole('link', { name: 'Routes' }).click();
    await page.getByRole('button', { name: /^Try /u }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/the plugin greeter failed/u).waitFor();
    await page.getByRole('link', { name: 'Logs' }).click();
    await page.getByText('no name').first().waitFor();

    await page.getByRole('button', { name: 'Upgrade' }).click();
    await drop(page, 'greeter.tgz', greeter('1.0.1', route("return { body: { greeting: 'hello' } };")));
    await dialog.getByText('No stored object and no index changes.').waitFor();
    await dialog.getByRole('button', { name: 'Upgrade', exact: true }).click();
    await page.getByRole('heading', { level: 1 }).getByText('1.0.1').waitFor();
    await page.getByRole('link', { name: 'Routes' }).click();
    await page.getByRole('button', { name: /^Try /u }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('"hello"').waitFor();
  });
  const answer = await stage.server.call('/apis/api.greeter.example.com/v1/greetings');
  t.equal(answer.status, 200);
});
