/** Content that tries to do harm: markup in every field, very long texts, other directions, many labels. */
import type { Page } from 'playwright-core';
import t, { test } from 'tap';

import { labelsPerObjectMax } from '../../../src/limits/objects.ts';
import { tgz } from '../../packages/archives.ts';
import { formWith, installPath, send } from '../../packages/package-requests.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t, { ACCESS_EVENTS: 'on' });
const bombs = '/apis/bombs.example.com/v1/bombs';
const page1 = '/objects/bombs.example.com/v1/bombs';
const markup = `"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script>{{ 7*7 }}`;
const rightToLeft = '\u202Eevil\u202C \u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627';
/** Nearly as long as an object may be. */
const long = 'long '.repeat(150_000);

/** A plugin whose every text is markup. Its type accepts any content. */
function bombPlugin(): Buffer {
  const manifest = {
    apiVersion: 'plugin.${domain}/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'bombs' },
    spec: { version: '1.0.0', main: 'main.mjs', displayName: markup, description: markup },
  };
  const type = {
    group: 'bombs.example.com',
    version: 'v1',
    plural: 'bombs',
    singular: 'bomb',
    kind: 'Bomb',
    schema: {
      type: 'object',
      description: markup,
      properties: {
        spec: {
          type: 'object',
          description: markup,
          properties: { text: { type: 'string', description: markup }, [markup]: { type: 'string' } },
        },
      },
    },
    printerColumns: [{ name: 'Text', type: 'string', pointer: '/spec/text', description: markup }],
  };
  const main = `export default ({ log }) => {
    log.error(${JSON.stringify(markup)}, { text: ${JSON.stringify(rightToLeft)} });
    return {
      types: [${JSON.stringify(type)}],
      routes: [{ method: 'GET', path: '/apis/api.bombs.example.com/v1/texts', summary: ${JSON.stringify(markup)},
        handler: () => ({ body: { text: ${JSON.stringify(markup)} } }) }],
    }; };`;
  return tgz([
    { name: 'bombs', kind: 'folder' },
    { name: 'bombs/plugin.yaml', content: JSON.stringify(manifest) },
    { name: 'bombs/main.mjs', content: main },
  ]);
}

async function make(name: string, spec: object, metadata: object = {}): Promise<void> {
  const answer = await stage.server.call(bombs, { method: 'POST', body: { metadata: { name, ...metadata }, spec } });
  if (answer.status !== 201) throw new Error(`${name}: ${(await answer.text()).slice(0, 500)}`);
}

async function isHarmed(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`'harmed' in window || document.querySelector('main img[src="x"]') !== null`);
}

test('markup, long texts and other directions are shown as text, and do no harm', withBrowser, async (t) => {
  const installed = await send(stage.server, installPath, formWith(bombPlugin()));
  t.equal(installed.status, 201, JSON.stringify(installed.body).slice(0, 500));
  const annotations = { [`example.com/note`]: markup };
  await make('markup', { text: markup, [markup]: markup }, { annotations });
  await make('direction', { text: rightToLeft });
  await make('long', { text: long });
  const places: Readonly<Record<string, string>> = {
    '/': 'Last hour',
    [page1]: '3 objects',
    [`${page1}/markup`]: 'Details',
    [`${page1}/markup/edit`]: 'YAML',
    [`${page1}/markup/history`]: 'Version 0',
    [`${page1}/direction`]: 'Details',
    [`${page1}/long`]: 'Details',
    [`${page1}/long/edit`]: 'YAML',
    [`${page1}/long/history`]: 'Version 0',
    '/audit?type=bombs.bombs.example.com': 'Created',
    '/plugins': '<script>',
    '/plugins/bombs': '<script>',
    '/plugins/bombs/routes': '<script>',
    '/plugins/bombs/logs': '<script>',
    [`/nowhere/${encodeURIComponent('<img src=x onerror="window.harmed=1">')}`]: 'There is nothing at this address',
    [`/audit?name=${encodeURIComponent(markup)}`]: 'No event matches',
  };
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    for (const [path, content] of Object.entries(places)) {
      await open(path);
      await page.locator('main').getByText(content).locator('visible=true').first().waitFor();
      t.notOk(await isHarmed(page), path);
      const overflow = await page.evaluate('document.scrollingElement.scrollWidth - innerWidth');
      t.ok(Number(overflow) <= 0, `${path} fits the window`);
      await picture(`hostile-${path.replaceAll(/\W+/gu, '-').slice(0, 40)}`);
    }
  });
});

test('as many labels as the server allows are shown, and the page stays usable', withBrowser, async (t) => {
  const labels = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`label-${String(index)}`, 'x']));
  const refused = await stage.server.call(bombs, {
    method: 'POST',
    body: { metadata: { name: 'refused', labels: labels(10_000) }, spec: {} },
  });
  t.equal(refused.status, 422, (await refused.text()).slice(0, 300));
  await make('labelled', {}, { labels: labels(labelsPerObjectMax) });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(`${page1}/labelled`);
    await page.getByText('label-0=x').waitFor();
    await picture('hostile-labels');
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'YAML' }).click();
    await page.getByRole('textbox', { name: 'Text of labelled' }).getByText('label-0').first().waitFor();
  });
});
