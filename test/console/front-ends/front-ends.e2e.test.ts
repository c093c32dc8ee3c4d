import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test, type Test } from 'tap';
import type { Page } from 'playwright-core';

import { Administration, passwordOf } from '../../support/server/administration.ts';
import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';
import { garden, manifest, module, writePlugin } from './garden.ts';

const root = mkdtempSync(join(tmpdir(), 'ledgerplane-front-ends-'));
t.before(async () => {
  await writePlugin(root, 'garden', garden('1'));
});
t.setTimeout(240_000);
t.teardown(async () => rm(root, { recursive: true, force: true }));
const stage = new Stage(t, { PLUGINS_DIRS: root });

const pluginPath = '/apis/plugin.svc.run/v1alpha1/plugins/garden';

async function setEnabled(enabled: boolean): Promise<void> {
  await new Administration(stage.server.url).call('PATCH', pluginPath, { spec: { enabled } });
}

async function checkLook(t: Test, page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    t.strictSame(await accessibilityProblems(page), [], colorScheme);
  }
}

/** The style sheet of the garden sets the letter spacing. */
async function spacing(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`getComputedStyle(document.querySelector('${selector}')).letterSpacing`);
}

/** The page looks at the server again when its window becomes visible. */
async function becomeVisible(page: Page): Promise<void> {
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
}

test('a plugin has pages, which follow an upgrade and a stop without a reload', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/apps/garden/plots/7?from=start');
    await page.getByRole('heading', { level: 1, name: 'Plots' }).waitFor();
    await page.getByText('plot 7 of admin').waitFor();
    await page.getByText('edition 1 of garden 1.0.0, en').waitFor();
    t.equal(await page.title(), 'Plots · Ledgerplane');
    await checkLook(t, page);
    await picture('front-end-page');
    t.equal(await spacing(page, '.garden-1'), '1px');
    await page.evaluate('globalThis.kept = true');

    await writePlugin(root, 'garden', garden('2'));
    await page.getByText('edition 2 of garden 2.0.0, en').waitFor();
    t.equal(await spacing(page, '.garden-2'), '2px');
    t.equal(
      await page.locator('link[href*="/garden/"][href$="index.css"]').count(),
      1,
      'the former style sheet is removed',
    );
    t.match(page.url(), /\/apps\/garden\/plots\/7\?from=start$/u);

    await setEnabled(false);
    await page.getByText('The plugin garden is not running').waitFor();
    t.equal(await page.getByRole('link', { name: 'My plots' }).count(), 0);
    t.equal(await page.locator('link[href*="/garden/"][href$="index.css"]').count(), 0);
    await checkLook(t, page);
    await picture('front-end-stopped');
    await setEnabled(true);
    await page.getByText('edition 2 of garden 2.0.0, en').waitFor();
    t.equal(await page.evaluate('globalThis.kept'), true, 'the page was not reloaded');
  });
});

test('a plugin adds entries, cards, tabs, actions and columns', withBrowser, async (t) => {
  await new Administration(stage.server.url).call('POST', '/apis/garden.example.com/v1/plots', {
    metadata: { name: 'north' },
    spec: { crop: 'kale' },
  });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/');
    await page.getByRole('heading', { name: 'Weather' }).waitFor();
    const entries = page.getByRole('navigation').first().getByRole('link', { name: /plots/iu });
    t.strictSame(await entries.allInnerTexts(), ['Plots', 'My plots', 'All plots']);
    t.strictSame(await accessibilityProblems(page), []);
    await picture('front-end-home');
    await page.getByRole('link', { name: 'My plots' }).click();
    await page.getByRole('heading', { level: 1, name: 'About the garden' }).waitFor();
    t.match(page.url(), /\/console\/uc\/garden$/u);

    await page.getByRole('link', { name: 'All plots' }).click();
    await page.getByRole('cell', { name: 'KALE' }).waitFor();
    await page.getByRole('columnheader', { name: 'Crop' }).waitFor();
    await picture('front-end-column');
    const north = '/apis/garden.example.com/v1/plots/north';
    await new Administration(stage.server.url).call('PATCH', north, { spec: { crop: 'leek' } });
    await page.getByRole('cell', { name: 'LEEK' }).waitFor();
    await page.getByRole('link', { name: 'north' }).click();
    await page.getByText('all about north').waitFor();
    await page.getByRole('link', { name: 'Soil' }).click();
    await page.getByText('north is a Plot').waitFor();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Water' }).click();
    const dialog = page.getByRole('dialog', { name: 'Water north' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option', { name: 'My plots' }).waitFor();
    await open('/create/garden.example.com/v1/plots');
    await page.getByRole('heading', { level: 1, name: 'Sow a Plot' }).waitFor();
  });
});

