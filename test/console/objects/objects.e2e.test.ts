import type { Locator, Page, Request, Route } from 'playwright-core';
import t, { test } from 'tap';

import { Administration, passwordOf } from '../../support/server/administration.ts';
import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { holdWrite } from '../support/held-write.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t);
const widgets = '/objects/example.com/v1alpha1/widgets';
const api = '/apis/example.com/v1alpha1/widgets';

async function create(name: string, spec: object = {}, labels: object = {}): Promise<void> {
  const body = { metadata: { name, labels }, spec: { title: `The ${name}`, ...spec } };
  const { status } = await stage.server.call(api, { method: 'POST', body });
  if (status !== 201) throw new Error(`${name} was not created: ${String(status)}`);
}

async function patch(name: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const { status } = await stage.server.call(`${api}/${name}`, { method: 'PATCH', body, headers });
  if (status !== 200) throw new Error(`${name} was not changed: ${String(status)}`);
}

/** Replaces the text of an editor, as a user does who selects everything and pastes. */
async function retype(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

test('a table is read once, also if front ends and another language load after it', withBrowser, async (t) => {
  await create('read-once');
  await stage.visit(t, {}, async ({ page, open }) => {
    let reads = 0;
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      const isTable = request.headers()['accept']?.includes('as=Table') === true;
      if (pathname === api && isTable && !searchParams.has('watch')) reads += 1;
    });
    await open(`${widgets}?fieldSelector=metadata.name%3Dread-once`);
    await rowOf(page, 'read-once').getByRole('checkbox').check();
    await page.getByRole('link', { name: 'My comments' }).waitFor();
    await page.getByRole('button', { name: /^Account/u }).click();
    await page.getByText('简体中文').click();
    await page.locator('html[lang="zh-CN"]').waitFor();
    t.equal(await rowOf(page, 'read-once').getByRole('checkbox').isChecked(), true, 'the row stays chosen');
    t.equal(reads, 1);
  });
});

test('a table follows changes, without a reload', withBrowser, async (t) => {
  await create('live-a', { size: 1 });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(`${widgets}?fieldSelector=metadata.name%5E%3Dlive-`);
    await rowOf(page, 'live-a').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await create('live-b', { size: 2 });
    await rowOf(page, 'live-b').waitFor();
    await page.getByText('2 objects').waitFor();
    await patch('live-a', { spec: { size: 77 } });
    await rowOf(page, 'live-a').getByText('77').waitFor();
    await stage.server.call(`${api}/live-b`, { method: 'DELETE' });
    await rowOf(page, 'live-b').waitFor({ state: 'detached' });
    await page.getByText('1 object', { exact: true }).waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('objects');
  });
});

test('selectors, order and columns are in the address', withBrowser, async (t) => {
  for (const [index, team] of ['red', 'blue', 'red'].entries())
    await create(`view-${String(index)}`, { size: index * 10 }, { team, view: 'yes' });
  await stage.visit(t, { theme: 'dark' }, async ({ page, open, picture }) => {
    await open(`${widgets}?labelSelector=view`);
    await page.getByText('3 objects').waitFor();
    await page.getByLabel('Select by labels').fill('view, team=red');
    await page.getByText('2 objects').waitFor();
    t.equal(new URL(page.url()).searchParams.get('labelSelector'), 'view, team=red');
    await page.getByRole('button', { name: 'Size' }).click();
    await page.waitForURL(/sort=spec\.size,asc/u);
    await page.getByRole('columnheader', { name: 'Size' }).and(page.locator('[aria-sort=ascending]')).waitFor();
    await page.getByRole('button', { name: 'Size' }).click();
    await page.waitForURL(/sort=spec\.size,desc/u);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Phase').uncheck();
    await page.waitForURL(/columns=/u);
    await page.keyboard.press('Escape');
    t.equal(await page.getByRole('columnheader', { name: 'Phase' }).count(), 0);
    await page.reload();
    await page.getByText('2 objects').waitFor();
    t.equal(await page.getByRole('columnheader', { name: 'Phase' }).count(), 0);
    await page.getByLabel('Select by fields').fill('spec.colour=red');
    await page.getByText('field label not supported: spec.colour', { exact: false }).waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('objects-problem');
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    await page.waitForURL((url) => !url.searchParams.has('labelSelector'));
    await rowOf(page, 'view-1').waitFor();
  });
});

