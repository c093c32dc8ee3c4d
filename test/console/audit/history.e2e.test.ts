import t, { test } from 'tap';

import { Administration, as } from '../../support/server/administration.ts';
import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t, { ACCESS_EVENTS: 'on' });
const widgets = '/apis/example.com/v1alpha1/widgets';
const historyOf = (name: string): string => `/history/example.com/v1alpha1/widgets/${name}`;

async function write(method: string, path: string, body?: unknown, author?: string): Promise<Metadata> {
  const answer = await stage.server.call(path, {
    method,
    body,
    headers: {
      ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}),
      ...(author === undefined ? {} : as(author)),
    },
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return ((await answer.json()) as { readonly metadata: Metadata }).metadata;
}

type Metadata = { readonly resourceVersion: string; readonly uid: string };

/** A widget that `author` has retitled. */
async function retitled(name: string, author = 'jane'): Promise<Metadata> {
  const administration = new Administration(stage.server.url);
  if (!(await stage.server.call(`/api/v1alpha1/users/${author}`)).ok) {
    await administration.user(author);
    await administration.bind(`${author}-widgets`, 'example-widgets-manage', author);
  }
  const metadata = { name, labels: { room: 'hall' } };
  const created = await write('POST', widgets, { metadata, spec: { title: 'A fine lamp', size: 3 } });
  await write('PATCH', `${widgets}/${name}`, { spec: { title: 'A fine lump' } }, author);
  await write('PATCH', `${widgets}/${name}`, { spec: { size: 4, tags: ['new'] } });
  return created;
}

test(
  'an auditor finds who changed a title, looks at it as it was, restores it, and verifies',
  withBrowser,
  async (t) => {
    await retitled('lamp');
    await stage.visit(t, {}, async ({ page, open, picture }) => {
      await open('/audit');
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('lamp');
      await page.getByRole('combobox', { name: 'Type' }).fill('widgets.example.com');
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.waitForURL(/name=lamp/u);
      const events = page.getByRole('list', { name: 'Events' });
      await events.getByRole('button', { name: /Changed.*lamp.*jane/u }).click();
      await events.getByText('spec.title').waitFor();
      await picture('audit-event');
      await page.getByRole('link', { name: 'As it was, and history' }).click();

      const timeline = page.getByRole('region', { name: 'Timeline' });
      const change = timeline.getByRole('listitem').filter({ hasText: 'Version 1' }).first();
      await change.getByText('spec.title').waitFor();
      t.match(await change.innerText(), /jane/u);
      const slider = page.getByRole('slider', { name: 'Version' });
      t.match(await slider.getAttribute('aria-valuetext'), /Version 1 .*jane/u);
      await slider.focus();
      await page.keyboard.press('ArrowLeft');
      await page.getByRole('heading', { name: 'As it was: version 0' }).waitFor();
      await page.getByRole('region', { name: 'As it was: version 0' }).getByText('"A fine lamp"').waitFor();
      await picture('history');

      await page.getByRole('button', { name: 'Restore…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('It would change version 2 like this').waitFor();
      t.match((await dialog.getByText('A fine lamp').innerText()).trim(), /A fine lamp/u);
      t.strictSame(await accessibilityProblems(page), []);
      await picture('restore');
      await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
      await page.getByText('Restored as version 3.').waitFor();
      await timeline.getByText('Restored', { exact: true }).waitFor();
      const now = (await (await stage.server.call(`${widgets}/lamp`)).json()) as { readonly spec: object };
      t.strictSame(now.spec, { title: 'A fine lamp', size: 3 });

      await change.getByRole('button', { name: 'Why' }).click();
      await change.getByText('The request had no other effect.').waitFor();
      await change.getByRole('button', { name: 'Verify the proof' }).click();
      await change.getByText('Proven', { exact: true }).waitFor();
      t.match(await change.getByRole('region', { name: 'Proof' }).innerText(), /They name jane and/u);
      await change.getByRole('region', { name: 'Proof' }).scrollIntoViewIfNeeded();
      await picture('proof');
    });
  },
);

test('a restore that would undo a later write is refused, and previews again', withBrowser, async (t) => {
  const { resourceVersion } = await retitled('contested');
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(`${historyOf('contested')}?at=${resourceVersion}`);
    await page.getByRole('button', { name: 'Restore…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It would change version 2 like this').waitFor();
    await write('PATCH', `${widgets}/contested`, { spec: { size: 5 } });
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await dialog.getByText('The object has changed since the preview').waitFor();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText('It would change version 3 like this').waitFor();
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Restored as version 4.').waitFor();
  });
});

test('a deleted object keeps its history, and a restore creates it again', withBrowser, async (t) => {
  const first = await retitled('reused');
  await write('DELETE', `${widgets}/reused`);
  await write('POST', widgets, { metadata: { name: 'reused' }, spec: { title: 'Another' } });
  await write('DELETE', `${widgets}/reused`);
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open(historyOf('reused'));
    await page.getByText('This was its last state').waitFor();
    await page.getByText(`Below: an earlier object with this name (uid ${first.uid})`).waitFor();
    await picture('history-lives');
    await page
      .getByRole('listitem')
      .filter({ hasText: 'A fine lump' })
      .last()
      .getByRole('button', { name: 'View' })
      .click();
    await page.getByRole('button', { name: 'Restore…' }).click();
    await page.getByText('The restore creates it again').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Restored: the object exists again.').waitFor();
    t.equal((await stage.server.call(`${widgets}/reused`)).status, 200);
  });
});

