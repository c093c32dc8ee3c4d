import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { test } from 'tap';
import type { Test } from 'tap';

import { lastAppliedKey } from '../../../src/plugin/objects/applied-base.ts';
import {
  domain,
  manifestYaml,
  mergePatch,
  moduleText,
  openStage,
  temporaryFolder,
  writePlugins,
  type PluginFiles,
  type Stage,
} from './host-stage.ts';

const plugins = `plugins.plugin.${domain}`;
const goods = 'goods.goods.example';
const good = {
  'plugin.yaml': manifestYaml('good', { main: 'main.mjs', displayName: 'Good' }),
  'main.mjs': moduleText('goods', {
    more: 'routes: [{ method: "GET", path: "/apis/api.goods.example/v1/sum", handler() {} }]',
  }),
};

type HostFolders = { readonly root: string; readonly dataDir: string };

async function placed(t: Test, files: PluginFiles): Promise<HostFolders> {
  const place = { root: await temporaryFolder(t), dataDir: await temporaryFolder(t) };
  await writePlugins(place.root, files);
  return place;
}

async function open(t: Test, { root, dataDir }: HostFolders): Promise<Stage> {
  return openStage(t, { dataDir, extra: [root] });
}

function goodYaml(color: string, more = ''): string {
  return (
    '# comment only\n---\napiVersion: goods.example/v1\nkind: Goods\nmetadata:\n  name: first\n' +
    `  labels: {example.com/set: one}\nspec:\n  color: ${color}\n  size: 1\n${more}`
  );
}

test('loadTypes registers types, and they are served only once the plugin is started', async (t) => {
  const place = await placed(t, { good });
  const stage = await openStage(t, {
    dataDir: place.dataDir,
    extra: [place.root],
    onLoaded: async (loaded) => {
      t.same(
        loaded.registry.all().map(({ type, serving }) => [type.key, serving]),
        [
          [plugins, true],
          ['roles', true],
          [goods, false],
        ],
      );
      t.equal(loaded.routes.get('good')?.serving, false);
      await loaded.host.start();
    },
  });
  t.same(
    stage.registry.all().map(({ serving }) => serving),
    [true, true, true],
  );
  t.equal(stage.routes.get('good')?.serving, true);
  t.match(stage.object(plugins, 'good'), {
    spec: { displayName: 'Good', version: '1.0.0', main: 'main.mjs' },
    status: { phase: 'started' },
  });
  await stage.close();
});

test('while indexes are built the plugin is not-started', async (t) => {
  const place = await placed(t, { good });
  const seen: (string | undefined)[] = [];
  let opened: Stage | undefined;
  const stage = await openStage(t, {
    dataDir: place.dataDir,
    extra: [place.root],
    onLoaded: async (loaded) => {
      opened = loaded;
      await loaded.host.start();
    },
    buildIndexes: async (_type, build) => {
      seen.push(opened?.phase('good'));
      await build();
    },
  });
  t.same(seen, ['not-started']);
  await stage.close();
});

test('a restart without changes appends nothing', async (t) => {
  const place = await placed(t, { good: { ...good, 'extensions/goods.yaml': goodYaml('red') } });
  const first = await open(t, place);
  const events = await first.events();
  await first.close();
  const second = await open(t, place);
  t.equal(await second.events(), events);
  t.equal(second.phase('good'), 'started');
  await second.close();
});

test('objects of several files and documents are created with the domain filled in', async (t) => {
  const place = await placed(t, {
    good: {
      ...good,
      'src/main/resources/extensions/a.yaml':
        `${goodYaml('red')}---\napiVersion: goods.example/v1\nkind: Goods\nmetadata: {name: second}\n` +
        `spec: {color: "\${domain}"}\n`,
      'extensions/roles.yml':
        'apiVersion: v1alpha1\nkind: Role\nmetadata:\n  name: good-view\n' +
        '  labels: {"${domain}/role-template": "true"}\nrules: []\n',
    },
  });
  const stage = await open(t, place);
  t.equal(stage.phase('good'), 'started', stage.ready('good'));
  t.match(stage.object(goods, 'first'), {
    metadata: { labels: { 'example.com/set': 'one' } },
    spec: { color: 'red', size: 1 },
  });
  t.match(stage.object(goods, 'second'), { spec: { color: domain } });
  t.match(stage.object('roles', 'good-view'), { metadata: { labels: { [`${domain}/role-template`]: 'true' } } });
  await stage.close();
});

