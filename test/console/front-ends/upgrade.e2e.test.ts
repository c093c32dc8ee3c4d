/** Packages that are upgraded over HTTP while pages of the console are open. */
import t, { test, type Test } from 'tap';

import { tgz } from '../../packages/archives.ts';
import { formWith, installPath, send } from '../../packages/package-requests.ts';
import { Administration } from '../../support/server/administration.ts';
import { withBrowser } from '../support/browser.ts';
import { Stage } from '../support/stage.ts';
import { garden, type Files } from './garden.ts';

const stage = new Stage(t);
t.setTimeout(240_000);

/** Returns the package of a plugin with these files. */
function packageOf(files: Files): Buffer {
  const members = Object.entries(files).map(([name, content]) => ({ name: `package/${name}`, content }));
  return tgz([{ name: 'package', kind: 'folder' }, ...members]);
}

async function upload(t: Test, files: Files, expected: number, path = upgradePath): Promise<void> {
  const { status, body } = await send(stage.server, path, formWith(packageOf(files)));
  t.equal(status, expected, JSON.stringify(body));
}
const upgradePath = '/apis/api.console.svc.run/v1alpha1/plugins/garden/upgrade';
const broken = { ...garden('5'), 'main.mjs': `throw new Error('the server side is out of order');` };

test('an upgrade replaces an open page, and a failed one keeps it', withBrowser, async (t) => {
  await upload(t, garden('1'), 201, installPath);
  await stage.visit(t, {}, async ({ page, open, problems, picture }) => {
    const modules: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (/\/plugins\/garden\/\w+\/index\.js$/u.test(pathname)) modules.push(pathname);
    });
    await open('/apps/garden/plots/7?from=start');
    await page.getByText('edition 1 of garden 1.0.0, en').waitFor();
    await page.evaluate('globalThis.kept = true');
    await page.evaluate(`new MutationObserver(() => {
      if (document.body.innerText.includes('is not running')) globalThis.wasRemoved = true;
    }).observe(document.body, { childList: true, subtree: true })`);
    await upload(t, garden('2'), 200);
    await page.getByText('edition 2 of garden 2.0.0, en').waitFor();
    t.equal(new Set(modules).size, 2, 'each version has an address of its own');
    t.match(page.url(), /\/apps\/garden\/plots\/7\?from=start$/u);
    t.equal(await page.evaluate('globalThis.wasRemoved'), undefined, 'the page stayed during the upgrade');

    await upload(t, broken, 422);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByText('edition 2 of garden 2.0.0, en').waitFor();
    t.equal(await page.getByText('has failed').count(), 0);

    const faulty = { ...garden('3'), 'console/index.js': `throw new Error('the module is out of order');` };
    await upload(t, faulty, 200);
    await page.getByText('The new version of the front end of garden cannot be loaded').waitFor();
    await page.getByText('edition 2 of garden 2.0.0, en').waitFor();
    await picture('front-end-former');
    t.ok(problems.take().every((problem) => problem.includes('the module is out of order')));
    await upload(t, garden('4'), 200);
    await page.getByText('edition 4 of garden 4.0.0, en').waitFor();
    t.equal(await page.getByText('cannot be loaded').count(), 0);
    t.equal(await page.evaluate('globalThis.kept'), true, 'the page was not reloaded');
  });
});

test('what is typed in a form of the console stays during an upgrade', withBrowser, async (t) => {
  await new Administration(stage.server.url).call('POST', '/apis/garden.example.com/v1/plots', {
    metadata: { name: 'north' },
    spec: { crop: 'kale' },
  });
  await stage.visit(t, {}, async ({ page, open }) => {
    await open('/objects/garden.example.com/v1/plots/north/edit');
    const crop = page.getByLabel(/^crop/u);
    await crop.fill('half a le');
    await upload(
      t,
      { ...garden('6'), 'console/index.js': garden('6')['console/index.js']?.replace('Soil', 'Earth') ?? '' },
      200,
    );
    await page.getByRole('link', { name: 'Earth' }).waitFor();
    t.equal(await crop.inputValue(), 'half a le');
    await page.keyboard.type('ek');
    t.equal(await crop.inputValue(), 'half a leek', 'the field still has the focus');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('north is saved').waitFor();
  });
});
