import { test } from 'tap';

import { widget } from '../../plugins/example/widget.ts';
import { printerColumnsMax, scalePointerLengthMax, typeNamesMax } from '../../src/limits/objects.ts';
import { compileType, typeKeyOf, type Declarer } from '../../src/resource/type/type-declaration.ts';

const author: Declarer = { plugin: 'example', bundled: false, domain: 'svc.run' };
const platform: Declarer = { ...author, plugin: 'platform', bundled: true };

const scale = { specReplicas: '/spec/replicas', statusReplicas: '/status/replicas' };

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `w${String(index)}`);
}

test('names and scale of a type are no part of the shape that nodes compare', async (t) => {
  const more = { shortNames: ['wd'], categories: ['parts'], scale };
  const [plain, named] = [compileType(widget, author), compileType({ ...widget, ...more }, author)];
  if (!plain.ok || !named.ok) throw new Error('refused');
  t.match(named.type, more);
  t.match(plain.type, { shortNames: [], categories: [], scale: undefined });
  t.strictSame(named.type.declaration, plain.type.declaration);
  t.equal(named.type.fingerprint, plain.type.fingerprint, 'indexes are not built again');
});

test('every problem of the names and the scale is reported at once', async (t) => {
  const bad = { shortNames: ['A', 3], categories: ['B'], scale: { specReplicas: 1, more: 2 } };
  const compiled = compileType({ ...widget, ...bad }, author);
  t.match(compiled, {
    ok: false,
    problems: [
      /shortNames\[0\]/,
      /shortNames\[1\]/,
      /categories\[0\]/,
      /scale: more/,
      /scale: specReplicas/,
      /scale: statusReplicas/,
    ],
  });
});

test('a valid declaration becomes a type', async (t) => {
  const compiled = compileType(widget, author);
  t.match(compiled, {
    ok: true,
    type: {
      key: 'widgets.example.com',
      apiVersion: 'example.com/v1alpha1',
      path: '/apis/example.com/v1alpha1/widgets',
      plugin: 'example',
      statusSubresource: true,
    },
  });
  t.same(
    compiled.ok && compiled.type.indexes.slice(3).map(({ name, type, unique, multi }) => [name, type, unique, multi]),
    [
      ['spec.title', 'string', false, false],
      ['spec.size', 'number', false, false],
      ['spec.serial', 'string', true, false],
      ['spec.tags', 'string', false, true],
      ['status.phase', 'string', false, false],
    ],
  );
});

test('hooks are functions with known names, and part of the code of a declaration', async (t) => {
  const of = (hooks: unknown): ReturnType<typeof compileType> => compileType({ ...widget, hooks }, author);
  const table: readonly (readonly [unknown, RegExp])[] = [
    [3, /hooks: must be an object of functions, is 3/],
    [{ validat: () => undefined }, /hooks: validat is not a hook; did you mean "validate"\?/],
    [{ default: {} }, /hooks: default must be a function, is \{\}/],
    [
      { validate: async () => undefined },
      /hooks: validate must not be async: it runs within one decision; return the result, not a promise$/,
    ],
  ];
  for (const [hooks, problem] of table) t.match(of(hooks), { ok: false, problems: [problem] });
  const declarationOf = (hooks: unknown): unknown => {
    const compiled = of(hooks);
    return compiled.ok ? compiled.type.declaration : undefined;
  };
  t.strictSame(declarationOf({}), declarationOf(undefined));
  const [one, other] = [declarationOf({ validate: () => [] }), declarationOf({ validate: () => undefined })];
  t.match(one, { shape: (declarationOf({}) as { shape: string }).shape });
  t.not((one as { code: string }).code, (other as { code: string }).code);
});

test("the core group is the platform's, and its paths begin with /api", async (t) => {
  const compiled = compileType({ ...widget, group: '', kind: 'Role', singular: 'role', plural: 'roles' }, platform);
  t.match(compiled, { ok: true, type: { key: 'roles', apiVersion: 'v1alpha1', path: '/api/v1alpha1/roles' } });
  t.equal(typeKeyOf('', 'roles'), 'roles');
});