test('a long list draws the visible rows only, and the keyboard reaches its end', withBrowser, async (t) => {
  for (let index = 0; index < 260; index += 1) await create(`long-${String(index).padStart(3, '0')}`);
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${widgets}?fieldSelector=metadata.name%5E%3Dlong-&sort=metadata.name,asc`);
    await rowOf(page, 'long-000').waitFor();
    t.ok((await page.getByRole('row').count()) < 60);
    await rowOf(page, 'long-000').getByRole('link').focus();
    await page.keyboard.press('End');
    await rowOf(page, 'long-259').waitFor();
    await page.locator('a:focus', { hasText: 'long-259' }).waitFor();
    await page.keyboard.press('Home');
    await page.locator('a:focus', { hasText: 'long-000' }).waitFor();
  });
});

test('an object is created from a draft, whose problems are shown at their places', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(widgets);
    await page.getByRole('link', { name: 'New' }).click();
    await page.waitForURL('**/console/create/**');
    await page.getByRole('button', { name: 'YAML' }).click();
    const editor = page.getByRole('textbox', { name: 'New Widget' });
    await editor.waitFor();
    await retype(
      page,
      editor,
      'apiVersion: example.com/v1alpha1\nkind: Widget\nmetadata:\n  name: drafted\nspec:\n  title: 4\n',
    );
    await page.getByText('1 problem', { exact: true }).waitFor();
    await page.getByText('/spec/title: must be of type string').first().waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('create-problem');
    await retype(
      page,
      editor,
      'apiVersion: example.com/v1alpha1\nkind: Widget\nmetadata:\n  name: drafted\nspec:\n  title: Drafted\n',
    );
    await page.getByText('Valid', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(`**/console${widgets}/drafted`);
    await page.getByRole('heading', { name: 'drafted' }).waitFor();
    t.match(await page.title(), 'drafted · Widget');
  });
  t.equal((await stage.server.call(`${api}/drafted`)).status, 200);
});

test('an object shows its state, follows changes and is deleted after a question', withBrowser, async (t) => {
  await create('shown', { size: 5 }, { team: 'blue' });
  for (const theme of ['light', 'dark'] as const)
    await stage.visit(t, { theme }, async ({ page, open, picture }) => {
      await open(`${widgets}/shown`);
      await page.getByText('team=blue').waitFor();
      t.strictSame(await accessibilityProblems(page), []);
      await picture(`object-${theme}`);
    });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${widgets}/shown`);
    await page.getByText('The shown').waitFor();
    await patch('shown', { spec: { title: 'Changed elsewhere' } });
    await page.getByText('Changed elsewhere').waitFor();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    t.strictSame(await accessibilityProblems(page), []);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(`**/console${widgets}`);
  });
  t.equal((await stage.server.call(`${api}/shown`)).status, 404);
});

