import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';

import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { pluginManifestBytesMax, pluginStartMs } from '../../../src/limits/plugins.ts';
import {
  manifestYaml,
  moduleText,
  openStage,
  temporaryFolder,
  writePlugins,
  type PluginFiles,
} from '../host/host-stage.ts';

const good = { 'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }), 'main.mjs': moduleText('goods') };
const withMain = (name: string, main: string): PluginFiles[string] => ({
  'plugin.yaml': manifestYaml(name, { main: 'main.mjs' }),
  'main.mjs': main,
});
const withRoute = (name: string, path: string): PluginFiles[string] =>
  withMain(name, `export default { routes: [{ method: 'GET', path: '${path}', handler() {} }] };`);
const withObject = (name: string, yaml: string): PluginFiles[string] => ({
  'plugin.yaml': manifestYaml(name),
  'extensions/a.yaml': yaml,
});
const shippedRole = (name: string, labels: string): string =>
  `apiVersion: v1alpha1\nkind: Role\nmetadata:\n  name: ${name}\n  labels: {${labels}}\nrules: []\n`;

/** Each plugin's files, and the reason and message it fails with. */
const broken: Readonly<Record<string, readonly [PluginFiles[string], RegExp]>> = {
  'bad-yaml': [{ 'plugin.yaml': 'a: [' }, /^ManifestUnreadable: /],
  'huge-manifest': [{ 'plugin.yaml': `#${'x'.repeat(pluginManifestBytesMax)}` }, /^ManifestUnreadable: .*at most/],
  'double-key': [{ 'plugin.yaml': 'kind: Plugin\nkind: Plugin\n' }, /^ManifestUnreadable: .*unique/],
  'two-documents': [
    { 'plugin.yaml': `${manifestYaml('a')}\n---\n${manifestYaml('b')}` },
    /^ManifestUnreadable: .*one YAML document/,
  ],
  'wrong-kind': [
    { 'plugin.yaml': manifestYaml('wrong-kind').replace('"Plugin"', '"Widget"') },
    /^ManifestUnreadable: .*kind: must be Plugin/,
  ],
  'wrong-group': [
    { 'plugin.yaml': manifestYaml('wrong-group').replace('plugin.$', 'plug.$') },
    /^ManifestUnreadable: .*apiVersion: must be plugin\.svc\.run\/v1alpha1/,
  ],
  'wrong-name': [{ 'plugin.yaml': manifestYaml('Wrong.Name') }, /^ManifestUnreadable: .*metadata\.name/],
  'wrong-version': [
    { 'plugin.yaml': manifestYaml('wrong-version', { version: '1' }) },
    /^ManifestUnreadable: .*spec\.version: must be a semantic version/,
  ],
  'wrong-range': [
    { 'plugin.yaml': manifestYaml('wrong-range', { requires: 'latest' }) },
    /^ManifestUnreadable: .*spec\.requires/,
  ],
  'wrong-enabled': [
    { 'plugin.yaml': manifestYaml('wrong-enabled', { enabled: 'yes' }) },
    /^ManifestUnreadable: .*spec\.enabled/,
  ],
  'wrong-dependencies': [
    { 'plugin.yaml': manifestYaml('wrong-dependencies', { pluginDependencies: { a: 3 } }) },
    /^ManifestUnreadable: .*spec\.pluginDependencies/,
  ],
  'newer-platform': [
    { 'plugin.yaml': manifestYaml('newer-platform', { requires: '>=2.0.0' }) },
    /^PlatformVersion: requires platform >=2\.0\.0; the version of this platform is 1\.2\.0/,
  ],
  'main-missing': [
    { 'plugin.yaml': manifestYaml('main-missing', { main: 'nowhere.mjs' }) },
    /^MainRefused: .*does not exist/,
  ],
  'main-outside': [
    { 'plugin.yaml': manifestYaml('main-outside', { main: '../good/main.mjs' }) },
    /^MainRefused: .*is outside of the plugin's folder/,
  ],
  'main-absolute': [
    { 'plugin.yaml': manifestYaml('main-absolute', { main: '/etc/passwd' }) },
    /^MainRefused: .*is outside/,
  ],
  'main-folder': [
    { 'plugin.yaml': manifestYaml('main-folder', { main: 'lib' }), 'lib/a.txt': '' },
    /^MainRefused: .*is not a file/,
  ],
  throws: [withMain('throws', 'throw new Error("boom");'), /^ModuleFailed: .*Error: boom/],
  'throws-oddly': [
    withMain('throws-oddly', 'throw { toString() { throw 1; } };'),
    /^ModuleFailed: .*cannot be printed/,
  ],
  'throws-nothing': [withMain('throws-nothing', 'throw undefined;'), /^ModuleFailed: .*undefined/],
  syntax: [withMain('syntax', 'export default {'), /^ModuleFailed: .*SyntaxError/],
  'imports-nothing': [withMain('imports-nothing', 'import "no-such-package";'), /^ModuleFailed: .*no-such-package/],
  rejects: [
    withMain('rejects', 'export default async () => { throw new Error("later"); };'),
    /^ModuleFailed: .*Error: later/,
  ],
  'no-default': [
    withMain('no-default', 'export const a = 1;'),
    /^DefinitionRefused: the default export must be a plugin definition/,
  ],
  'text-default': [withMain('text-default', 'export default "x";'), /^DefinitionRefused: /],
  'array-default': [withMain('array-default', 'export default [];'), /^DefinitionRefused: /],
  'answers-nothing': [withMain('answers-nothing', 'export default () => undefined;'), /^DefinitionRefused: /],
  typo: [withMain('typo', 'export default { type: [] };'), /^DefinitionRefused: type: is not known/],
  getter: [
    withMain('getter', 'export default { get types() { throw new Error("looked"); } };'),
    /^DefinitionRefused: Error: looked/,
  ],
  proxy: [
    withMain('proxy', 'export default new Proxy({}, { ownKeys() { throw new Error("peeked"); } });'),
    /^DefinitionRefused: Error: peeked/,
  ],
  'types-no-array': [
    withMain('types-no-array', 'export default { types: {} };'),
    /^DefinitionRefused: types: must be an array/,
  ],
  'reserved-group': [
    withMain('reserved-group', moduleText('mine', { group: 'my.svc.run' })),
    /^TypesRefused: type Mine: group: is reserved for the platform/,
  ],
  'core-group': [withMain('core-group', moduleText('mine', { group: '' })), /^TypesRefused: .*group: is reserved/],
  'default-index': [
    withMain('default-index', moduleText('mine').replace('spec.color', 'metadata.name')),
    /^TypesRefused: .*is a default index/,
  ],
  'bad-schema': [
    withMain('bad-schema', moduleText('mine').replace("type: 'object'", "type: 'objekt'")),
    /^TypesRefused: .*schema/,
  ],
  'type-twice': [
    withMain(
      'type-twice',
      `${moduleText('twice').replace('export default', 'const a =')} export default { types: [...a.types, ` +
        '...a.types] };',
    ),
    /^TypesRefused: type Twice of twice\.example \(twice\) is declared twice/,
  ],
  'zz-duplicate': [
    withMain('zz-duplicate', moduleText('goods')),
    /^TypesRefused: type Goods of goods\.example \(goods\) already exists in the plugin good/,
  ],
  'api-path': [withRoute('api-path', '/api/v1/things'), /^DefinitionRefused: .*is under \/api/],
  'apis-short': [
    withRoute('apis-short', '/apis/api.example/v1'),
    /^DefinitionRefused: .*must begin with \/apis\/<group>\/<version>\//,
  ],
  'other-path': [withRoute('other-path', '/things'), /^DefinitionRefused: .*must begin with/],
  'dots-path': [
    withRoute('dots-path', '/apis/api.example/v1/../x'),
    /^DefinitionRefused: .*contains the segment "\.\."/,
  ],
  'wild-path': [withRoute('wild-path', '/apis/api.example/v1/(.*)'), /^DefinitionRefused: .*contains the segment/],
  method: [
    withMain('method', 'export default { routes: [{ method: "get", path: "/apis/a.example/v1/x", handler() {} }] };'),
    /^DefinitionRefused: routes\[0\]\.method/,
  ],
  handler: [
    withMain('handler', 'export default { routes: [{ method: "GET", path: "/apis/a.example/v1/x" }] };'),
    /^DefinitionRefused: routes\[0\]\.handler/,
  ],
  'route-twice': [
    withMain(
      'route-twice',
      'const r = (n) => ({ method: "GET", path: `/apis/a.example/v1/x/{${n}}`, handler() {} }); export default { ' +
        'routes: [r("a"), r("b")] };',
    ),
    /^DefinitionRefused: .*declared twice/,
  ],
  'core-controller': [
    withMain('core-controller', 'export default { controllers: [{ apiVersion: "v1", path: "/x", routes: [] }] };'),
    /^DefinitionRefused: controllers\[0\]\.apiVersion: must be <group>\/<version>/,
  ],
  'reserved-route': [
    withRoute('reserved-route', '/apis/console.api.svc.run/v1/x'),
    /^RoutesRefused: .*reserved for the platform/,
  ],
  'foreign-route': [
    withRoute('foreign-route', '/apis/goods.example/v1/x'),
    /^RoutesRefused: .*belongs to the plugin good/,
  ],
  'generated-route': [
    withMain(
      'generated-route',
      moduleText('things', {
        more: 'routes: [{ method: "GET", path: "/apis/things.example/v1/things/{name}", handler() {} }]',
      }),
    ),
    /^RoutesRefused: .*is a generated API/,
  ],
  'objects-bad-yaml': [withObject('objects-bad-yaml', 'a: ['), /^ObjectsRefused: extensions\/a\.yaml/],
  'objects-billion-laughs': [
    withObject(
      'objects-billion-laughs',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map((key, at) => `${key}: &${key} [${`*${'abcdefg'.charAt(at)},`.repeat(9)}]`)
        .join('\n')}\n`,
    ),
    /^ObjectsRefused: .*alias/i,
  ],
  'objects-text': [
    withObject('objects-text', 'just text'),
    /^ObjectsRefused: extensions\/a\.yaml, document 1: must be an object/,
  ],
  'objects-nameless': [
    withObject('objects-nameless', 'apiVersion: v1alpha1\nkind: Role\nmetadata: {generateName: a-}\n'),
    /^ObjectsRefused: .*must have metadata\.name/,
  ],
  'objects-bad-name': [
    withObject('objects-bad-name', 'apiVersion: v1alpha1\nkind: Role\nmetadata: {name: A.b}\n'),
    /^ObjectsRefused: .*metadata\.name must contain only/,
  ],
  'objects-untyped': [
    withObject('objects-untyped', 'apiVersion: v9\nkind: Thing\nmetadata: {name: a}\n'),
    /^ObjectsRefused: extensions\/a\.yaml: there is no type Thing of v9/,
  ],
  'objects-invalid': [
    withObject('objects-invalid', 'apiVersion: v1alpha1\nkind: Role\nmetadata: {name: a}\nrules: all\n'),
    /^ObjectsRefused: extensions\/a\.yaml: Role a: .*rules: must be of type array/,
  ],
  'objects-twice': [
    withObject('objects-twice', `${shippedRole('a', '')}---\n${shippedRole('a', '')}`),
    /^ObjectsRefused: .*declared twice/,
  ],
  'objects-label': [
    withObject('objects-label', shippedRole('a', 'plain: "1"')),
    /^ObjectsRefused: .*metadata\.labels\.plain: is reserved/,
  ],
  'objects-template': [
    withObject('objects-template', shippedRole('other-view', '"${domain}/role-template": "true"')),
    /^ObjectsRefused: .*must begin with the plugin's name/,
  ],
  'objects-user': [
    withObject('objects-user', 'apiVersion: v1alpha1\nkind: User\nmetadata: {name: a}\n'),
    /^ObjectsRefused: .*contain secrets/,
  ],
  'needs-missing': [
    { 'plugin.yaml': manifestYaml('needs-missing', { pluginDependencies: { ghost: '*' } }) },
    /^DependencyMissing: requires the plugin ghost, which does not exist/,
  ],
  'needs-newer': [
    { 'plugin.yaml': manifestYaml('needs-newer', { pluginDependencies: { good: '>=2.0.0' } }) },
    /^DependencyVersion: requires version >=2\.0\.0 of the plugin good; the present version is 1\.0\.0/,
  ],
  'needs-broken': [
    { 'plugin.yaml': manifestYaml('needs-broken', { pluginDependencies: { throws: '*' } }) },
    /^DependencyNotStarted: requires the plugin throws, which is failed/,
  ],
  'cycle-a': [
    { 'plugin.yaml': manifestYaml('cycle-a', { pluginDependencies: { 'cycle-b': '*' } }) },
    /^DependencyCycle: .*cycle-a → cycle-b → cycle-a/,
  ],
  'cycle-b': [
    { 'plugin.yaml': manifestYaml('cycle-b', { pluginDependencies: { 'cycle-a': '*' } }) },
    /^DependencyCycle: .*cycle-b → cycle-a → cycle-b/,
  ],
};

test('each broken plugin fails alone, with its reason in its own object, and leaves nothing behind', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    good,
    ...Object.fromEntries(Object.entries(broken).map(([name, [files]]) => [name, files])),
  });
  await mkdir(join(root, '.git'));
  await writeFile(join(root, 'notes.txt'), '');
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  t.equal(stage.phase('good'), 'started');
  for (const [name, [, reason]] of Object.entries(broken)) {
    t.equal(stage.phase(name), 'failed', name);
    t.match(stage.ready(name), reason, name);
  }
  t.same(
    stage.registry.all().map(({ type, serving }) => `${type.key} ${String(serving)}`),
    ['plugins.plugin.svc.run true', 'roles true', 'goods.goods.example true'],
  );
  t.same([...stage.routes.keys()], ['good']);
  t.equal(stage.host.plugins().length, Object.keys(broken).length + 1);
  await stage.close();
});

test("a link that leads out of the plugin's folder is refused", async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    good,
    linked: { 'plugin.yaml': manifestYaml('linked', { main: 'main.mjs' }) },
    deeper: { 'plugin.yaml': manifestYaml('deeper', { main: 'lib/main.mjs' }) },
    manifest: {},
    objects: { 'plugin.yaml': manifestYaml('objects'), 'extensions/b.yaml': '' },
  });
  await symlink(join(root, 'good', 'main.mjs'), join(root, 'linked', 'main.mjs'));
  await symlink(join(root, 'good'), join(root, 'deeper', 'lib'));
  await mkdir(join(root, 'manifest'));
  await symlink(join(root, 'good', 'plugin.yaml'), join(root, 'manifest', 'plugin.yaml'));
  await symlink('/etc/hosts', join(root, 'objects', 'extensions', 'a.yaml'));
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  t.match(stage.ready('linked'), /^MainRefused: .*link/);
  t.match(stage.ready('deeper'), /^MainRefused: .*link/);
  t.match(stage.ready('manifest'), /^ManifestUnreadable: /);
  t.match(stage.ready('objects'), /^ObjectsRefused: extensions\/a\.yaml: .*link/);
  t.equal(stage.phase('good'), 'started');
  await stage.close();
});

test('a module that never settles fails at the limit, and not before', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    good,
    hangs: withMain('hangs', 'globalThis.hangs = (globalThis.hangs ?? 0) + 1; await new Promise(() => {});'),
    dawdles: withMain(
      'dawdles',
      'globalThis.hangs = (globalThis.hangs ?? 0) + 1; export default () => new Promise(() => {});',
    ),
  });
  const clock = new FakeClock();
  const opening = openStage(t, { dataDir: await temporaryFolder(t), extra: [root], clock });
  let isOpen = false;
  void opening.then(() => {
    isOpen = true;
  });
  // Both modules run and the good one has been loaded: their two timers are left, one of each folder's files, and the
  // one of those that wait for all.
  while ((globalThis as { hangs?: number }).hangs !== 2 || clock.timers !== 6)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  clock.advance(pluginStartMs - 1);
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  t.notOk(isOpen);
  clock.advance(1);
  const stage = await opening;
  t.match(stage.ready('hangs'), /^StartTimeout: the plugin's module did not load within 10 s/);
  t.match(stage.ready('dawdles'), /^StartTimeout: /);
  t.equal(stage.phase('good'), 'started');
  await stage.close();
});

test('a plugin fails alone when its indexes cannot be built', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, { good, other: withMain('other', moduleText('others')) });
  const stage = await openStage(t, {
    dataDir: await temporaryFolder(t),
    extra: [root],
    buildIndexes: async (type, build) => (type.plural === 'others' ? Promise.reject(new Error('no room')) : build()),
  });
  t.match(stage.ready('other'), /^IndexesFailed: .*no room/);
  t.equal(stage.phase('good'), 'started');
  t.notOk(stage.registry.all().some(({ type }) => type.plural === 'others'));
  await stage.close();
});

test('of two folders with the same plugin the first one is used', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, { good, 'good-again': good });
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root, join(root, 'nowhere')] });
  t.equal(stage.phase('good'), 'started');
  t.match(stage.ready('good-again'), /^NameTaken: /);
  t.ok(
    stage.logLines.some(
      ({ message, fields }) =>
        message.includes('cannot read a folder of PLUGINS_DIRS') && JSON.stringify(fields).includes('nowhere'),
    ),
  );
  await stage.close();
});

test('a controller without an apiVersion is ignored with a warning that names it', async (t) => {
  const root = await temporaryFolder(t);
  const controllers =
    'controllers: [{ path: "/lost", routes: [{ method: "GET", path: "/a", handler() {} }] }, { apiVersion: ' +
    '"api.goods.example/v1", path: "/goods/", routes: [{ method: "GET", path: "/{name}/x", handler() {} }, { ' +
    'method: "POST", path: "", handler() {} }] }]';
  await writePlugins(root, { good: withMain('good', moduleText('goods', { more: controllers })) });
  const stage = await openStage(t, { dataDir: await temporaryFolder(t), extra: [root] });
  t.equal(stage.phase('good'), 'started');
  t.match(stage.conditions('good').find(({ type }) => type === 'ControllersIgnored')?.message, /"\/lost"/);
  t.ok(stage.logLines.some(({ level, fields }) => level === 'warn' && JSON.stringify(fields).includes('/lost')));
  t.match(stage.routes.get('good'), {
    serving: true,
    routes: [{ path: '/apis/api.goods.example/v1/goods/{name}/x' }, { path: '/apis/api.goods.example/v1/goods' }],
  });
  t.equal(stage.routes.get('good')?.routes.length, 2);
  await stage.close();
});