test('a plugin ships objects of a type of a plugin with a later name', async (t) => {
  const place = await placed(t, {
    good,
    'a-first': { 'plugin.yaml': manifestYaml('a-first'), 'extensions/goods.yaml': goodYaml('red') },
  });
  const stage = await open(t, place);
  t.equal(stage.phase('a-first'), 'started', stage.ready('a-first'));
  t.match(stage.object(goods, 'first'), { spec: { color: 'red' } });
  await stage.close();
});

test("a later start keeps people's changes, applies the plugin's, and reports conflicts", async (t) => {
  const place = await placed(t, {
    good: { ...good, 'extensions/goods.yaml': goodYaml('red', '  shape: round\n  gone: 1\n') },
  });
  const first = await open(t, place);
  await first.write(
    goods,
    mergePatch('first', { metadata: { labels: { mine: 'yes' } }, spec: { color: 'green', own: true, shape: null } }),
  );
  await first.close();
  await writePlugins(place.root, {
    good: {
      'extensions/goods.yaml': goodYaml('blue', '  shape: round\n  weight: 5\n').replace('size: 1', 'size: 2'),
    },
  });
  const second = await open(t, place);
  t.match(second.object(goods, 'first'), { metadata: { labels: { mine: 'yes', 'example.com/set': 'one' } } });
  t.same(second.object(goods, 'first')?.['spec'], { color: 'green', own: true, size: 2, weight: 5 });
  t.match(second.conditions('good').find(({ type }) => type === 'ChangesKept')?.message, /Goods first: \/spec\/color$/);
  t.equal(second.phase('good'), 'started');
  const events = await second.events();
  await second.close();
  const third = await open(t, place);
  t.same(third.object(goods, 'first')?.['spec'], { color: 'green', own: true, size: 2, weight: 5 });
  t.notOk(
    third.conditions('good').some(({ type }) => type === 'ChangesKept'),
    'told once',
  );
  t.equal(await third.events(), events + 1, 'the status alone');
  await third.close();
});

test('an object that users created before the plugin shipped it keeps its members and gets missing ones', async (t) => {
  const place = await placed(t, { good });
  const first = await open(t, place);
  await first.write(goods, { type: 'create', object: { metadata: { name: 'first' }, spec: { color: 'mine' } } });
  await first.close();
  await writePlugins(place.root, { good: { 'extensions/goods.yaml': goodYaml('red') } });
  const second = await open(t, place);
  t.same(second.object(goods, 'first')?.['spec'], { color: 'mine', size: 1 });
  await second.close();
});

test('a deleted shipped object is created again; one marked for deletion is left alone', async (t) => {
  const place = await placed(t, { good: { ...good, 'extensions/goods.yaml': goodYaml('red') } });
  const first = await open(t, place);
  await first.write(goods, mergePatch('first', { metadata: { finalizers: ['goods.example/held'] } }));
  await first.write(goods, { type: 'delete', name: 'first', preconditions: {} });
  await first.close();
  const second = await open(t, place);
  t.match(second.object(goods, 'first'), { metadata: { deletionTimestamp: String } });
  await second.write(goods, mergePatch('first', { metadata: { finalizers: null } }));
  t.equal(second.object(goods, 'first'), undefined);
  await second.close();
  const third = await open(t, place);
  t.match(third.object(goods, 'first'), { spec: { color: 'red' } });
  t.notMatch(third.object(goods, 'first'), { metadata: { deletionTimestamp: String } });
  await third.close();
});

test('the last applied state is stored in an annotation of bounded size', async (t) => {
  const place = await placed(t, {
    good: { ...good, 'extensions/goods.yaml': goodYaml('red', `  text: ${'x'.repeat(500_000)}\n`) },
  });
  const stage = await open(t, place);
  const { annotations } = stage.object(goods, 'first')?.['metadata'] as unknown as {
    annotations: Record<string, string>;
  };
  t.ok((annotations[lastAppliedKey(domain)] ?? '').length < 500);
  await stage.close();
});