test('changes of two people are merged, and neither is lost', withBrowser, async (t) => {
  await create('merged', { size: 1 });
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(`${widgets}/merged/edit`);
    await page.getByRole('button', { name: 'YAML' }).click();
    const editor = page.getByRole('textbox', { name: 'Text of merged' });
    await editor.waitFor();
    await retype(
      page,
      editor,
      'apiVersion: example.com/v1alpha1\nkind: Widget\nmetadata:\n  name: merged\nspec:\n  title: Mine\n  size: 1\n',
    );
    await page.getByText('Valid', { exact: true }).waitFor();
    await patch('merged', { spec: { size: 9, title: 'Theirs' } });
    await page.getByText('Somebody else has changed this object meanwhile.').waitFor();
    await page.getByRole('button', { name: 'Bring in their changes' }).click();
    const conflict = page.getByRole('region', { name: 'Choose between two changes' });
    await conflict.getByText('/spec/title').waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('merge');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('Theirs', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await conflict.getByText('/spec/title').waitFor();
    await conflict.getByLabel('Mine').check();
    await conflict.getByRole('button', { name: 'Use this choice' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('merged is saved').waitFor();
  });
  const saved = (await (await stage.server.call(`${api}/merged`)).json()) as { readonly spec: object };
  t.match(saved.spec, { title: 'Mine', size: 9 });
});

test('objects that a user may list but not watch are read at intervals', withBrowser, async (t) => {
  const administration = new Administration(stage.server.url);
  await administration.user('reader');
  const rules = [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list'] }];
  await administration.role('widget-reader', { rules });
  await administration.bind('reader-widgets', 'widget-reader', 'reader');
  await create('polled-a', { size: 1 });
  await stage.visit(t, { user: 'reader', password: passwordOf('reader') }, async ({ page, open, picture }) => {
    await open(`${widgets}?fieldSelector=metadata.name%5E%3Dpolled-`);
    await rowOf(page, 'polled-a').waitFor();
    await page.getByText('Every 5 s').waitFor();
    await create('polled-b', { size: 2 });
    await patch('polled-a', { spec: { size: 77 } });
    await rowOf(page, 'polled-b').waitFor();
    await rowOf(page, 'polled-a').getByText('77').waitFor();
    await picture('objects-polled');
  });
});

test('what is typed while an object is saved or created stays', withBrowser, async (t) => {
  await create('typing', { size: 1 });
  const specOf = async (name: string): Promise<object> =>
    ((await (await stage.server.call(`${api}/${name}`)).json()) as { readonly spec: object }).spec;
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${widgets}/typing/edit`);
    await page.getByRole('button', { name: 'Form' }).click();
    const title = page.getByLabel(/^title/u);
    await title.fill('Sent');
    const save = async (): Promise<void> => page.getByRole('button', { name: 'Save' }).click();
    const release = await holdWrite(page, 'PUT', save);
    await page.getByLabel('size').first().fill('7');
    await patch('typing', { metadata: { labels: { by: 'others' } } });
    await release();
    await page.getByText('typing is saved').waitFor();
    t.equal(await title.inputValue(), 'Sent');
    t.equal(await page.getByLabel('size').first().inputValue(), '7');
    t.match(await specOf('typing'), { title: 'Sent', size: 1 });
    await page.getByRole('button', { name: 'Bring in their changes' }).click();
    await page.getByText('Somebody else has changed').waitFor({ state: 'detached' });
    await save();
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' });
    t.match(await specOf('typing'), { title: 'Sent', size: 7 });

    await open(widgets.replace('/objects/', '/create/'));
    await page.getByLabel('name', { exact: false }).first().fill('typed');
    await title.fill('New');
    const created = await holdWrite(page, 'POST', async () => page.getByRole('button', { name: 'Create' }).click());
    await page.getByLabel('size').first().fill('8');
    await created();
    await page.waitForURL(/\/typed\/edit$/u);
    t.equal(await page.getByLabel('size').first().inputValue(), '8');
    t.match(await specOf('typed'), { title: 'New', size: undefined });
    await save();
    await page.getByText('typed is saved').waitFor();
    t.match(await specOf('typed'), { title: 'New', size: 8 });
  });
});

test('a save ends the dry runs of the version that it replaces', withBrowser, async (t) => {
  await create('quick', { size: 1 });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${widgets}/quick/edit`);
    const isDryRun = (request: Request): boolean => request.url().includes('dryRun=All');
    let held: Route | undefined;
    await page.route(/dryRun=All/u, (route) => {
      held = route;
    });
    const asked = page.waitForRequest(isDryRun);
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByLabel('size').first().fill('2');
    await asked;
    const ended = Promise.race([
      page.waitForEvent('requestfailed', isDryRun),
      page.waitForEvent('requestfinished', isDryRun),
    ]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('quick is saved').waitFor();
    // The page may have aborted the request.
    await held?.continue().catch(() => undefined);
    await ended;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    t.equal(await page.getByText('The server would refuse this').count(), 0);
    t.equal(await page.getByText('Checking').count(), 0);
  });
});

test('a draft survives a look at another part of the object', withBrowser, async (t) => {
  await create('left', { size: 1 });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${widgets}/left/edit`);
    await page.getByRole('button', { name: 'YAML' }).click();
    const editor = page.getByRole('textbox', { name: 'Text of left' });
    await retype(
      page,
      editor,
      'apiVersion: example.com/v1alpha1\nkind: Widget\nmetadata:\n  name: left\nspec:\n  title: Unfinished\n',
    );
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('The left').waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByText('Unfinished').waitFor();
  });
});

test('hostile values are shown as text', withBrowser, async (t) => {
  const title = '<img src=x onerror="console.error(1)"><script>console.error(2)</script>\u202e';
  await create('hostile', { title });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${widgets}?fieldSelector=metadata.name%3Dhostile`);
    await page.getByText('<img src=x').waitFor();
    await page.getByRole('link', { name: 'hostile' }).click();
    await page.getByText('<img src=x').first().waitFor();
    t.equal(await page.locator('img').count(), 0);
  });
});
