import { test } from 'tap';

import { referenceFieldLengthMax, referencesPerTypeMax } from '../../src/limits/objects.ts';
import { circleProblems } from '../../src/resource/references/reference-circles.ts';
import { compileType } from '../../src/resource/type/type-declaration.ts';

const text = { type: 'string' };
const declaration = {
  group: 'example.com',
  version: 'v1',
  kind: 'Link',
  singular: 'link',
  plural: 'links',
  statusSubresource: true,
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['owner'],
        properties: {
          group: { type: ['string', 'null'] },
          owner: text,
          size: { type: 'integer' },
          tags: { type: 'array', items: text },
          some: { type: 'array', items: text, minItems: 1 },
          nested: { type: 'object', properties: { name: text } },
        },
      },
      status: { type: 'object', properties: { group: text } },
    },
  },
};
const weak = { to: 'groups.example.com', onMissing: 'allow', onDelete: 'orphan' };

function problemsOf(references: unknown, more: object = {}, bundled = false): readonly string[] {
  const compiled = compileType(
    { ...declaration, ...more, references },
    { plugin: 'example', bundled, domain: 'svc.run' },
  );
  return compiled.ok ? [] : compiled.problems;
}

test('a declared reference has a field of the schema, a type and two policies', async (t) => {
  for (const field of ['spec.group', 'spec.owner', 'spec.tags', 'spec.nested.name'])
    t.strictSame(problemsOf([{ ...weak, field }]), [], field);
  for (const [field, problem] of [
    ['spec.missing', /the schema has no field spec.missing$/],
    ['spec.nestd.name', /the schema has no field spec.nestd.name; did you mean "spec.nested.name"\?$/],
    ['spec.nested.nam', /the schema has no field spec.nested.nam; did you mean "spec.nested.name"\?$/],
    ['spec.size', /must have the type string, or be an array of strings/],
    ['spec.nested', /must have the type string, or be an array of strings/],
    ['metadata.name', /must not be a field of metadata/],
    ['status.group', /must not be a field of the status/],
    ['spec..group', /must be the dotted path of a field/],
    [`spec.${'a'.repeat(referenceFieldLengthMax)}`, /must be the dotted path of a field/],
    [7, /must be the dotted path of a field/],
  ] as const)
    t.match(problemsOf([{ ...weak, field }])[0], problem, String(field).slice(0, 20));
  for (const [more, problem] of [
    [{ to: 'Group' }, /\.to: must be <plural>\.<group>/],
    [{ to: undefined }, /\.to: must be/],
    [{ onMissing: 'ignore' }, /\.onMissing: must be "refuse" or "allow", is "ignore"/],
    [{ onDelete: undefined }, /\.onDelete: must be "refuse", "orphan", "cascade" or "clear"/],
    [{ ondelete: 'clear' }, /\.ondelete: is not known; did you mean/],
  ] as const)
    t.match(problemsOf([{ ...weak, field: 'spec.group', ...more }])[0], problem);
  t.match(problemsOf({}), [/references: must be an array of at most 16/]);
  t.match(problemsOf(['x']), [/references\[0\]: must be an object/]);
  t.match(
    problemsOf([
      { ...weak, field: 'spec.group' },
      { ...weak, field: 'spec.group' },
    ]),
    [/must not be declared twice/],
  );
});

test('a type has at most the limit of references', async (t) => {
  const names = Array.from({ length: referencesPerTypeMax + 1 }, (_, index) => `f${String(index)}`);
  const properties = Object.fromEntries(names.map((name) => [name, text]));
  const schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  const all = names.map((name) => ({ ...weak, field: `spec.${name}` }));
  t.strictSame(problemsOf(all.slice(1), { schema }), []);
  t.match(problemsOf(all, { schema }), [/at most 16 references/]);
});

test('a field that the schema requires cannot be cleared', async (t) => {
  const clear = { ...weak, onDelete: 'clear' };
  t.match(problemsOf([{ ...clear, field: 'spec.owner' }]), [
    /spec.owner cannot be cleared, because the schema requires/,
  ]);
  t.match(problemsOf([{ ...clear, field: 'spec.some' }]), [/spec.some cannot be cleared.*at least 1 items/]);
  t.strictSame(problemsOf([{ ...clear, field: 'spec.group' }]), []);
});

test('a plugin cannot prevent or follow the deletion of objects of the platform', async (t) => {
  for (const to of ['users.iam.svc.run', 'plugins']) {
    const cascade = [{ ...weak, field: 'spec.group', to, onDelete: 'cascade' }];
    t.match(problemsOf(cascade), [/belongs to the platform/], to);
    t.strictSame(problemsOf(cascade, {}, true), [], 'except a bundled plugin');
    t.strictSame(problemsOf([{ ...weak, field: 'spec.group', to }]), []);
  }
});

test('references are a part of the declaration, and of a type without them nothing changes', async (t) => {
  const compiled = (references: unknown) => {
    const type = compileType({ ...declaration, references }, { plugin: 'example', bundled: false, domain: 'svc.run' });
    if (!type.ok) throw new Error(type.problems.join());
    return type.type.declaration;
  };
  const [without, empty, one] = [compiled(undefined), compiled([]), compiled([{ ...weak, field: 'spec.group' }])];
  t.strictSame(without, empty);
  t.notOk(without !== undefined && 'references' in without);
  t.match(one?.references, [{ ...weak, field: 'spec.group' }]);
  t.not(one?.shape, without?.shape);
});

const typeOf = (plural: string, references: readonly (readonly [string, string])[]) => {
  const compiled = compileType(
    {
      ...declaration,
      plural,
      kind: `K${plural}`,
      singular: plural,
      references: references.map(([to, onDelete], index) => ({
        field: ['spec.group', 'spec.owner', 'spec.tags'][index],
        to: `${to}.example.com`,
        onMissing: 'allow',
        onDelete,
      })),
    },
    { plugin: 'example', bundled: false, domain: 'svc.run' },
  );
  if (!compiled.ok) throw new Error(compiled.problems.join());
  return compiled.type;
};

test('a circle of cascade and refuse is refused, however long', async (t) => {
  const [a, b, c] = [typeOf('a', [['b', 'refuse']]), typeOf('b', [['c', 'cascade']]), typeOf('c', [['a', 'cascade']])];
  t.strictSame(circleProblems([a, b], []), []);
  t.match(circleProblems([c], [a, b]), [
    /a\.example\.com spec\.group \(refuse\) and b\.example\.com spec\.group \(cascade\), c\.example\.com/,
  ]);
  t.strictSame(circleProblems([typeOf('x', [])], [a, b, c]), [], 'only for types that close it');
  t.match(
    circleProblems(
      [
        typeOf('n', [
          ['n', 'cascade'],
          ['n', 'refuse'],
        ]),
      ],
      [],
    ),
    [/form a circle/],
  );
});

test('circles of only cascade, refuse or clear are accepted', async (t) => {
  for (const policy of ['cascade', 'refuse', 'orphan']) {
    t.strictSame(circleProblems([typeOf('a', [['b', policy]]), typeOf('b', [['a', policy]])], []), []);
    t.strictSame(circleProblems([typeOf('n', [['n', policy]])], []), []);
  }
  t.strictSame(circleProblems([typeOf('a', [['b', 'refuse']]), typeOf('b', [['a', 'clear']])], []), []);
});
