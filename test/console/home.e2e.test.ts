/** Home: counts, the latest changes, health and the last hour, as far as the user may see them. */
import t, { test } from 'tap';

import { sampleMs } from '../../src/limits/requests.ts';
import { tgz } from '../packages/archives.ts';
import { formWith, installPath, send } from '../packages/package-requests.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { accessibilityProblems } from './support/accessibility.ts';
import { withBrowser } from './support/browser.ts';
import { Stage } from './support/stage.ts';

const clock = new FakeClock(Date.now());
const stage = new Stage(t, {}, { clock });
const core = '/api/v1alpha1';
const widgets = '/apis/example.com/v1alpha1/widgets';

/** Makes `count` events and lets the time of one sample pass. */
async function passSample(count: number): Promise<void> {
  const { server } = stage;
  const before = (await (await server.call('/apis/api.console.svc.run/v1alpha1/samples')).json()) as Samples;
  for (let event = 0; event < count; event += 1) {
    const body = { metadata: { generateName: 'lamp-' }, spec: { title: 'Lamp' } };
    await server.call(widgets, { method: 'POST', body });
  }
  clock.advance(sampleMs);
  for (let times = before.time.length; times === before.time.length;)
    times = ((await (await server.call('/apis/api.console.svc.run/v1alpha1/samples')).json()) as Samples).time.length;
}
type Samples = { readonly time: readonly number[] };

/** A plugin whose reconciler fails for each of its objects. */
function failingPlugin(): Buffer {
  const manifest = {
    apiVersion: 'plugin.${domain}/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'kettles' },
    spec: { version: '1.0.0', main: 'main.mjs', displayName: 'Kettles' },
  };
  const type = { group: 'kettles.example.com', version: 'v1', plural: 'kettles', singular: 'kettle', kind: 'Kettle' };
  const declared = JSON.stringify({ ...type, schema: { type: 'object' } });
  const main = `const type = ${declared};
    export default () => ({
      types: [type],
      reconcilers: [{ type, name: 'heater', reconcile: () => { throw new Error('the kettle is empty'); } }],
    });`;
  return tgz([
    { name: 'kettles', kind: 'folder' },
    { name: 'kettles/plugin.yaml', content: JSON.stringify(manifest) },
    { name: 'kettles/main.mjs', content: main },
  ]);
}

test('Home shows the log, the node and the last hour, and follows them', withBrowser, async (t) => {
  await stage.visit(t, { height: 1_400 }, async ({ page, open, picture }) => {
    await open('/');
    await page.getByText('Nothing is measured yet').waitFor();
    await page.getByText('Leader', { exact: true }).waitFor();
    for (let sample = 0; sample < 30; sample += 1) await passSample(sample % 7);
    await page.reload();
    const plot = (title: string) => page.getByRole('figure').filter({ hasText: title });
    await plot('Response time').locator('canvas').waitFor();
    await page.getByText('Up to date').waitFor();
    t.match(await plot('Requests').textContent(), /2xx: now .*\/s, lowest .*, highest .*/u);
    const head = page.getByRole('definition').nth(2);
    const before = await head.textContent();
    t.match(before, /^[\d,]+$/u);
    await picture('home-light');
    t.strictSame(await accessibilityProblems(page), []);
    await passSample(5);
    await page
      .getByRole('definition')
      .nth(2)
      .filter({ hasNotText: before ?? '' })
      .waitFor();
    await page.getByRole('button', { name: 'As a table' }).click();
    await page.getByRole('row', { name: /^Response time, 99 % below/u }).waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('home-table');
    await page.getByRole('button', { name: 'As plots' }).click();
    await plot('Memory').locator('canvas').waitFor();
  });
});

test('the plots have the colours of both themes, also when the theme changes', withBrowser, async (t) => {
  await stage.visit(t, { theme: 'dark', height: 1_400 }, async ({ page, open, picture }) => {
    await open('/');
    const canvas = page.getByRole('figure').filter({ hasText: 'Memory' }).locator('canvas');
    await canvas.waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('home-dark');
    const isRedrawn = canvas.evaluate(`async (canvas) => {
      const before = canvas.toDataURL();
      while (canvas.toDataURL() === before) await new Promise(requestAnimationFrame);
    }`);
    await page.getByRole('button', { name: /^Account/u }).click();
    await page.getByRole('menuitem', { name: 'Light' }).click();
    await isRedrawn;
  });
});

test('no count is refused, and a language that is no tag is no failure', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await page.addInitScript(`Object.defineProperty(navigator, 'language', {
      value: 'en-US@posix', configurable: true,
    })`);
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(response.url());
    });
    await open('/');
    await page.getByRole('figure').filter({ hasText: 'Memory' }).locator('canvas').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: /^Widget.*objects/u })
      .waitFor();
    t.strictSame(refused, []);
  });
});

test('failures of reconcilers and plugins are shown, with the way to them', withBrowser, async (t) => {
  t.equal((await send(stage.server, installPath, formWith(failingPlugin()))).status, 201);
  const body = { metadata: { name: 'red' } };
  const made = await stage.server.call('/apis/kettles.example.com/v1/kettles', { method: 'POST', body });
  t.equal(made.status, 201);
  await stage.visit(t, { height: 1_400 }, async ({ page, open, picture }) => {
    await open('/');
    await page.getByText('1 failing object').waitFor();
    await page.getByText(/^red: .*the kettle is empty/u).waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('home-failing');
    await page.getByRole('link', { name: 'kettles/heater' }).click();
    await page.waitForURL('**/console/plugins/kettles/reconcilers');
  });
});

test('a user without these rights sees neither health nor plots, and 320 pixels suffice', withBrowser, async (t) => {
  const user = { metadata: { name: 'jane' }, spec: { displayName: 'Jane', password: 'jane-has-a-secret' } };
  t.equal((await stage.server.call(`${core}/users`, { method: 'POST', body: user })).status, 201);
  await stage.visit(t, { user: 'jane', password: 'jane-has-a-secret' }, async ({ page, open, picture }) => {
    await open('/');
    await page.getByText('There are no types that you may read').waitFor();
    for (const title of ['Health', 'Nodes', 'Last hour', 'Latest changes'])
      t.equal(await page.getByRole('heading', { name: title }).count(), 0, title);
    await picture('home-jane');
    t.strictSame(await accessibilityProblems(page), []);
  });
  await stage.visit(t, { width: 320, language: 'zh-CN', height: 1_400 }, async ({ page, open, picture }) => {
    await open('/');
    await page.getByRole('figure').filter({ hasText: '内存' }).locator('canvas').waitFor();
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    await picture('home-320-zh');
  });
});