test("spec.enabled stops and starts a plugin, and a restart keeps people's choice", async (t) => {
  const place = await placed(t, { good: { ...good, 'extensions/goods.yaml': goodYaml('red') } });
  const first = await open(t, place);
  await first.setEnabled('good', false);
  t.equal(first.phase('good'), 'stopped');
  t.notOk(first.registry.all().some(({ type }) => type.key === goods));
  t.notOk(first.routes.has('good'));
  t.same(first.closedWatches, [goods]);
  t.ok(first.object(goods, 'first'), 'objects stay');
  await first.close();
  const second = await open(t, place);
  t.equal(second.phase('good'), 'stopped');
  t.notOk(second.registry.all().some(({ type }) => type.key === goods));
  await second.setEnabled('good', true);
  t.equal(second.phase('good'), 'started');
  t.ok(second.registry.all().some(({ type, serving }) => type.key === goods && serving));
  t.equal(second.routes.get('good')?.serving, true);
  await second.close();
});

test('the module of a disabled plugin is not run', async (t) => {
  const place = await placed(t, {
    off: {
      'plugin.yaml': manifestYaml('off', { enabled: false, main: 'main.mjs' }),
      'main.mjs': 'globalThis.offRan = true; export default {};',
    },
  });
  const stage = await open(t, place);
  t.equal(stage.phase('off'), 'stopped');
  t.notOk((globalThis as { offRan?: boolean }).offRan);
  await stage.close();
});

test('stored objects on which an index function throws are reported at each start until it accepts them', async (t) => {
  const indexing = (text: string): string =>
    "export default { types: [{ group: 'goods.example', version: 'v1', kind: 'Goods', singular: 'good', plural: " +
    "'goods', schema: { type: 'object', properties: { spec: {} } }, indexes: [{ name: 'made', indexFunc: (good) " +
    `=> ${text} }] }] };`;
  const place = await placed(t, { good: { ...good, 'main.mjs': indexing('good.spec.color') } });
  const failing = (stage: Stage): string | undefined =>
    stage.conditions('good').find(({ type }) => type === 'IndexFunctionFailing')?.message;
  const first = await open(t, place);
  for (const [name, color] of [
    ['a', 'red'],
    ['b', 7],
    ['c', 8],
  ] as const)
    await first.write(goods, { type: 'create', object: { metadata: { name }, spec: { color: String(color) } } });
  t.equal(failing(first), undefined);
  await first.close();
  await writePlugins(place.root, { good: { 'main.mjs': indexing('good.spec.color > 6 ? {} : good.spec.color') } });
  const why = 'goods.goods.example: 2 index values are missing, the first for the object "b": index "made": ';
  for (const round of ['anew', 'again']) {
    const stage = await open(t, place);
    t.ok(failing(stage)?.startsWith(why), `${round}: ${String(failing(stage))}`);
    if (round === 'again') {
      await stage.setEnabled('good', false);
      t.equal(failing(stage), undefined);
      await stage.setEnabled('good', true);
      t.ok(failing(stage)?.startsWith(why), 'without a restart');
    }
    await stage.close();
  }
  await writePlugins(place.root, { good: { 'main.mjs': indexing('good.spec.color') } });
  const last = await open(t, place);
  t.equal(failing(last), undefined);
  await last.close();
});

test('a version that differs from package.json is reported, as long as it differs', async (t) => {
  const place = await placed(t, {
    good: { ...good, 'package.json': '{"version": "1.1.0"}' },
    same: { 'plugin.yaml': manifestYaml('same'), 'package.json': '{"version": "1.0.0"}' },
    odd: { 'plugin.yaml': manifestYaml('odd'), 'package.json': '{' },
  });
  const stage = await open(t, place);
  t.same(
    ['good', 'same', 'odd'].map((name) => stage.conditions(name).map(({ type }) => type)),
    [['Ready', 'VersionsDiffer'], ['Ready'], ['Ready']],
  );
  t.equal(
    stage.conditions('good')[1]?.message,
    'plugin.yaml has the version 1.0.0, which is used, but package.json has "1.1.0"',
  );
  t.ok(
    stage.logLines.some(({ level, fields }) => level === 'warn' && JSON.stringify(fields).includes('VersionsDiffer')),
  );
  await stage.close();
});

