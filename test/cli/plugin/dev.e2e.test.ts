import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test, type Test } from 'tap';

import { temporaryFolder } from '../../plugin/host/host-stage.ts';
import { runCommandLine, type CommandLine } from '../../support/server/command-line.ts';
import { linkDependencies } from '../../support/server/plugin-workshop.ts';

const adminPassword = 'of the test';

function develop(t: Test, folder: string, ...args: readonly string[]): CommandLine {
  const dev = runCommandLine(['plugin', 'dev', ...args], {
    cwd: folder,
    env: { PORT: '0', ADMIN_PASSWORD: adminPassword },
  });
  t.teardown(async () => {
    dev.child.kill('SIGTERM');
    await dev.exited();
  });
  return dev;
}

/** Resolves when the output contains the pattern `times` times. */
async function printed(dev: CommandLine, pattern: string, times = 1): Promise<void> {
  await dev.printed(new RegExp(`(?:${pattern}[^]*){${String(times)}}`, 'u'));
}

async function ask(dev: CommandLine, path: string): Promise<Response> {
  await printed(dev, 'ledgerplane ready on ');
  const url = /ledgerplane ready on (\S+)/u.exec(dev.stdout())?.[1];
  const authorization = `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`;
  return fetch(new URL(path, url), { headers: { authorization } });
}

test('a change is compiled, reloaded into the server and tested; errors have their file and line', async (t) => {
  const folder = await temporaryFolder(t);
  t.equal(await runCommandLine(['plugin', 'new', 'notes'], { cwd: folder }).exited(), 0);
  const plugin = join(folder, 'notes');
  await linkDependencies(plugin);
  const dev = develop(t, plugin);
  await printed(dev, 'compile: ok');
  await printed(dev, 'test: ok, 4 passed');
  await printed(dev, 'server: plugin started');
  const path = '/apis/api.notes.example.com/v1alpha1/notes/welcome/summary';
  t.match(await (await ask(dev, path)).json(), { title: 'Welcome' });
  const source = join(plugin, 'src', 'summary-routes.ts');
  const text = await readFile(source, 'utf8');

  await writeFile(source, text.replace('found.spec.title', 'found.spec.titel'));
  await printed(
    dev,
    'changed: src/summary-routes\\.ts\ncompile: failed\n +src/summary-routes\\.ts:15:42: error TS2551',
  );
  t.match(await (await ask(dev, path)).json(), { title: 'Welcome' }, 'the server keeps what compiles');

  const failing = "\n      if (name !== '') throw new Error('no summaries today');\n      const found";
  await writeFile(source, text.replace('\n      const found', failing));
  await printed(dev, 'compile: ok', 2);
  await printed(dev, 'test: failed\n[^]*notes/test/main\\.test\\.ts:42:\\d+');
  await printed(dev, 'server: plugin started', 2);
  t.equal((await ask(dev, path)).status, 500);
  await printed(dev, 'server: [^]*no summaries today[^]*src/summary-routes\\.ts:13');

  await writeFile(source, text.replace('found.spec.title', 'found.spec.title.toUpperCase()'));
  await printed(dev, 'test: ok, 4 passed', 2);
  await printed(dev, 'server: plugin started', 3);
  t.match(await (await ask(dev, path)).json(), { title: 'WELCOME' });

  dev.child.kill('SIGINT');
  t.equal(await dev.exited(), 0, dev.stderr());
});

test('a plugin without a compiler is served and tested as it is, with the plugins that it needs', async (t) => {
  const folder = await temporaryFolder(t);
  const manifest = (name: string, more = ''): string =>
    [
      'apiVersion: plugin.${domain}/v1alpha1\nkind: Plugin\nmetadata:',
      `  name: ${name}\nspec:\n  version: 1.0.0\n${more}`,
    ].join('\n');
  for (const name of ['base', 'above']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'base', 'plugin.yaml'), manifest('base'));
  await writeFile(join(folder, 'above', 'plugin.yaml'), manifest('above', "  pluginDependencies: {base: '*'}\n"));
  const dev = develop(t, folder, 'above', '--with', 'base');
  await printed(dev, 'server: plugin started');
  await printed(dev, 'test: there are no tests');
  t.match(await (await ask(dev, '/apis/plugin.svc.run/v1alpha1/plugins/above')).json(), {
    status: { phase: 'started' },
  });
  await mkdir(join(folder, 'above', 'test'));
  const passing = "import { test } from 'node:test';\ntest('one', () => {});\n";
  await writeFile(join(folder, 'above', 'test', 'one.test.mjs'), passing);
  await printed(dev, 'test: ok, 1 passed');
  await writeFile(join(folder, 'above', 'plugin.yaml'), 'kind: [');
  await printed(dev, 'server: plugin failed\n[^]*ManifestUnreadable');
});

test('a folder without a plugin is refused, and a server that ends ends the command', async (t) => {
  const folder = await temporaryFolder(t);
  const refused = develop(t, folder);
  t.equal(await refused.exited(), 2);
  t.match(refused.stderr(), /contains no plugin\.yaml/u);
  await writeFile(join(folder, 'plugin.yaml'), 'metadata:\n  name: odd\n');
  const ended = runCommandLine(['plugin', 'dev'], { cwd: folder, env: { PORT: 'none' } });
  t.equal(await ended.exited(), 1);
  t.match(ended.stdout(), /server: ledgerplane: .*PORT/u);
  t.match(ended.stderr(), /the server has ended \(2\)/u);
});
