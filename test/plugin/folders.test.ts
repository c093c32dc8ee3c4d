/** Folders that come, go and change their names while the server runs. */
import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';
import type { Test } from 'tap';

import { nameFolders } from '../../src/plugin/folders/folder-names.ts';
import { unlessTransient } from '../../src/plugin/folders/transient-errors.ts';
import { digestOf, scanFiles } from '../../src/plugin/folders/plugin-files.ts';
import { foldersIn } from '../../src/plugin/folders/plugin-folder.ts';
import {
  domain,
  manifestYaml,
  moduleText,
  openStage,
  temporaryFolder,
  untilCondition,
  writePlugins,
  type PluginFiles,
  type Stage,
} from './host/host-stage.ts';

const plugins = `plugins.plugin.${domain}`;
const goods = 'goods.goods.example';
const good = { 'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }), 'main.mjs': moduleText('goods') };
const isStarted = (_ready: string, phase: string | undefined): boolean => phase === 'started';

async function given(t: Test, files: PluginFiles = {}): Promise<{ readonly root: string; readonly stage: Stage }> {
  const root = await temporaryFolder(t);
  await writePlugins(root, files);
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  t.teardown(async () => stage.close());
  return { root, stage };
}

function known(stage: Stage): readonly string[] {
  return stage.host.plugins().map(({ name }) => name);
}

test('a plugin whose folder is added starts once it has a plugin.yaml; a hidden folder is ignored', async (t) => {
  const { root, stage } = await given(t);
  await mkdir(join(root, 'later', 'lib'), { recursive: true });
  await writeFile(join(root, 'later', 'main.mjs'), moduleText('laters'));
  await writePlugins(root, { '.good': good, good: good });
  await untilCondition(stage, 'good', isStarted);
  t.ok(stage.registry.all().some(({ type, serving }) => type.key === goods && serving));
  await writeFile(join(root, 'good', 'main.mjs'), 'throw new Error("broken");');
  await untilCondition(stage, 'good', (ready) => ready.startsWith('ModuleFailed'));
  t.same(known(stage), ['good'], 'a folder that holds no plugin yet is left alone');
  await writeFile(join(root, 'later', 'plugin.yaml'), manifestYaml('after', { main: 'main.mjs' }));
  await untilCondition(stage, 'after', isStarted);
  t.same(known(stage), ['good', 'after']);
});

test('a declared plugin starts once its folder exists, and fails while it is missing', async (t) => {
  const { root, stage } = await given(t);
  await stage.write(plugins, { type: 'create', object: { metadata: { name: 'good' }, spec: {} } });
  await untilCondition(stage, 'good', (ready) =>
    ready.startsWith('FolderMissing: no folder of PLUGINS_DIRS contains this plugin'),
  );
  await writePlugins(root, { any: good });
  await untilCondition(stage, 'good', isStarted);
  const aside = await temporaryFolder(t);
  await rename(join(root, 'any'), join(aside, 'any'));
  await untilCondition(stage, 'good', (ready) => ready.startsWith('FolderMissing'));
  await symlink(join(aside, 'any'), join(root, 'good'));
  await untilCondition(stage, 'good', isStarted);
  t.same(known(stage), ['good']);
});

test('the name in plugin.yaml may change, and a free name goes to the next folder that waits for it', async (t) => {
  const { root, stage } = await given(t, { good, twin: good, odd: { 'plugin.yaml': '[' } });
  t.match(stage.ready('odd'), /^ManifestUnreadable: /);
  t.match(stage.ready('twin'), /^NameTaken: /);
  await writeFile(join(root, 'odd', 'plugin.yaml'), manifestYaml('even'));
  await untilCondition(stage, 'even', isStarted);
  await untilCondition(stage, 'odd', (ready) => ready.startsWith('FolderMissing'));
  await rm(join(root, 'good'), { recursive: true });
  await untilCondition(
    stage,
    'good',
    (ready, phase) => isStarted(ready, phase) && stage.ready('twin').startsWith('FolderMissing'),
  );
  await writeFile(join(root, 'twin', 'plugin.yaml'), '[');
  await untilCondition(stage, 'good', (ready) => ready.startsWith('ManifestUnreadable'));
  t.same(known(stage).toSorted(), ['even', 'good', 'odd', 'twin'], 'a half-written one is no other plugin');
});

test('an install reads the current folders', async (t) => {
  const { root, stage } = await given(t, { good, other: { 'plugin.yaml': manifestYaml('other') } });
  t.ok(await stage.host.hasFolder('good'));
  await rename(join(root, 'good'), join(root, '.good'));
  t.notOk(await stage.host.hasFolder('good'));
  t.ok(await stage.host.hasFolder('other'));
  await rm(root, { recursive: true });
  t.notOk(await stage.host.hasFolder('other'));
  await stage.host.hasFolder('other');
  t.equal(
    stage.logLines.filter(({ message }) => message === 'cannot read a folder of PLUGINS_DIRS').length,
    1,
    'told once',
  );
  await writePlugins(root, { good });
  await untilCondition(stage, 'good', isStarted);
});

test('the digest covers the files of the plugin, and no others beside them', async (t) => {
  const root = await temporaryFolder(t);
  const digest = async (): Promise<string | undefined> => {
    const look = await scanFiles(join(root, 'good'));
    return look === undefined ? undefined : digestOf(join(root, 'good'), look);
  };
  await writePlugins(root, { good: { 'main.mjs': '' } });
  t.equal(await digest(), undefined, 'no plugin.yaml');
  await writePlugins(root, { good });
  const before = await digest();
  await writePlugins(root, {
    good: {
      'dist/test/a.test.js': '1',
      'tests/b.js': '1',
      'node_modules/c/index.js': '1',
      '.git/d.json': '1',
      'src/main.ts': '1',
      'readme.md': '1',
    },
  });
  t.equal(await digest(), before);
  for (const file of [
    'dist/src/main.js',
    'package.json',
    'extensions/a.yaml',
    'src/main/resources/extensions/b.yaml',
    'lib/test.js',
  ]) {
    const earlier = await digest();
    await writePlugins(root, { good: { [file]: '{}' } });
    t.not(await digest(), earlier, file);
  }
});

test('the digest covers the front end in every folder, also in those of tests and dependencies', async (t) => {
  const root = await temporaryFolder(t);
  let scan: Awaited<ReturnType<typeof scanFiles>>;
  const digest = async (): Promise<string | undefined> => {
    scan = await scanFiles(join(root, 'good'), scan);
    return scan === undefined ? undefined : digestOf(join(root, 'good'), scan);
  };
  const served = ['test/a.js', 'node_modules/b/leaf.svg', 'index.css', 'c/tests/d.png'];
  for (const folder of ['console', 'dist/web/', 'node_modules/front']) {
    await writePlugins(root, { good: { ...good, 'plugin.yaml': manifestYaml('good', { console: folder }) } });
    await digest();
    for (const file of served) {
      const earlier = await digest();
      await writePlugins(root, { good: { [join(folder, file)]: '1' } });
      t.not(await digest(), earlier, `${folder} ${file}`);
    }
    const whole = await digest();
    await writePlugins(root, {
      good: { [join(folder, '.git/a.js')]: '1', 'elsewhere/a.svg': '1', 'node_modules/other/a.js': '1' },
    });
    t.equal(await digest(), whole, folder);
  }
});

test('a name belongs to the bundled folder, the folder of that name, or the first one', (t) => {
  const folder = (
    name: string,
    declared: string,
  ): { readonly folder: { path: string; name: string; bundled: boolean }; readonly declared: string } => ({
    folder: { path: `/r/${name}`, name, bundled: name.startsWith('bundled') },
    declared,
  });
  const { names, unnamed } = nameFolders([
    folder('a', 'x'),
    folder('b', 'x'),
    folder('x', 'b'),
    folder('c', 'B?'),
    folder('d', 'd'),
    folder('y.old', 'y'),
    folder('y', 'y'),
    folder('e', 'e'),
    folder('bundled-e', 'e'),
  ]);
  t.same(
    [...names].map(([name, { of, refused }]) => [name, of.folder.name, refused?.reason]),
    [
      ['e', 'bundled-e', undefined],
      ['d', 'd', undefined],
      ['y', 'y', undefined],
      ['x', 'a', undefined],
      ['b', 'b', 'NameTaken'],
    ],
  );
  t.same(
    unnamed.map(({ of, twin }) => [of.folder.name, twin]),
    [
      ['e', '/r/bundled-e'],
      ['x', '/r/b'],
      ['c', undefined],
      ['y.old', '/r/y'],
    ],
  );
  t.end();
});

test('a plugin removed during the scan of the folders affects no other one', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, { good });
  const passing = Array.from({ length: 32 }, (_, index) => join(root, `zz${String(index)}`));
  const state = { isOver: false };
  const storm = (async () => {
    while (!state.isOver) {
      await Promise.all(passing.map(async (path) => mkdir(path)));
      await Promise.all(passing.map(async (path) => rm(path, { recursive: true })));
    }
  })();
  for (let look = 0; look < 300; look += 1) {
    const found = await foldersIn(root, false);
    if (!found.some(({ name }) => name === 'good')) t.fail('it was not found');
  }
  state.isOver = true;
  await storm;
  await t.rejects(foldersIn(join(root, 'none'), false), { code: 'ENOENT' });
  const failing = (code: string) => Object.assign(new Error(code), { code });
  t.throws(
    () => unlessTransient(0)(failing('EMFILE')),
    { code: 'EMFILE' },
    'without descriptors nothing is known of what lies there',
  );
  t.equal(unlessTransient(0)(failing('ENOENT')), 0);
});

test("a pipe in a plugin's folder is ignored at once, and an unreadable file harms no plugin", async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, { good });
  for (const name of ['pipe.json', 'lib.mjs']) execFileSync('mkfifo', [join(root, 'good', name)]);
  await symlink('/dev/zero', join(root, 'good', 'zero.json'));
  // A file by its looks, of which the first byte is an I/O error.
  await symlink('/proc/self/mem', join(root, 'good', 'error.json'));
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  t.teardown(async () => stage.close());
  t.equal(stage.phase('good'), 'started');
});