test('process listeners that a stopped plugin leaves behind are reported with its name', async (t) => {
  const listening = (name: string, stop: string): Record<string, string> => ({
    'plugin.yaml': manifestYaml(name, { main: 'main.mjs' }),
    'helper.mjs':
      'export const listen = (event) => { const heard = () => {}; process.on(event, heard); return () => ' +
      'process.off(event, heard); };',
    'main.mjs':
      `import { listen } from './helper.mjs';\nprocess.once('left-once', () => {});\nconst end = listen('${name}');\n` +
      `setImmediate(() => listen('${name}-later'));\nexport default { stop() { ${stop} } };`,
  });
  const place = await placed(t, {
    good,
    messy: listening('messy', ''),
    tidy: listening('tidy', 'end(); process.removeAllListeners("tidy-later");'),
    broken: {
      'plugin.yaml': manifestYaml('broken', { main: 'main.mjs' }),
      'main.mjs': 'process.on("broken", () => {}); throw new Error("boom");',
    },
  });
  t.teardown(() => {
    for (const event of ['messy', 'messy-later', 'left-once', 'broken']) process.removeAllListeners(event);
  });
  const before = process.listenerCount('newListener');
  const stage = await open(t, place);
  const statuses = (): readonly unknown[] =>
    stage.logLines
      .filter(({ message }) => message === 'a stopped plugin still listens to process events')
      .map(({ fields }) => fields);
  t.same(statuses(), [{ plugin: 'broken', events: ['broken'] }]);
  process.emit('left-once' as 'exit', 0);
  for (const name of ['messy', 'tidy', 'good']) await stage.setEnabled(name, false);
  t.same(statuses().slice(1), [{ plugin: 'messy', events: ['messy', 'messy-later'] }]);
  await stage.setEnabled('messy', true);
  await stage.setEnabled('messy', false);
  t.equal(statuses().length, 2, 'its module does not run again, and the listeners are reported once');
  await stage.close();
  t.equal(process.listenerCount('newListener'), before);
});

test('a plugin disabled by the operator is not run, its status says so, and it can be uninstalled', async (t) => {
  const looping = {
    'plugin.yaml': manifestYaml('looping', { main: 'main.mjs' }),
    'main.mjs': 'globalThis.wasRun = true; throw new Error("as good as an endless loop");',
  };
  const place = await placed(t, {
    good,
    looping,
    needy: { 'plugin.yaml': manifestYaml('needy', { pluginDependencies: { looping: '*' } }) },
  });
  const stage = await openStage(t, {
    dataDir: place.dataDir,
    extra: [place.root],
    disabledPlugins: ['looping', 'nobody'],
  });
  t.equal((globalThis as { wasRun?: boolean }).wasRun, undefined);
  t.same(
    ['good', 'looping', 'needy'].map((name) => stage.phase(name)),
    ['started', 'stopped', 'failed'],
  );
  t.equal(stage.ready('looping'), 'KeptOff: disabled on this server: PLUGINS_DISABLED contains the name of the plugin');
  t.match(stage.ready('needy'), /^DependencyNotStarted: /);
  t.same(
    stage.logLines.filter(({ message }) => message.startsWith('PLUGINS_DISABLED')).map(({ fields }) => fields),
    [{ name: 'nobody' }],
  );
  await stage.write(plugins, mergePatch('looping', { spec: { displayName: 'Touched' } }));
  await stage.host.settled();
  t.equal((globalThis as { wasRun?: boolean }).wasRun, undefined);
  await stage.write(plugins, { type: 'delete', name: 'looping', preconditions: {} });
  await stage.host.settled();
  t.equal(stage.object(plugins, 'looping'), undefined);
  await stage.close();
});

test('a failed plugin is retried when its object changes', async (t) => {
  const place = await placed(t, { good: { ...good, 'main.mjs': 'throw new Error("not yet");' } });
  const stage = await open(t, place);
  t.equal(stage.phase('good'), 'failed');
  await writeFile(join(place.root, 'good', 'main.mjs'), good['main.mjs']);
  await stage.write(plugins, mergePatch('good', { spec: { description: 'again' } }));
  await stage.host.settled();
  t.equal(stage.phase('good'), 'started', stage.ready('good'));
  t.match(stage.object(plugins, 'good'), { spec: { description: 'again' } });
  await stage.close();
});

