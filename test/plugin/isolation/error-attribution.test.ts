import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';

import { CodeFolders, suspectsMax } from '../../../src/plugin/errors/error-attribution.ts';
import { ClientError } from '../../../src/plugin/api/plugin.ts';
import { manifestYaml, openStage, temporaryFolder, writePlugins } from '../host/host-stage.ts';

test("a stray error of a plugin is distinguished from the platform's own", async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    stray: {
      'plugin.yaml': manifestYaml('stray', { main: 'main.mjs' }),
      'main.mjs':
        'import { make } from "./lib/make.mjs"; globalThis.strayErrors = [new Error("a"), make(), ' +
        'Object.defineProperty(new Error("c"), "stack", { get() { throw 1; } })]; export default {};',
      'lib/make.mjs': 'export const make = () => new TypeError("b");',
    },
  });
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  const [direct, deeper, hostile] = (globalThis as unknown as { strayErrors: Error[] }).strayErrors;
  t.equal(stage.suspects.pluginOf(direct), 'stray');
  t.equal(stage.suspects.pluginOf(deeper), 'stray');
  t.equal(stage.suspects.pluginOf(hostile), 'unknown', 'the platform makes no such thing');
  t.equal(stage.suspects.pluginOf(new Error('ours')), undefined);
  t.equal(stage.suspects.pluginOf(undefined), 'unknown');
  t.equal(stage.suspects.pluginOf(new ClientError('no', { reason: 'Forbidden', status: 403 })), 'unknown');
  await stage.close();
});

async function awaitFailure(): Promise<unknown> {
  try {
    return await readFile('/nowhere/to/be/found');
  } catch (error) {
    return error;
  }
}

test("an error of the runtime's own is attributed to an unknown plugin where a foreign one is loaded", async (t) => {
  const awaited = await awaitFailure();
  const raised = await new Promise((resolve) => {
    readFile('/nowhere/to/be/found').catch(resolve);
  });
  const ours = await openStage(t, { dataDir: await temporaryFolder(t) });
  t.equal(ours.suspects.pluginOf(raised), undefined);
  await ours.close();
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    other: { 'plugin.yaml': manifestYaml('other', { main: 'main.mjs' }), 'main.mjs': 'export default {};' },
  });
  const theirs = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  t.equal(theirs.suspects.pluginOf(raised), 'unknown');
  // Node 26 adds no frame for code that awaits an error of the runtime.
  const hasFrame = awaited instanceof Error && awaited.stack?.includes('error-attribution.test') === true;
  t.equal(
    theirs.suspects.pluginOf(awaited),
    hasFrame ? undefined : 'unknown',
    'code that awaits an error has a frame in it',
  );
  await theirs.close();
});

test('a linked folder is recognized by its target', async (t) => {
  const [root, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  await writePlugins(elsewhere, {
    linked: {
      'plugin.yaml': manifestYaml('linked', { main: 'main.mjs' }),
      'main.mjs': 'globalThis.linkedError = new Error("l"); export default {};',
    },
  });
  await symlink(join(elsewhere, 'linked'), join(root, 'linked'));
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  t.equal(stage.suspects.pluginOf((globalThis as unknown as { linkedError: Error }).linkedError), 'linked');
  await stage.close();
});

test('errors of a stopped or upgraded plugin are attributed to it, and the oldest folders are dropped', async (t) => {
  const suspects = new CodeFolders();
  const received: number[] = [];
  suspects.follow((all) => {
    received.push(all.length);
  });
  const from = (folder: string): Error =>
    Object.assign(new Error('late'), {
      stack: `Error: late\n    at Timeout.spin [as _onTimeout] (file://${folder}/main.mjs?attempt=3:1:1)`,
    });
  suspects.add({ name: 'blog', folder: '/data/packages/aaaa', bundled: false });
  suspects.add({ name: 'blog', folder: '/data/packages/bbbb', bundled: false });
  suspects.add({ name: 'inner', folder: '/data/packages/bbbb/node_modules/inner', bundled: false });
  t.equal(suspects.pluginOf(from('/data/packages/aaaa')), 'blog');
  t.equal(suspects.pluginOf(from('/data/packages/bbbb')), 'blog');
  t.equal(suspects.pluginOf(from('/data/packages/bbbb/node_modules/inner')), 'inner', 'the innermost folder');
  t.equal(suspects.pluginOf(from('/data/packages/bbbbb')), undefined, 'no other folder that begins alike');
  t.same(received, [0, 1, 2, 3]);
  for (let count = 0; count < suspectsMax - 2; count += 1)
    suspects.add({ name: `p${String(count)}`, folder: `/p/${String(count)}`, bundled: false });
  t.equal(suspects.all().length, suspectsMax);
  t.equal(suspects.pluginOf(from('/data/packages/aaaa')), undefined);
  t.equal(suspects.pluginOf(from('/data/packages/bbbb')), 'blog');
});
