import t, { test } from 'tap';

import { accessibilityProblems } from '../support/accessibility.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';
import { Administration, as, passwordOf } from '../../support/server/administration.ts';

const stage = new Stage(t, { ACCESS_EVENTS: 'on' });
const widgets = '/apis/example.com/v1alpha1/widgets';

async function create(name: string): Promise<void> {
  const answer = await stage.server.call(widgets, {
    method: 'POST',
    body: { metadata: { name }, spec: { title: name } },
  });
  if (!answer.ok) throw new Error(await answer.text());
}

test('events are followed, paused and resumed, and none is missed', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await create('before');
    await open('/audit?type=widgets.example.com');
    const events = page.getByRole('list', { name: 'Events' });
    await events.getByText('before').waitFor();
    await create('live');
    await events.getByText('live').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await create('meanwhile');
    await page.getByRole('button', { name: 'Follow' }).click();
    await events.getByText('meanwhile').waitFor();
    const names = await events.getByRole('button').allInnerTexts();
    t.match(names.join('\n'), /meanwhile[^]*live[^]*before/u, 'the newest first');
    t.equal(names.length, 3);
  });
});

test('the addresses of events among the objects lead to the pages of events', withBrowser, async (t) => {
  await create('addressed');
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/');
    const types = page.getByRole('navigation', { name: 'Pages and types' });
    await types.getByRole('button', { name: 'More types' }).click();
    await types.getByRole('link', { name: 'Event', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    await page.getByRole('list', { name: 'Events' }).getByText('addressed').waitFor();
    t.match(page.url(), /\/console\/audit$/u);
    await page.goto('/console/objects/audit.svc.run/v1alpha1/events/1');
    await page.waitForURL(/\/console\/audit\/events\/1$/u);
  });
});

test('a flood of events leaves a bounded list, of which no event is missing', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/audit?type=widgets.example.com&verb=create');
    await page.getByRole('list', { name: 'Events' }).waitFor();
    const names = Array.from({ length: 420 }, (_, index) => `flood-${String(index).padStart(3, '0')}`);
    for (let from = 0; from < names.length; from += 20) await Promise.all(names.slice(from, from + 20).map(create));
    await create('flood-end');
    const events = page.getByRole('list', { name: 'Events' });
    await events.getByText('flood-end').waitFor();
    t.ok((await events.getByRole('button').count()) < 360, 'a bounded number of rows');
    const more = page.getByRole('button', { name: 'Show older' });
    while (await more.isVisible()) {
      const before = await events.getByRole('button').count();
      await more.click();
      await events.getByRole('button').nth(before).waitFor();
    }
    const shown = new Set(await events.locator('bdi').allInnerTexts());
    t.strictSame(
      names.filter((name) => !shown.has(name)),
      [],
      'each event is shown',
    );
  });
});

test('log-ins and refusals are shown with their users and addresses', withBrowser, async (t) => {
  await new Administration(stage.server.url).user('visitor');
  const refused = await stage.server.call(widgets, { headers: as('visitor') });
  t.equal(refused.status, 403);
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/audit');
    await page.getByRole('button', { name: 'Log-ins and refusals' }).click();
    await page.waitForURL(/type=access/u);
    const row = page.getByRole('button', { name: /1 refusal \(403\)/u }).first();
    await row.click();
    await page
      .getByText('GET /apis/example.com/v1alpha1/widgets')
      .or(page.getByText(`list ${widgets}`))
      .waitFor();
    await page.getByText('visitor', { exact: true }).waitFor();
    await picture('audit-access');
    t.strictSame(await accessibilityProblems(page), []);
  });
});

test('a filter is in the address, and an impossible one says why', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/audit?user=admin&requestId=nothing-like-it');
    await page.getByText('No event matches').or(page.getByText('Older events may match')).waitFor();
    t.equal(await page.getByRole('textbox', { name: 'Request', exact: true }).inputValue(), 'nothing-like-it');
    await page.getByRole('button', { name: 'Clear' }).first().click();
    await page.waitForURL(/\/console\/audit$/u);
    await page.getByRole('list', { name: 'Events' }).waitFor();
    await open('/audit?since=2999-01-01T00:00:00.000Z');
    await page.getByRole('alert').waitFor();
  });
});