test('a long history is read page by page, and follows new versions', withBrowser, async (t) => {
  await write('POST', widgets, { metadata: { name: 'busy' }, spec: { title: 'Busy' } });
  for (let size = 1; size <= 40; size += 1) await write('PATCH', `${widgets}/busy`, { spec: { size } });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open(historyOf('busy'));
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('Version 40', { exact: true }).waitFor();
    t.equal(await timeline.getByText('Version 0', { exact: true }).count(), 0);
    await page.getByRole('button', { name: 'Show older' }).click();
    await timeline.getByText('Version 0', { exact: true }).waitFor();
    await page.getByText('The history begins here.').waitFor();
    await write('PATCH', `${widgets}/busy`, { spec: { size: 99 } });
    await timeline.getByText('Version 41', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Previous version' }).click();
    await page.getByRole('heading', { name: 'As it was: version 40' }).waitFor();
  });
});

test('a list as it was, with a selector and a link to an object of then', withBrowser, async (t) => {
  const { resourceVersion } = await retitled('listed');
  await write('DELETE', `${widgets}/listed`);
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/past/example.com/v1alpha1/widgets');
    await page.getByText('Choose a moment').waitFor();
    for (const place of ['/past/example.com/v1alpha1/widgets', historyOf('listed')]) {
      await open(`${place}?at=2001-01-01T00:00:00Z`);
      await page.getByText('The log begins after this moment: nothing existed yet.').waitFor();
      t.equal(await page.getByRole('alert').count(), 0);
    }
    await open(`/past/example.com/v1alpha1/widgets?at=${resourceVersion}`);
    await page.getByRole('link', { name: 'listed' }).waitFor();
    await page.getByRole('textbox', { name: /^Fields/u }).fill('spec.size>500');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('No object matched at that moment').waitFor();
    await page.getByRole('textbox', { name: /^Fields/u }).fill('spec.colour=red');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText(/field label not supported: spec.colour/u).waitFor();
    await page.getByRole('textbox', { name: /^Fields/u }).fill('metadata.name=listed');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('link', { name: 'listed' }).waitFor();
    t.strictSame(await accessibilityProblems(page), []);
    await picture('past-list');
    await page.getByRole('link', { name: 'listed' }).click();
    await page.getByRole('heading', { name: 'As it was: version 0' }).waitFor();
  });
});

test('a slider and buttons lead through the time of a list', withBrowser, async (t) => {
  await retitled('slid');
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/past/example.com/v1alpha1/widgets');
    const slider = page.getByRole('slider', { name: 'Moment in the span' });
    await slider.press('Home');
    await page.getByText('The log begins after this moment: nothing existed yet.').waitFor();
    await slider.press('End');
    await page.getByRole('link', { name: 'slid', exact: true }).waitFor();
    await page.getByRole('button', { name: '7 days ago' }).click();
    await page.getByText('The log begins after this moment: nothing existed yet.').waitFor();
    t.equal(await slider.inputValue(), '0', 'the moment is before the span');
    await page.getByRole('combobox', { name: 'Span' }).selectOption('Last 30 days');
    t.match(Number(await slider.inputValue()), 552, 'the moment is in the span');
  });
});

for (const theme of ['light', 'dark'] as const)
  test(`the history is accessible in the ${theme} theme, at 320 pixels, and in Chinese`, withBrowser, async (t) => {
    await retitled(`themed-${theme}`);
    const { resourceVersion } = await write('PATCH', `${widgets}/themed-${theme}`, { spec: { tags: [] } });
    const past = String(BigInt(resourceVersion) - 1n);
    for (const [width, language] of [
      [1_280, 'en-US'],
      [320, 'zh-CN'],
    ] as const)
      await stage.visit(t, { theme, width, language }, async ({ page, open, picture }) => {
        await open(`${historyOf(`themed-${theme}`)}?at=${past}`);
        const why = page.getByRole('button', { name: /^(?:Why|原因)$/u }).first();
        await why.click();
        await page.getByText(/(?:The request had no other effect|该请求没有其他影响)/u).waitFor();
        t.strictSame(await accessibilityProblems(page), []);
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
        await picture(`history-${theme}-${String(width)}`);
      });
  });
