import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { test, type Test } from 'tap';

import { repository } from '../../architecture/repository.ts';
import { temporaryFolder } from '../../plugin/host/host-stage.ts';
import { runCommandLine } from '../../support/server/command-line.ts';
import { linkDependencies, run } from '../../support/server/plugin-workshop.ts';

async function asked(
  folder: string,
  ...args: readonly string[]
): Promise<{ readonly code: unknown; readonly notes: string }> {
  const command = runCommandLine(['plugin', 'new', ...args], { cwd: folder });
  const code = await command.exited();
  return { code, notes: command.stderr() };
}

test('a plugin that is written compiles, passes its tests and is packed', async (t) => {
  const folder = await temporaryFolder(t);
  t.match(await asked(folder, 'my-notes'), { code: 0, notes: /cd my-notes/u });
  const plugin = join(folder, 'my-notes');
  t.same((await readdir(plugin)).sort(), [
    '.gitignore',
    'README.md',
    'extensions',
    'package.json',
    'plugin.yaml',
    'src',
    'test',
    'tsconfig.json',
  ]);
  const files = (await readdir(plugin, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const entry of files)
    t.notMatch(
      await readFile(join(entry.parentPath, entry.name), 'utf8'),
      /\{\{\w+\}\}/u,
      `${entry.name} has no place left open`,
    );
  const { devDependencies } = JSON.parse(await readFile(join(plugin, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const dependency = devDependencies['ledgerplane'] ?? '';
  t.match(dependency, /^file:\.\./u, 'the path of the clone is relative');
  t.equal(resolve(plugin, dependency.slice('file:'.length)), repository, 'it depends on the clone that wrote it');
  await linkDependencies(plugin);
  const tested = await run(plugin, 'npm', ['test']);
  t.equal(tested.code, 0, tested.printed);
  t.match(tested.printed, /pass 4/u);
  const packed = await run(plugin, 'npm', ['pack', '--json', '--ignore-scripts']);
  t.equal(packed.code, 0, packed.printed);
  const held = await run(plugin, 'tar', ['-tzf', 'my-notes-0.1.0.tgz']);
  t.same(
    held.printed.trim().split('\n').sort(),
    [
      'dist/src/keep-summary.js',
      'dist/src/keep-summary.js.map',
      'dist/src/main.js',
      'dist/src/main.js.map',
      'dist/src/note.js',
      'dist/src/note.js.map',
      'dist/src/summary-routes.js',
      'dist/src/summary-routes.js.map',
      'dist/src/summary.js',
      'dist/src/summary.js.map',
      'extensions/roles.yaml',
      'extensions/welcome.yaml',
      'package.json',
      'plugin.yaml',
      'README.md',
    ]
      .map((path) => `package/${path}`)
      .sort(),
  );
});

test('a plugin with a front end is built, passes its tests, and has the built files in its package', async (t) => {
  const folder = await temporaryFolder(t);
  t.match(await asked(folder, 'my-shop', '--type', 'Item', '--console'), { code: 0 });
  const plugin = join(folder, 'my-shop');
  t.match(await readFile(join(plugin, 'console', 'index.ts'), 'utf8'), /import\('\.\/items-page\.vue'\)/u);
  const files = (await readdir(plugin, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files)
    t.notMatch(await readFile(join(parentPath, name), 'utf8'), /\{\{\w+\}\}/u, `${name} has no place left open`);
  await linkDependencies(plugin);
  const tested = await run(plugin, 'npm', ['test']);
  t.equal(tested.code, 0, tested.printed);
  t.match(tested.printed, /the console loads the front end of the plugin/u);
  const checked = runCommandLine(['plugin', 'check', plugin], { cwd: folder });
  t.equal(await checked.exited(), 0, checked.stderr());
  const packed = await run(plugin, 'npm', ['pack', '--json', '--ignore-scripts']);
  t.match(packed.printed, /"dist\/console\/index\.js"/u);
  await rm(join(plugin, 'dist', 'console'), { recursive: true });
  const unbuilt = runCommandLine(['plugin', 'check', plugin], { cwd: folder });
  t.not(await unbuilt.exited(), 0);
  const problem =
    /plugin\.yaml:12: spec\.console "dist\/console": the folder does not exist; build the front end first/u;
  t.match(unbuilt.stdout() + unbuilt.stderr(), problem);
});

/** The request is refused, and the folder is unchanged. */
async function refuses(t: Test, folder: string, name: string, why: RegExp): Promise<void> {
  const before = (await readdir(folder)).sort();
  t.match(await asked(folder, '--', name), { code: 2, notes: why }, JSON.stringify(name));
  t.same((await readdir(folder)).sort(), before, 'nothing is written');
}

test('names that no plugin can have, and folders that are there, are refused', async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ['Notes', '', '-notes', 'notes-', '../notes', 'a/b', 'a.b', '9notes', 'n'.repeat(64), 'nötes'])
    await refuses(t, folder, name, /the name of a plugin must have at most 63/u);
  await mkdir(join(folder, 'taken'));
  await writeFile(join(folder, 'file'), '');
  await symlink('nowhere', join(folder, 'link'));
  for (const name of ['taken', 'file', 'link']) await refuses(t, folder, name, /already exists/u);
  t.same(await readdir(join(folder, 'taken')), []);
  t.match(await asked(folder, 'n'.repeat(63)), { code: 0 });
});

test('an unwritable folder is reported, and nothing is left', async (t) => {
  const folder = await temporaryFolder(t);
  const command = runCommandLine(['plugin', 'new', 'notes'], { cwd: folder, fileBlocksMax: 1 });
  t.equal(await command.exited(), 2);
  t.match(command.stderr(), /cannot be written/u);
  t.same(await readdir(folder), []);
});
