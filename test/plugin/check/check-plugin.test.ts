import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { test, type Test } from 'tap';

import { checkPlugin } from '../../../src/plugin/check/check-plugin.ts';
import { problemText } from '../../../src/plugin/check/plugin-problem.ts';
import { runCommandLine } from '../../support/server/command-line.ts';
import { repository } from '../../architecture/repository.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { temporaryFolder } from '../host/host-stage.ts';

type Files = Readonly<Record<string, string>>;

const manifest = `apiVersion: plugin.\${domain}/v1alpha1
kind: Plugin
metadata:
  name: links
spec:
  version: 1.0.0
  main: main.mjs
`;

const main = `import { definePlugin, defineReconciler, defineType } from 'ledgerplane/plugin';

const link = defineType({
  group: 'links.example.com',
  version: 'v1',
  kind: 'Link',
  singular: 'link',
  plural: 'links',
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
});

const keep = defineReconciler({ type: link, reconcile: async () => undefined });

export default definePlugin({
  types: [link],
  reconcilers: [keep],
  controllers: [{
    apiVersion: 'api.links.example.com/v1',
    path: '/links',
    routes: [{ method: 'GET', path: '/{name}/label', handler: async () => ({ body: {} }) }],
  }],
});
`;

const objects = `# Starters
apiVersion: links.example.com/v1
kind: Link
metadata:
  name: first
spec:
  size: 1
---
apiVersion: v1alpha1
kind: Role
metadata:
  name: links-view
  labels:
    \${domain}/role-template: 'true'
  annotations:
    rbac.authorization.\${domain}/dependencies: '["authenticated"]'
rules:
  - apiGroups: [links.example.com]
    resources: [links, links/links, links/links/status]
    verbs: [get]
  - apiGroups: [api.links.example.com]
    resources:
      - links/label
    verbs: [get]
`;

const valid: Files = { 'plugin.yaml': manifest, 'main.mjs': main, 'extensions/objects.yaml': objects };

type Changes = Readonly<Record<string, string | undefined>>;

/** The lines that the check prints for these files; a text that is `undefined` leaves a file out. */
async function check(t: Test, changes: Changes): Promise<readonly string[]> {
  const folder = await written(t, changes);
  return (await checkPlugin(folder, { domain: 'svc.run', version: '0.1.0' }, new FakeClock())).map(problemText);
}