test('each broken rule is refused and names the member', async (t) => {
  const column = { name: 'Size', type: 'integer', pointer: '/spec/size' };
  const table: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ group: undefined }, /group: must be a string/],
    [{ group: 3 }, /group: must be a string/],
    [{ group: '' }, /group: is reserved/],
    [{ group: 'svc.run' }, /group: is reserved/],
    [{ group: 'a.svc.run' }, /group: is reserved/],
    [{ group: 'Example.com' }, /group: must be a DNS subdomain/],
    [{ group: 'a..b' }, /group: must be a DNS subdomain/],
    [{ group: 'v1' }, /group: must not have the form of a version, is "v1"/],
    [{ group: 'v1alpha1' }, /group: must not have the form of a version/],
    [{ group: 'x'.repeat(254) }, /group: must be at most 253/],
    [{ version: 'v0' }, /version: must be of the form/],
    [{ version: '1' }, /version:/],
    [{ version: 'v1gamma1' }, /version:/],
    [{ version: 'V1' }, /version:/],
    [{ version: undefined }, /version: must be a string/],
    [{ kind: 'widget' }, /kind: must be CamelCase/],
    [{ kind: 'Wid-get' }, /kind:/],
    [{ kind: 'W'.repeat(64) }, /kind: must be at most 63/],
    [{ kind: null }, /kind: must be a string/],
    [{ singular: 'Widget' }, /singular: must be lowercase/],
    [{ plural: 'Widgets' }, /plural: must be lowercase/],
    [{ plural: 'wid/gets' }, /plural:/],
    [{ plural: '-' }, /plural:/],
    [{ singular: '' }, /singular:/],
    [{ plural: 'w'.repeat(64) }, /plural: must be at most 63/],
    [{ schema: undefined }, /schema: must be a JSON Schema object/],
    [{ schema: { type: 'array' } }, /schema: type: must be "object"/],
    [{ indexes: {} }, /indexes: must be an array/],
    [{ indexes: [{ name: 'metadata.name' }] }, /"metadata\.name": is a default index/],
    [{ indexes: [{ name: 'metadata.labels' }] }, /"metadata\.labels": is a default index/],
    [{ indexes: [{ name: 'metadata.creationTimestamp' }] }, /is a default index/],
    [{ indexes: [{ name: 'metadata.deletionTimestamp' }] }, /is a default index/],
    [{ indexes: [{ name: 'spec.a' }, { name: 'spec.a' }] }, /declared twice/],
    [{ statusSubresource: 'yes' }, /statusSubresource: must be true or false, is "yes"/],
    [{ indexs: [] }, /indexs: is not known; did you mean "indexes"\?/],
    [{ printerColumns: {} }, /printerColumns: must be an array/],
    [{ printerColumns: Array.from({ length: printerColumnsMax + 1 }, () => column) }, /at most 32/],
    [{ printerColumns: [3] }, /printerColumns\[0\]: must be an object/],
    [{ printerColumns: [{ ...column, name: '' }] }, /name must be a string of at least one character/],
    [{ printerColumns: [{ ...column, type: 'text' }] }, /type must be string.*, is "text"/],
    [{ printerColumns: [{ ...column, pointer: 'spec.size' }] }, /pointer must be a JSON pointer/],
    [{ printerColumns: [{ ...column, pointer: '/a~2' }] }, /pointer must be/],
    [{ printerColumns: [{ ...column, priority: -1 }] }, /priority must be/],
    [{ printerColumns: [{ ...column, description: 1 }] }, /description must be/],
    [{ printerColumns: [{ ...column, width: 1 }] }, /width is not known/],
    [{ shortNames: 'wd' }, /shortNames: must be an array of at most 8/],
    [{ shortNames: null }, /shortNames: must be an array/],
    [{ shortNames: names(typeNamesMax + 1) }, /shortNames: must be an array of at most 8/],
    [{ shortNames: ['wd', 'WD'] }, /shortNames\[1\]: must be lowercase.*, is "WD"/],
    [{ shortNames: [''] }, /shortNames\[0\]: must be lowercase/],
    [{ shortNames: ['w/d'] }, /shortNames\[0\]: must be lowercase/],
    [{ shortNames: [3] }, /shortNames\[0\]: must be lowercase.*, is 3/],
    [{ shortNames: ['wd', 'wd'] }, /shortNames\[1\]: must not appear twice/],
    [{ shortNames: ['w'.repeat(64)] }, /shortNames\[0\]: must be at most 63/],
    [{ categories: {} }, /categories: must be an array/],
    [{ categories: ['all', 'My things'] }, /categories\[1\]: must be lowercase/],
    [{ shortName: ['wd'] }, /shortName: is not known.*shortNames/],
    [{ scale: true }, /scale: must be an object, is true/],
    [{ scale: null }, /scale: must be an object/],
    [{ scale: { ...scale, replicas: '/spec/x' } }, /scale: replicas is not known/],
    [{ scale: { statusReplicas: '/status/replicas' } }, /scale: specReplicas must be a JSON pointer below \/spec/],
    [{ scale: { specReplicas: '/spec/replicas' } }, /scale: statusReplicas must be .* below \/status/],
    [{ scale: { ...scale, specReplicas: '.spec.replicas' } }, /specReplicas must be .*, is "\.spec\.replicas"/],
    [{ scale: { ...scale, specReplicas: '/status/replicas' } }, /specReplicas must be .* below \/spec/],
    [{ scale: { ...scale, specReplicas: '/spec' } }, /specReplicas must be/],
    [{ scale: { ...scale, specReplicas: '/spec/' } }, /specReplicas must be/],
    [{ scale: { ...scale, specReplicas: '/spec/a~2' } }, /specReplicas must be/],
    [{ scale: { ...scale, specReplicas: `/spec/${'x'.repeat(251)}` } }, /specReplicas must be at most 256/],
    [{ scale: { ...scale, labelSelector: '/metadata/labels' } }, /labelSelector must be .* below \/spec or \/status/],
    [{ scale: { ...scale, labelSelector: 3 } }, /labelSelector must be/],
  ];
  for (const [change, problem] of table) {
    const compiled = compileType({ ...widget, ...change }, author);
    t.match(compiled, { ok: false, problems: [problem] }, JSON.stringify(change).slice(0, 80));
  }
  for (const rubbish of [undefined, null, 3, 'x', [], () => 1])
    t.match(compileType(rubbish, author), { ok: false, problems: [/must be an object/] });
});

test('limits allow their last value, and similar groups are free', async (t) => {
  const column = { name: 'Size', type: 'integer', pointer: '/spec/size' };
  for (const change of [
    { group: 'notsvc.run' },
    { group: 'v1.example' },
    { group: 'v1gamma1' },
    { group: 'svc.run.example' },
    { version: 'v1' },
    { version: 'v2beta3' },
    { kind: 'W'.repeat(63) },
    { plural: 'w'.repeat(63) },
    { printerColumns: Array.from({ length: printerColumnsMax }, () => column) },
    { shortNames: [], categories: [] },
    { shortNames: names(typeNamesMax), categories: ['w'.repeat(63)] },
    { scale },
    { scale: { ...scale, labelSelector: '/spec/selector', specReplicas: '/spec/a~1b/c~0d' } },
    { scale: { ...scale, statusReplicas: `/status/${'x'.repeat(scalePointerLengthMax - 8)}` } },
  ]) {
    t.equal(compileType({ ...widget, ...change }, author).ok, true, JSON.stringify(change).slice(0, 80));
  }
});

test('all violations are reported at once', async (t) => {
  const compiled = compileType({}, author);
  t.ok(!compiled.ok && compiled.problems.length >= 6);
});