test('groups with ${domain} are those of the platform', withBrowser, async (t) => {
  await new Administration(stage.server.url).call('POST', '/apis/content.svc.run/v1alpha1/posts', {
    metadata: { name: 'report' },
    spec: { title: 'A good year' },
  });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/');
    await page.getByRole('link', { name: 'Field reports' }).click();
    await page.getByRole('cell', { name: 'A GOOD YEAR', exact: true }).waitFor();
    await page.getByRole('link', { name: 'report', exact: true }).click();
    await page.getByRole('link', { name: 'Soil' }).click();
    await page.getByText('report is a Post').waitFor();
  });
});

test(
  'a page of a plugin speaks the language of the console, and English where it lacks a text',
  withBrowser,
  async (t) => {
    await stage.visit(t, { language: 'zh-CN', width: 320 }, async ({ page, open }) => {
      await open('/apps/garden/plots/7');
      await page.getByRole('heading', { level: 1, name: '地块' }).waitFor();
      await page.getByText('plot 7 of admin').waitFor();
      await page.getByText(', zh').waitFor();
      await page.getByRole('link', { name: 'About' }).click();
      await page.getByRole('heading', { level: 1, name: 'About the garden' }).waitFor();
      t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
    });
  },
);

test('pages are shown by UI permissions, which follow the user’s roles', withBrowser, async (t) => {
  const administration = new Administration(stage.server.url);
  await administration.user('ann');
  await stage.visit(t, { user: 'ann', password: passwordOf('ann') }, async ({ page, open }) => {
    await open('/apps/garden/plots');
    await page.getByRole('heading', { level: 1, name: 'No access' }).waitFor();
    await page.getByText('plugin:garden:plots:view', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'My plots' }).waitFor();
    t.equal(await page.getByRole('link', { name: 'Plots', exact: true }).count(), 0);
    const path = '/apis/api.console.svc.run/v1alpha1/users/ann/permissions';
    await administration.call('POST', path, { roles: ['garden-view'] });
    await becomeVisible(page);
    await page.getByRole('heading', { level: 1, name: 'Plots' }).waitFor();
    await page.getByRole('link', { name: 'Plots', exact: true }).waitFor();
    t.equal(await page.getByText('digging').count(), 0, 'a guarded part stays hidden');
    await administration.call('POST', path, { roles: [] });
    await becomeVisible(page);
    await page.getByRole('heading', { level: 1, name: 'No access' }).waitFor();
  });
});

test('a module that does not load within 10 s is a failure, which a later attempt ends', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, problems }) => {
    await page.clock.install();
    await page.route(/plugins\/garden\/\w+\/index\.js$/u, () => undefined);
    await open('/apps/garden/plots/7');
    await page.getByText('Loading').first().waitFor({ state: 'attached' });
    await page.locator('link[href*="/garden/"]').waitFor({ state: 'attached' });
    await page.clock.fastForward(10_000);
    await page.getByText('The front end of the plugin garden has failed').waitFor();
    await page.getByText('the module has not loaded within 10 s').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Plots' }).waitFor();
    t.ok(problems.take().every((problem) => problem.includes('10 s')));
  });
});

