import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';
import type { Test } from 'tap';

import {
  domain,
  manifestYaml,
  mergePatch,
  moduleText,
  openStage,
  temporaryFolder,
  untilCondition,
  writePlugins,
  type PluginFiles,
  type Stage,
} from './host-stage.ts';

const plugins = `plugins.plugin.${domain}`;
const goods = 'goods.goods.example';
const good = { 'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }), 'main.mjs': moduleText('goods') };
const goodsYaml = (...names: readonly string[]): string =>
  names
    .map((name) => `---\napiVersion: goods.example/v1\nkind: Goods\nmetadata: {name: ${name}}\nspec: {color: red}\n`)
    .join('');

type HostFolders = { readonly root: string; readonly dataDir: string };

async function placed(t: Test, files: PluginFiles): Promise<HostFolders> {
  const place = { root: await temporaryFolder(t), dataDir: await temporaryFolder(t) };
  await writePlugins(place.root, files);
  return place;
}

async function open(t: Test, { root, dataDir }: HostFolders, isLeader = true): Promise<Stage> {
  return openStage(t, {
    dataDir,
    extra: [root],
    leadership: { isLeader: () => isLeader, subscribe: () => () => undefined },
  });
}

test('changed files reload a plugin; a half-written one fails with the reason until it is repaired', async (t) => {
  const place = await placed(t, {
    good: {
      ...good,
      'helper.mjs': 'export const plural = "goods";',
      'main.mjs': "import { plural } from './helper.mjs';\n" + moduleText('goods').replace("plural: 'goods'", 'plural'),
    },
  });
  const stage = await open(t, place);
  t.equal(stage.phase('good'), 'started', stage.ready('good'));
  await writeFile(join(place.root, 'good', 'helper.mjs'), 'export const plural = ');
  await untilCondition(stage, 'good', (ready) => ready.startsWith('ModuleFailed'));
  t.same(stage.closedWatches, [goods], 'its watches have ended');
  await writeFile(join(place.root, 'good', 'helper.mjs'), 'export const plural = "wares";');
  await untilCondition(stage, 'good', (_ready, phase) => phase === 'started');
  t.ok(
    stage.registry.all().some(({ type, serving }) => type.key === 'wares.goods.example' && serving),
    'a helper that was edited is loaded anew',
  );
  await writePlugins(place.root, { good: { 'plugin.yaml': '[' } });
  await untilCondition(stage, 'good', (ready) => ready.startsWith('ManifestUnreadable'));
  await rm(join(place.root, 'good'), { recursive: true });
  await untilCondition(stage, 'good', (ready) => ready.startsWith('FolderMissing'));
  await writePlugins(place.root, { good });
  await untilCondition(stage, 'good', (_ready, phase) => phase === 'started');
  t.ok(stage.registry.all().some(({ type, serving }) => type.key === goods && serving));
  await stage.close();
});

test('a chain of three plugins follows its first one, and a version out of range is named', async (t) => {
  const needs = (name: string, dependency: string, range: string): Record<string, string> => ({
    'plugin.yaml': manifestYaml(name, { pluginDependencies: { [dependency]: range } }),
  });
  const place = await placed(t, {
    a: needs('a', 'b', '*'),
    b: needs('b', 'good', '^1.0.0'),
    good,
    lost: needs('lost', 'nowhere', '*'),
  });
  const stage = await open(t, place);
  t.same(
    ['a', 'b', 'good'].map((name) => stage.phase(name)),
    ['started', 'started', 'started'],
  );
  t.match(stage.ready('lost'), /^DependencyMissing: requires the plugin nowhere/);
  await writePlugins(place.root, {
    good: { 'plugin.yaml': manifestYaml('good', { main: 'main.mjs', version: '2.0.0' }) },
  });
  await untilCondition(stage, 'a', (ready) => ready.startsWith('DependencyNotStarted'));
  t.match(
    stage.ready('b'),
    /^DependencyVersion: requires version \^1.0.0 of the plugin good; the present version is 2.0.0/,
  );
  await writePlugins(place.root, { good: { 'plugin.yaml': good['plugin.yaml'] } });
  await untilCondition(stage, 'a', (_ready, phase) => phase === 'started');
  await stage.close();
});

test('plugins that depend on each other are named, and start once one drops its dependency', async (t) => {
  const needs = (name: string, dependency: string): Record<string, string> => ({
    'plugin.yaml': manifestYaml(name, { pluginDependencies: { [dependency]: '*' } }),
  });
  const place = await placed(t, { a: needs('a', 'b'), b: needs('b', 'c'), c: needs('c', 'a'), good });
  const stage = await open(t, place);
  for (const name of ['a', 'b', 'c'])
    t.match(stage.ready(name), /^DependencyCycle: plugins depend on each other: (?:a → b → c|b → c → a|c → a → b)/);
  t.equal(stage.phase('good'), 'started');
  await writePlugins(place.root, { c: { 'plugin.yaml': manifestYaml('c') } });
  await untilCondition(stage, 'a', (_ready, phase) => phase === 'started');
  t.same(
    ['b', 'c'].map((name) => stage.phase(name)),
    ['started', 'started'],
  );
  await writePlugins(place.root, { c: needs('c', 'a') });
  for (const name of ['a', 'b', 'c']) await untilCondition(stage, name, (ready) => ready.startsWith('DependencyCycle'));
  await stage.close();
});

test('a burst of enabling and disabling ends in the last requested state', async (t) => {
  const stage = await open(
    t,
    await placed(t, { good, after: { 'plugin.yaml': manifestYaml('after', { pluginDependencies: { good: '*' } }) } }),
  );
  for (let turn = 0; turn < 50; turn += 1)
    await stage.write(plugins, mergePatch('good', { spec: { enabled: turn % 2 === 1 } }));
  await stage.host.settled();
  t.same(
    ['good', 'after'].map((name) => stage.phase(name)),
    ['started', 'started'],
  );
  t.equal(stage.registry.all().filter(({ type }) => type.key === goods).length, 1);
  await stage.close();
});

test('objects that a newer version no longer declares are removed, unless people changed them', async (t) => {
  const place = await placed(t, { good: { ...good, 'extensions/goods.yaml': goodsYaml('one', 'two', 'three') } });
  const first = await open(t, place);
  await first.write(goods, mergePatch('two', { spec: { color: 'mine' } }));
  await first.close();
  await writePlugins(place.root, { good: { 'extensions/goods.yaml': goodsYaml('three') } });
  const second = await open(t, place);
  t.equal(second.object(goods, 'one'), undefined);
  t.notMatch(second.object(goods, 'two'), { metadata: { deletionTimestamp: String } });
  t.match(
    second.conditions('good').find(({ type }) => type === 'ChangesKept')?.message,
    /Goods two: no longer declared; kept because users have changed it/,
  );
  await second.close();
});

test('an uninstall removes declared objects, with deleteData all objects, and resumes after a crash', async (t) => {
  const place = await placed(t, { good: { ...good, 'extensions/goods.yaml': goodsYaml('one') } });
  const first = await open(t, place);
  await first.write(goods, {
    type: 'create',
    object: { metadata: { name: 'own', finalizers: ['goods.example/held'] }, spec: { color: 'blue' } },
  });
  await first.close();
  // Of a node that does not lead nothing is removed: as after a crash before the first step.
  const follower = await open(t, place, false);
  await follower.write(plugins, mergePatch('good', { spec: { deleteData: true } }));
  await follower.write(plugins, { type: 'delete', name: 'good', preconditions: {} });
  await follower.host.settled();
  t.ok(follower.object(goods, 'one'));
  t.notOk(
    follower.registry.all().some(({ type }) => type.key === goods),
    'it is stopped on every node',
  );
  await follower.close();
  await rm(join(place.root, 'good'), { recursive: true });
  const leader = await open(t, place);
  t.equal(leader.object(goods, 'one'), undefined);
  t.equal(leader.object(goods, 'own'), undefined, 'its finalizer could be taken off by nobody');
  t.equal(leader.object(plugins, 'good'), undefined);
  await leader.close();
});

test('a slow stop and a slow load are reported while they last', async (t) => {
  const held = new Map<string, () => void>();
  Object.assign(globalThis, {
    holdStep: async (step: string) =>
      new Promise<void>((resolve) => {
        held.set(step, resolve);
      }),
  });
  t.teardown(() => Reflect.deleteProperty(globalThis, 'holdStep'));
  const text = moduleText('goods', { more: 'stop: () => globalThis.holdStep("stop")' });
  const place = await placed(t, { good: { ...good, 'main.mjs': text } });
  const stage = await open(t, place);
  await writeFile(
    join(place.root, 'good', 'main.mjs'),
    `${text.replace('export default', 'const definition =')}export default async () => { await ` +
      'globalThis.holdStep("load"); return definition; };',
  );
  await untilCondition(stage, 'good', (ready, phase) => phase === 'stopping' && ready.startsWith('Stopping: '));
  held.get('stop')?.();
  await untilCondition(
    stage,
    'good',
    (ready, phase) => phase === 'not-started' && ready === "Loading: loading the plugin's module",
  );
  held.get('load')?.();
  await untilCondition(stage, 'good', (_ready, phase) => phase === 'started');
  Object.assign(globalThis, { holdStep: () => undefined });
  await stage.close();
});

test('a follower runs every plugin and writes nothing', async (t) => {
  const place = await placed(t, { good: { ...good, 'extensions/goods.yaml': goodsYaml('one') } });
  const stage = await open(t, place, false);
  t.equal(await stage.events(), 0);
  t.same(stage.host.plugins(), [{ name: 'good', phase: 'started', failure: undefined }]);
  await stage.close();
});