test('an effect leads to its request, through an address of its own', withBrowser, async (t) => {
  const body = { metadata: { name: 'caused' }, spec: { displayName: 'Caused' } };
  await stage.server.call('/api/v1alpha1/users', { method: 'POST', body });
  const made = await stage.server.call('/api/v1alpha1/users/caused', { method: 'DELETE' });
  t.ok(made.ok);
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/audit?type=users&name=caused');
    await page.getByRole('button', { name: /Deleting.*caused/u }).click();
    await page.getByRole('heading', { name: 'Why: the request and its effects' }).waitFor();
    const effect = page.getByRole('link', { name: 'users/caused' }).last();
    await effect.click();
    await page.waitForURL(/\/audit\/events\/\d+$/u);
    await page.getByRole('heading', { name: 'caused' }).waitFor();
    await page.getByText('this event').waitFor();
    await picture('audit-chain');
    t.strictSame(await accessibilityProblems(page), []);
  });
});

test('a checkpoint is verified, remembered, and compared at the next visit', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open, picture }) => {
    await open('/audit/checkpoints');
    await page.getByText('Proven', { exact: true }).waitFor();
    await page.getByText('This browser has remembered the checkpoint').waitFor();
    await create('grown');
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText(/The log only grew since the checkpoint of/u).waitFor();
    await picture('checkpoints');
    t.strictSame(await accessibilityProblems(page), []);

    const forget = async (change: string): Promise<void> => {
      await page.evaluate(`(() => {
        const stored = JSON.parse(localStorage.getItem('ledgerplane.checkpoint'));
        localStorage.setItem('ledgerplane.checkpoint', JSON.stringify({ ...stored, ${change} }));
      })()`);
    };
    await forget(`root: btoa('x'.repeat(32))`);
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText(/The log was rewritten/u).waitFor();
    await page.getByText('Not proven', { exact: true }).waitFor();
    await forget(`size: 1e9`);
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText(/The log was rolled back/u).waitFor();
    await forget(`keys: [btoa('y'.repeat(32))]`);
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText(/signed by a key that no trusted key has signed/u).waitFor();
    await forget(`origin: 'elsewhere/tree'`);
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText(/The log has another tree/u).waitFor();
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await page.getByText('This browser has remembered the checkpoint').waitFor();
  });
});

test('the log is exported as a file', withBrowser, async (t) => {
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/audit/export');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the export' }).click(),
    ]);
    t.equal(download.suggestedFilename(), 'log.jsonl');
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk as Uint8Array));
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
    t.match(lines[0], /"kind":"Export"/u);
    t.match(lines.at(-1), /"kind":"End"/u);
  });
});

for (const theme of ['light', 'dark'] as const)
  test(`the audit is accessible in the ${theme} theme, at 320 pixels, and in Chinese`, withBrowser, async (t) => {
    await create(`themed-${theme}`);
    for (const [width, language] of [
      [1_280, 'en-US'],
      [320, 'zh-CN'],
    ] as const)
      for (const path of ['/audit', '/audit/checkpoints', '/audit/export'])
        await stage.visit(t, { theme, width, language }, async ({ page, open, picture }) => {
          await open(path);
          await page.getByRole('main').locator('li, form, .export').first().waitFor();
          t.strictSame(await accessibilityProblems(page), [], path);
          t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, path);
          await picture(`${path.slice(1).replace('/', '-')}-${theme}-${String(width)}`);
        });
  });

test('people without the permission do not see the page, and see no other data', withBrowser, async (t) => {
  await new Administration(stage.server.url).user('outsider');
  await stage.visit(t, { user: 'outsider', password: passwordOf('outsider') }, async ({ page, open }) => {
    await open('/audit');
    await page.getByText('You do not have access to this page').waitFor();
    await open('/history/example.com/v1alpha1/widgets/before');
    await page.getByRole('alert').waitFor();
    t.match(await page.getByRole('alert').innerText(), /forbidden|may not|cannot/iu);
  });
});