async function written(t: Test, changes: Changes): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const [path, text] of Object.entries({ ...valid, ...changes })) {
    if (text === undefined) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

test('a valid plugin has no problems', async (t) => {
  t.same(await check(t, {}), []);
});

test('problems of plugin.yaml have their line', async (t) => {
  t.match(await check(t, { 'plugin.yaml': manifest.replace('1.0.0', "'1'") }), [
    /^plugin\.yaml:6: spec\.version: must be/u,
  ]);
  t.match(await check(t, { 'plugin.yaml': `${manifest}  requires: '>=9.0.0'\n` }), [
    /^plugin\.yaml:8: spec\.requires: requires platform >=9\.0\.0; the version of this platform is 0\.1\.0$/u,
  ]);
  t.match(await check(t, { 'package.json': '{"version":"1.0.1"}' }), [/^plugin\.yaml:6: .*use the same version$/u]);
  t.match(await check(t, { 'plugin.yaml': 'a: [' }), [/^plugin\.yaml:1: /u]);
  t.match(await check(t, { 'plugin.yaml': manifest.replace('  version', '   version') }), [
    /^plugin\.yaml:7: .*; check the indentation, and the colons and quotes, of this line$/u,
  ]);
  t.match(await check(t, { 'plugin.yaml': undefined }), [/^plugin\.yaml: plugin\.yaml does not exist$/u]);
  t.match(await check(t, { 'main.mjs': undefined }), [
    /^plugin\.yaml: .*"main\.mjs" does not exist; if spec\.main names a compiled file/u,
  ]);
});

test('problems of declarations have the place of their call', async (t) => {
  const refused = await check(t, { 'main.mjs': main.replace("kind: 'Link',", "kind: 'Link', colour: 1,") });
  t.match(refused, [/^main\.mjs:3: .*colour: is not known/u]);
  t.equal(refused.length, 1, 'objects and roles of a refused type are no further problems');
  t.match(await check(t, { 'main.mjs': main.replace("plural: 'links'", "plural: 'Links'") }), [
    /^main\.mjs:3: .*plural/u,
  ]);
  const closed = main.replace('properties: { size', 'additionalProperties: false, properties: { size');
  t.match(
    await check(t, { 'main.mjs': closed.replace("'links',\n", "'links',\n  indexes: [{ name: 'spec.sise' }],\n") }),
    [/^main\.mjs:3: type Link: index "spec\.sise": no object can have .* no sise in spec; did you mean "size"\?/u],
  );
  t.match(await check(t, { 'main.mjs': main.replace('reconcile: async', 'reconciles: async') }), [
    /^main\.mjs:12: reconcilers\[0\]\.reconciles: is not known; did you mean "reconcile"\?$/u,
    /^main\.mjs:12: reconcilers\[0\]\.reconcile: must be a function/u,
  ]);
  t.match(await check(t, { 'main.mjs': main.replace('types: [link]', 'types: [link, link]') }), [
    /^main\.mjs:14: type Link of links\.example\.com \(links\) is declared twice: remove one of the declarations$/u,
  ]);
  const second = "const second = defineType({ ...link, kind: 'Second', singular: 'second' });\nexport default";
  const repeated = main.replace('export default', second).replace('types: [link]', 'types: [link, second]');
  t.match(await check(t, { 'main.mjs': repeated }), [
    /^main\.mjs:14: type Second .* \(links\) has the plural links, as the type Link: choose another one$/u,
  ]);
  t.match(await check(t, { 'main.mjs': main.replace("apiVersion: 'api.links.example.com/v1',", '') }), [
    /^main\.mjs:14: the controller \/links has no apiVersion/u,
  ]);
  const generated = main.replace('api.links.example.com/v1', 'links.example.com/v1').replace('/label', '/status');
  t.match(await check(t, { 'main.mjs': generated }), [
    /^main\.mjs:14: GET .*\/status: is a generated API; a route cannot replace it$/u,
  ]);
});

test('a misspelt reference has the place of its type, and a name that is meant', async (t) => {
  const referring = (field: string, to: string): string =>
    main
      .replace(
        "plural: 'links'",
        "plural: 'links', references: [{ field: '" +
          field +
          "', to: '" +
          to +
          "', " +
          "onMissing: 'refuse', onDelete: 'orphan' }]",
      )
      .replace("size: { type: 'integer' }", "size: { type: 'integer' }, groupName: { type: 'string' }");
  t.same(await check(t, { 'main.mjs': referring('spec.groupName', 'link.links.example.com') }), [
    'main.mjs:3: type Link: references: spec.groupName: the type link.links.example.com does not exist; ' +
      'did you mean "links.links.example.com"?',
  ]);
  t.match(await check(t, { 'main.mjs': referring('spec.groupNam', 'links.links.example.com') }), [
    /^main\.mjs:3: .*the schema has no field spec\.groupNam; did you mean "spec\.groupName"\?$/u,
  ]);
});

test('a plugin with warnings only passes, and one with a problem too does not', async (t) => {
  const referring = main
    .replace(
      "plural: 'links'",
      "plural: 'links', references: [{ field: 'spec.next', to: 'links.links.example.com', " +
        "onMissing: 'refuse', onDelete: 'orphan' }]",
    )
    .replace("size: { type: 'integer' }", "size: { type: 'integer' }, next: { type: 'string' }");
  const run = async (yaml: string): Promise<object> => {
    const folder = await written(t, { 'main.mjs': referring, 'extensions/objects.yaml': yaml });
    const command = runCommandLine(['plugin', 'check'], { cwd: folder });
    const code = await command.exited();
    return { code, out: command.stdout(), err: command.stderr() };
  };
  const warned = objects.replace('size: 1', 'size: 1\n  next: other');
  t.match(await run(warned), {
    code: 0,
    out: /^extensions\/objects\.yaml:8: warning: spec\.next: [^\n]*\n$/u,
    err: 'the plugin has no problems, and 1 warning\n',
  });
  t.match(await run(warned.replace('size: 1', 'size: one')), {
    code: 1,
    err: 'ledgerplane: the plugin has 1 problem\n',
  });
});

test('references in a circle have the place of the type that refuses', async (t) => {
  const text = `import { definePlugin, defineType } from 'ledgerplane/plugin';
const schema = { type: 'object', properties: { spec: { type: 'object', properties: { of: { type: 'string' } } } } };
const names = (kind, plural) => ({ group: 'links.example.com', version: 'v1', kind, singular: plural, plural, schema });
const reference = (to, onDelete) => [{ field: 'spec.of', to: to + '.links.example.com', onMissing: 'allow', onDelete }];
const a = defineType({ ...names('A', 'as'), references: reference('bs', 'cascade') });
const b = defineType({ ...names('B', 'bs'), references: reference('as', 'refuse') });
export default definePlugin({ types: [a, b] });
`;
  t.match(await check(t, { 'main.mjs': text, 'extensions/objects.yaml': undefined }), [
    /^main\.mjs:6: references: bs\.links\.example\.com spec\.of \(refuse\) .* form a circle/u,
  ]);
});

test('a shipped object that names an object which is not shipped is a warning', async (t) => {
  const referring = main
    .replace(
      "plural: 'links'",
      "plural: 'links', references: [{ field: 'spec.next', to: 'links.links.example.com', " +
        "onMissing: 'refuse', onDelete: 'orphan' }]",
    )
    .replace("size: { type: 'integer' }", "size: { type: 'integer' }, next: { type: 'string' }");
  const named = (next: string): string => objects.replace('size: 1', `size: 1\n  next: ${next}`);
  t.same(await check(t, { 'main.mjs': referring, 'extensions/objects.yaml': named('first') }), []);
  t.same(await check(t, { 'main.mjs': referring, 'extensions/objects.yaml': named('frist') }), [
    'extensions/objects.yaml:8: warning: spec.next: the plugin ships no Link "frist"; did you mean "first"? ' +
      'A server without this object refuses the plugin',
  ]);
  const allowed = referring.replace("'refuse'", "'allow'");
  t.same(await check(t, { 'main.mjs': allowed, 'extensions/objects.yaml': named('other') }), [
    'extensions/objects.yaml:8: warning: spec.next: the plugin ships no Link "other"; ' +
      'On a server without this object, the reference has no target',
  ]);
});

const converting = `import { definePlugin, defineType } from 'ledgerplane/plugin';

const schemaOf = (member) => ({ type: 'object', properties: { spec: {
  type: 'object', properties: { [member]: { type: 'string' }, next: { type: 'string' } } } } });

const up = ({ spec: { size, ...spec }, ...object }) => ({ ...object, spec: { ...spec, width: size } });
const down = ({ spec: { width, ...spec }, ...object }) =>
  ({ ...object, spec: { ...spec, size: width } });

const link = defineType({
  group: 'links.example.com', version: 'v1', kind: 'Link', singular: 'link', plural: 'links',
  schema: schemaOf('width'),
  references: [{ field: 'spec.next', to: 'links.links.example.com', onMissing: 'refuse', onDelete: 'orphan' }],
  versions: [
    { name: 'v1beta1', schema: schemaOf('size'), examples: [{ spec: { size: 'a' } }] },
    { name: 'v1', examples: [{ spec: { width: 'b' } }] },
  ],
  convert: [{ from: 'v1beta1', to: 'v1', up, down }],
});

export default definePlugin({ types: [link] });
`;

test('a conversion that throws or that loses a member has the place of its function', async (t) => {
  const of = async (module: string): Promise<readonly string[]> =>
    check(t, { 'main.mjs': module, 'extensions/objects.yaml': undefined });
  t.same(await of(converting), []);
  t.same(await of(converting.replace('size: width }', 'size: undefined }')), [
    'main.mjs:6: type Link: convert: examples of v1beta1[0]: comes back changed from v1: ' +
      '/spec/size must be "a", is absent; keep the values that a version lacks, for example in an annotation',
    'main.mjs:7: type Link: convert: examples of v1[0]: comes back changed from v1beta1: ' +
      '/spec/width must be "b", is absent; keep the values that a version lacks, for example in an annotation',
  ]);
  t.match(await of(converting.replace('  ({ ...object', "  width === 'b' ? missing() : ({ ...object")), [
    /^main\.mjs:8: type Link: convert: examples of v1\[0\]: .* threw: missing is not defined; .* every valid object$/u,
  ]);
});

test('an object in another version than the preferred one is warned of, too', async (t) => {
  const yaml = 'apiVersion: links.example.com/v1beta1\nkind: Link\nmetadata: { name: first }\nspec:\n  target: a\n';
  const module = converting
    .replaceAll(/\bsize\b/gu, 'target')
    .replaceAll(/\bwidth\b/gu, 'next2')
    .replace("field: 'spec.next'", "field: 'spec.next2'");
  t.same(await check(t, { 'main.mjs': module, 'extensions/objects.yaml': yaml }), [
    'extensions/objects.yaml:5: warning: spec.next2: the plugin ships no Link "a"; ' +
      'A server without this object refuses the plugin',
  ]);
});

test('misspelt members of plugin.yaml, controllers and routes have a place', async (t) => {
  t.match(await check(t, { 'plugin.yaml': `${manifest}  enabeld: false\n  logo: a.svg\n` }), [
    /^plugin\.yaml:8: spec\.enabeld: is not known; did you mean "enabled"\?$/u,
  ]);
  t.match(await check(t, { 'main.mjs': main.replace('handler: async', "sumary: 'A', handler: async") }), [
    /^main\.mjs:14: controllers\[0\]\.routes\[0\]\.sumary: is not known; did you mean "summary"\?$/u,
  ]);
  const declared = main
    .replace('defineReconciler,', 'defineReconciler, defineRoute,')
    .replace("{ method: 'GET'", "\ndefineRoute({ sumary: 'A', method: 'GET'")
    .replace('body: {} }) }]', 'body: {} }) })]');
  t.match(await check(t, { 'main.mjs': declared }), [
    /^main\.mjs:21: controllers\[0\]\.routes\[0\]\.sumary: is not known/u,
  ]);
  t.match(await check(t, { 'main.mjs': main.replace("path: '/links',", "path: '/links', pth: 1,") }), [
    /^main\.mjs:14: controllers\[0\]\.pth: is not known; did you mean "path"\?$/u,
  ]);
});

test('an error of the module has its place, and a module that never ends is a problem', async (t) => {
  t.match(await check(t, { 'main.mjs': 'const a = 1;\nthrow new TypeError(`no ${a}`);\n' }), [
    /^main\.mjs:2: the module failed: TypeError: no 1$/u,
  ]);
  t.match(await check(t, { 'main.mjs': 'const a = ;\n' }), [/^main\.mjs:1: the module failed: SyntaxError/u]);
  t.match(await check(t, { 'main.mjs': 'process.exit(3);\n' }), [
    /^the plugin's module ends the process while the module loads \(exit code 3\)$/u,
  ]);
});

test('problems of shipped objects and roles have their line', async (t) => {
  const changed = async (from: string, to: string): Promise<readonly string[]> =>
    check(t, { 'extensions/objects.yaml': objects.replace(from, to) });
  t.match(await changed('size: 1', 'size: one'), [
    /^extensions\/objects\.yaml:7: spec\.size: must be of type integer, is "one"$/u,
  ]);
  t.match(await changed('kind: Link', 'kind: Lnik'), [
    /^extensions\/objects\.yaml:3: the type Lnik of .* does not exist; the plugin has Link of/u,
  ]);
  t.match(await changed('name: links-view', 'name: view'), [
    /^extensions\/objects\.yaml:9: Role "view": the name of a role template must begin/u,
  ]);
  t.match(await changed('["authenticated"]', '["authentcated"]'), [
    /^extensions\/objects\.yaml:16: the role authentcated does not exist; did you mean "authenticated"\?$/u,
  ]);
  t.match(await changed(`'["authenticated"]'`, 'authenticated'), [
    /^extensions\/objects\.yaml:16: the annotation .*dependencies must be a JSON array/u,
  ]);
  t.match(await changed('- links/label', '- links/lable'), [
    /^extensions\/objects\.yaml:23: links\/lable of api\.links\.example\.com names no type and no route/u,
  ]);
  t.match(await changed('verbs: [get]', 'verbs: [read]'), [
    /^extensions\/objects\.yaml:20: rules\.0\.verbs\.0: must be/u,
  ]);
  t.match(await changed('name: first', 'name: "first'), [/^extensions\/objects\.yaml:\d+: /u]);
});

test('the bundled example has no problems of its own', async (t) => {
  const folder = join(repository, 'dist', 'plugins', 'example');
  t.match(await readFile(join(folder, 'plugin.yaml'), 'utf8'), /name: example/u);
  t.same(await checkPlugin(folder, { domain: 'svc.run', version: '0.1.0' }, new FakeClock()), []);
});