test('dependents follow their dependencies', async (t) => {
  const place = await placed(t, {
    good,
    a: { 'plugin.yaml': manifestYaml('a', { pluginDependencies: { b: '^1.0.0' } }) },
    b: { 'plugin.yaml': manifestYaml('b', { pluginDependencies: { good: '*' } }) },
  });
  const stage = await open(t, place);
  t.same(
    ['a', 'b', 'good'].map((name) => stage.phase(name)),
    ['started', 'started', 'started'],
  );
  await stage.setEnabled('good', false);
  t.match(stage.ready('b'), /^DependencyNotStarted: requires the plugin good, which is stopped/);
  t.match(stage.ready('a'), /^DependencyNotStarted: requires the plugin b, which is failed/);
  await stage.setEnabled('good', true);
  t.same(
    ['a', 'b', 'good'].map((name) => stage.phase(name)),
    ['started', 'started', 'started'],
  );
  await stage.close();
});

test('a Plugin reports a deleted folder, and a deleted Plugin is stopped and removed', async (t) => {
  const place = await placed(t, { good, other: { 'plugin.yaml': manifestYaml('other') } });
  const first = await open(t, place);
  await first.close();
  const elsewhere = await placed(t, { good });
  const second = await open(t, { ...place, root: elsewhere.root });
  t.match(second.ready('other'), /^FolderMissing: /);
  await second.write(plugins, { type: 'delete', name: 'good', preconditions: {} });
  await second.host.settled();
  t.equal(second.object(plugins, 'good'), undefined);
  t.same(second.closedWatches, [goods]);
  await second.close();
});

test('status changes and foreign edits do not restart a started plugin', async (t) => {
  const place = await placed(t, { good });
  const stage = await open(t, place);
  const before = stage.conditions('good');
  await stage.write(plugins, mergePatch('good', { spec: { displayName: 'Better' } }));
  await stage.host.settled();
  t.same(stage.conditions('good'), before);
  t.same(stage.closedWatches, []);
  await stage.close();
  const again = await open(t, place);
  t.match(again.object(plugins, 'good'), { spec: { displayName: 'Better' } }, 'kept over a restart');
  await again.close();
});

test('ledgerplane/plugin resolves from a folder that has no dependency on the platform', async (t) => {
  const module = `import { definePlugin, defineType } from 'ledgerplane/plugin';
    export default definePlugin(({ domain, name, log }) => {
      log.info('defined', { domain, name });
      return { types: [defineType({ group: 'goods.example', version: 'v1', kind: 'Goods', singular: 'goods',
        plural: 'goods', schema: {} })] };
    });`;
  const place = await placed(t, { good: { ...good, 'main.mjs': module } });
  const stage = await open(t, place);
  t.equal(stage.phase('good'), 'started', stage.ready('good'));
  t.ok(
    stage.logLines.some(
      ({ message, fields }) =>
        message === 'defined' && JSON.stringify(fields) === `{"domain":"${domain}","name":"good"}`,
    ),
  );
  await stage.close();
});

test('bundled plugins may use reserved groups; both shipped ones start', async (t) => {
  const root = await temporaryFolder(t);
  const shipped = fileURLToPath(new URL('../../../plugins', import.meta.url));
  const yaml = (name: string): Record<string, string> => ({
    'plugin.yaml': manifestYaml(name, { main: 'main.mjs' }),
    'main.mjs': `export { default } from ${JSON.stringify(join(shipped, name, 'main.js'))};`,
  });
  await writePlugins(root, { example: yaml('example'), content: yaml('content') });
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), bundled: [root] });
  t.same(
    ['example', 'content'].map((name) => stage.ready(name).split(':')[0]),
    ['Started', 'Started'],
  );
  t.same(
    stage.registry
      .all()
      .map(({ type }) => type.key)
      .sort(),
    ['comments.content.svc.run', plugins, 'posts.content.svc.run', 'roles', 'widgets.example.com'],
  );
  t.match(
    stage.routes.get('content')?.routes.map(({ path }) => path),
    [
      '/apis/api.content.svc.run/v1alpha1/posts',
      '/apis/api.content.svc.run/v1alpha1/posts/{name}',
      '/apis/api.content.svc.run/v1alpha1/tags',
    ],
  );
  await stage.close();
});
