import { test } from 'tap';

import { compileType } from '../../src/resource/type/type-declaration.ts';

const text = { type: 'string' };

/** The problems of a type with an index of this name, and with this schema of the spec. */
function problemsOf(
  name: string,
  spec: unknown,
  { top = {}, index = {}, ...more }: Readonly<Record<string, object>> = {},
): readonly string[] {
  const compiled = compileType(
    {
      group: 'example.com',
      version: 'v1',
      kind: 'Widget',
      singular: 'widget',
      plural: 'widgets',
      schema: { type: 'object', properties: { spec }, ...top },
      indexes: [{ name, ...index }],
      ...more,
    },
    { plugin: 'example', bundled: false, domain: 'svc.run' },
  );
  return compiled.ok ? [] : compiled.problems;
}

const closed = { type: 'object', additionalProperties: false, properties: { title: text, tags: { type: 'array' } } };

test('an index on a field that the schema excludes is refused with what the schema allows there', async (t) => {
  t.same(problemsOf('spec.titel', closed), [
    'type Widget: index "spec.titel": no object can have this field: the schema allows no titel in spec; ' +
      'did you mean "title"?; correct the name, or add indexFunc',
  ]);
  t.match(problemsOf('spec.owner', closed), [/allows no owner in spec, which has tags, title; correct/u]);
  t.match(problemsOf('title', closed), [/allows no title in an object of the type, which has apiVersion, kind, /u]);
  t.match(problemsOf('spec.title.length', closed), [/spec\.title must be of type string, which has no member length/u]);
  t.match(problemsOf('spec.tags.first', closed), [/spec\.tags must be of type array, which has no member first/u]);
  t.match(problemsOf('status.phase', closed), [/allows no status in an object of the type/u]);
  const many = Object.fromEntries(Array.from({ length: 20 }, (_none, index) => [`member${String(index)}`, text]));
  t.match(problemsOf('spec.x', { ...closed, properties: many }), [/which has member0, .* and 4 more; correct/u]);
});

test('an index on a field that an object may have is accepted', async (t) => {
  for (const name of ['spec.title', 'spec.tags.0', 'spec.tags.length', 'apiVersion', 'kind'])
    t.same(problemsOf(name, closed), [], name);
  for (const spec of [{ type: 'object' }, {}, true, { type: ['object', 'null'] }, { additionalProperties: text }])
    t.same(problemsOf('spec.any', spec), [], JSON.stringify(spec));
  t.same(problemsOf('extra', closed, { top: { additionalProperties: true } }), []);
  t.same(problemsOf('extra', closed, { index: { indexFunc: () => 'made' } }), [], 'a function may compute any value');
});

test('additionalProperties, patternProperties and unevaluatedProperties decide about undeclared members', async (t) => {
  const map = {
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: false, properties: { a: text } },
  };
  t.same(problemsOf('spec.any.a', map), []);
  t.match(problemsOf('spec.any.b', map), [/allows no b in spec\.any, which has a/u]);
  const patterns = { type: 'object', additionalProperties: false, patternProperties: { '^x': text, '^y': false } };
  t.same(problemsOf('spec.x1', patterns), []);
  t.match(problemsOf('spec.y1', patterns), [/allows no y1 in spec/u]);
  t.match(problemsOf('spec.z1', patterns), [/allows no z1 in spec/u]);
  t.match(problemsOf('spec.x1.a', patterns), [/spec\.x1 must be of type string/u]);
  t.match(problemsOf('spec.no', { type: 'object', properties: { no: false } }), [/allows no no in spec/u]);
  const branches = {
    type: 'object',
    unevaluatedProperties: false,
    anyOf: [{ properties: { a: text } }, { $ref: '#/$defs/b' }],
  };
  const top = { $defs: { b: { patternProperties: { '^b': text } } } };
  for (const member of ['a', 'b1']) t.same(problemsOf(`spec.${member}`, branches, { top }), [], member);
  t.match(problemsOf('spec.c', branches, { top }), [/allows no c in spec/u]);
  t.same(problemsOf('spec.c', { ...branches, anyOf: [{ additionalProperties: true }] }), []);
});

test('parts of allOf and of $ref apply together, and a circular schema ends', async (t) => {
  const parts = { allOf: [{ type: 'object', properties: { a: text } }, { $ref: '#/$defs/node' }] };
  const node = { type: 'object', additionalProperties: false, properties: { a: true, next: { $ref: '#/$defs/node' } } };
  const top = { $defs: { node } };
  t.same(problemsOf('spec.a', parts, { top }), []);
  t.same(problemsOf(`spec.${'next.'.repeat(20)}a`, parts, { top }), []);
  t.match(problemsOf(`spec.${'next.'.repeat(20)}b`, parts, { top }), [/allows no b in spec\.next/u]);
  t.match(problemsOf('spec.a.b', parts, { top }), [/spec\.a must be of type string/u]);
});

test('keywords that start with x- open nothing, since they have no effect', async (t) => {
  const open = { ...closed, 'x-kubernetes-preserve-unknown-fields': true };
  t.match(problemsOf('spec.owner', open), [/allows no owner in spec/u]);
  t.match(problemsOf('extra', closed, { top: { 'x-kubernetes-preserve-unknown-fields': true } }), [/allows no extra/u]);
});

test('metadata has the members of the platform, and labels and annotations any', async (t) => {
  for (const name of ['generation', 'labels.a', 'annotations.a-b', 'ownerReferences.0.name', 'finalizers.0', 'uid'])
    t.same(problemsOf(`metadata.${name}`, closed), [], name);
  t.match(problemsOf('metadata.nmae', closed), [/allows no nmae in metadata; did you mean "name"\?/u]);
  t.match(problemsOf('metadata.labels.example.com', closed), [/metadata\.labels\.example must be of type string/u]);
  t.match(problemsOf('metadata.resourceVersion', closed), [/allows no resourceVersion in metadata/u]);
});

test('only the preferred version counts, since indexes see the objects in this version', async (t) => {
  const older = { type: 'object', properties: { spec: { type: 'object', properties: { label: text } } } };
  const versions = [{ name: 'v1alpha1', schema: older }, { name: 'v1' }];
  t.same(problemsOf('spec.title', closed, { versions }), []);
  t.match(problemsOf('spec.label', closed, { versions }), [/allows no label in spec/u]);
});
