/** Edits that survive: two people at one object, and a server that is killed under an open page. */
import t, { test } from 'tap';

import { freePort } from '../../nodes/support/node-process.ts';
import { runCommandLine } from '../../support/server/command-line.ts';
import { adminAuthorization, testPassword } from '../../support/server/start-server.ts';
import { launchBrowser, withBrowser } from '../support/browser.ts';
import { PageProblems } from '../support/page-problems.ts';
import { Stage } from '../support/stage.ts';

const stage = new Stage(t);
const widgets = '/objects/example.com/v1alpha1/widgets';
const api = '/apis/example.com/v1alpha1/widgets';

test('two people edit one object in two browsers, and both edits are kept', withBrowser, async (t) => {
  const body = { metadata: { name: 'shared' }, spec: { title: 'A lamp', size: 1 } };
  t.equal((await stage.server.call(api, { method: 'POST', body })).status, 201);
  await stage.visit(t, {}, async (first) =>
    stage.visit(t, {}, async (second) => {
      for (const { open, page } of [first, second]) {
        await open(`${widgets}/shared/edit`);
        await page.getByLabel(/^title/u).waitFor();
      }
      await first.page.getByLabel(/^title/u).fill('A brighter lamp');
      await second.page.getByLabel(/^size/u).fill('7');
      for (const { page } of [first, second]) await page.getByText('Valid', { exact: true }).waitFor();
      await first.page.getByRole('button', { name: 'Save' }).click();
      await first.page.getByText('shared is saved').waitFor();
      await second.page.getByText('Somebody else has changed this object meanwhile.').waitFor();
      await second.page.getByRole('button', { name: 'Bring in their changes' }).click();
      t.equal(await second.page.getByLabel(/^title/u).inputValue(), 'A brighter lamp');
      t.equal(await second.page.getByLabel(/^size/u).inputValue(), '7');
      await second.page.getByRole('button', { name: 'Save' }).click();
      await second.page.getByText('shared is saved').waitFor();
    }),
  );
  const stored = (await (await stage.server.call(`${api}/shared`)).json()) as { readonly spec: object };
  t.strictSame(stored.spec, { title: 'A brighter lamp', size: 7 });
});

test('the server is killed under an open page, whose draft is saved after its restart', withBrowser, async (t) => {
  const env = { PORT: String(await freePort()), DATA_DIR: t.testdir(), ADMIN_PASSWORD: testPassword };
  const url = `http://127.0.0.1:${env.PORT}`;
  const start = async () => {
    const run = runCommandLine(['serve'], { cwd: env.DATA_DIR, env: { ...env, LOG_LEVEL: 'warn' } });
    t.teardown(() => run.child.kill('SIGKILL'));
    await run.ready();
    return run;
  };
  const killed = await start();
  const made = await fetch(`${url}${api}`, {
    method: 'POST',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'lamp' }, spec: { title: 'A lamp' } }),
  });
  t.equal(made.status, 201);
  const browser = await launchBrowser();
  t.teardown(async () => browser.close());
  const context = await browser.newContext({ baseURL: url, locale: 'en-US' });
  await context.request.post('/login', { data: { username: 'admin', password: testPassword } });
  const page = await context.newPage();
  const problems = await PageProblems.of(page);
  await page.goto(`/console${widgets}/lamp/edit`);
  await page.getByLabel(/^title/u).fill('Not saved yet');
  await page.getByText('Valid', { exact: true }).waitFor();
  killed.child.kill('SIGKILL');
  t.equal(await killed.exited(), 'SIGKILL');
  const banner = page.getByText('The server cannot be reached. Trying again…');
  await banner.waitFor();
  t.equal(await page.getByLabel(/^title/u).inputValue(), 'Not saved yet');
  const restarted = await start();
  await banner.waitFor({ state: 'detached' });
  await page.getByText('Valid', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('lamp is saved').waitFor();
  t.strictSame(
    problems.list().filter((line) => !line.includes('net::ERR_')),
    [],
  );
  await browser.close();
  restarted.child.kill('SIGTERM');
  t.equal(await restarted.exited(), 0);
});