test('files that another node does not have yet are requested again', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, problems }) => {
    const script = /plugins\/garden\/\w+\/index\.js$/u;
    await page.route(script, async (route) => route.fulfill({ status: 404 }), { times: 1 });
    await open('/apps/garden/plots/7');
    await page.getByText('The front end of the plugin garden has failed').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Plots' }).waitFor();
    t.ok(problems.take().every((problem) => problem.includes('dynamically imported module')));
  });
});

/** Texts of a plugin that mean something to a browser, to the translations, or to nobody. */
const hostileTitle = `<img src=x onerror=alert(1)> @:{'x'} {{ }} %{n} | \u202E ${'long '.repeat(400)}`;

test('hostile texts of a plugin are shown as texts', withBrowser, async (t) => {
  await writePlugin(root, 'hostile', {
    'console/index.js': module(
      `{ routes: [{ path: '/', component: lazily(page), meta: { title: 'title', menu: {} } }],
        messages: JSON.parse(${JSON.stringify(
          JSON.stringify({ en: { title: hostileTitle, constructor: 'x' } }).replace(
            '{"title"',
            '{"__proto__":{"a":"b"},"title"',
          ),
        )}) }`,
      `const page = { setup() { const { t } = kit.useMessages(); return () => h('h1', t('title')); } };`,
    ),
    'plugin.yaml': manifest('hostile', '1.0.0'),
  });
  await stage.visit(t, { width: 320 }, async ({ page, open }) => {
    await open('/apps/hostile');
    await page.getByRole('heading', { level: 1, name: '<img src=x onerror=alert(1)>' }).waitFor();
    t.equal(await page.locator('img').count(), 0);
    t.equal(await page.evaluate('({}).a === undefined'), true);
  });
});

/** Modules that fail, each in its own way. */
const broken = {
  throws: `throw new Error('the module is out of order');`,
  shapeless: `export default { routes: [{ path: 'no-slash', component: () => undefined }] };`,
  faulty: module(
    `{ routes: [{ path: '/', component: lazily(bad), meta: { title: 'bad', menu: {} } },
      { path: '/fine', component: lazily(fine) }],
      homeCards: [{ name: 'bad', component: lazily(bad) }], messages: { en: { bad: 'Bad page' } } }`,
    `const bad = { setup() { throw new Error('the component is out of order'); } };
     const fine = { setup: () => () => h(kit.UiPage, { title: 'A fine page' }) };`,
  ),
};

test('a front end that fails is shown as a failure in its place, and everything else works', withBrowser, async (t) => {
  for (const [name, text] of Object.entries(broken))
    await writePlugin(root, name, { 'console/index.js': text, 'plugin.yaml': manifest(name, '1.0.0') });
  await stage.visit(t, {}, async ({ page, open, problems, picture }) => {
    await open('/');
    const sides = page.getByRole('navigation').first();
    await sides.getByRole('link', { name: 'throws: failed' }).click();
    await page.getByText('The front end of the plugin throws has failed').waitFor();
    await page.getByText('the module is out of order').waitFor();
    await checkLook(t, page);
    await picture('front-end-failed');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('the module is out of order').waitFor();
    await sides.getByRole('link', { name: 'shapeless: failed' }).click();
    await page.getByText('routes: 0: path: must be a path that begins with one "/"').waitFor();
    await sides.getByRole('link', { name: 'Bad page' }).click();
    await page.getByText('The front end of the plugin faulty has failed').waitFor();
    await sides.getByRole('link', { name: 'Home' }).click();
    await page.getByText('The front end of the plugin faulty has failed').waitFor();
    await page.getByRole('heading', { name: 'Weather' }).waitFor();
    await open('/apps/faulty/fine');
    await page.getByRole('heading', { level: 1, name: 'A fine page' }).waitFor();
    await open('/apps/faulty/nowhere');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    t.ok(problems.take().every((problem) => /out of order|the definition is invalid/u.test(problem)));
  });
});
