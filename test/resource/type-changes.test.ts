import { test } from 'tap';

import { compareTypes } from '../../src/resource/type/type-changes.ts';
import { widgets, widgetType } from '../support/given.ts';

const gadgets = widgetType({ kind: 'Gadget', singular: 'gadget', plural: 'gadgets' });

test('equal types have no changes', (t) => {
  t.same(compareTypes([widgets], [widgetType()]), { removedTypes: [], removedVersions: [], indexes: [], required: [] });
  t.end();
});

test('types and versions that disappear are listed, new types are not', (t) => {
  t.match(compareTypes([widgets, gadgets], [widgetType({ version: 'v2' })]), {
    removedTypes: [{ type: 'gadgets.example.com', kind: 'Gadget' }],
    removedVersions: [{ type: 'widgets.example.com', version: 'v1' }],
  });
  t.match(compareTypes([widgets], [widgets, gadgets]), { removedTypes: [], removedVersions: [] });
  t.end();
});

test('an index is built again if it is new, changed, or becomes unique', (t) => {
  const title = (object: { readonly spec: { readonly title: string } }): string => object.spec.title;
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { title: { type: 'string' } } } },
  };
  const before = widgetType({
    schema,
    indexes: [
      { name: 'spec.a' },
      { name: 'spec.b' },
      { name: 'c', indexFunc: title },
      { name: 'spec.d' },
      { name: 'spec.gone' },
    ],
  });
  const after = widgetType({
    schema,
    indexes: [
      { name: 'spec.a' },
      { name: 'spec.b', type: 'number' },
      { name: 'c', indexFunc: (object: { readonly spec: { readonly title: string } }) => object.spec.title.trim() },
      { name: 'spec.d', unique: true },
      { name: 'spec.e' },
    ],
  });
  const type = 'widgets.example.com';
  t.same(compareTypes([before], [after]).indexes, [
    { type, name: 'spec.b', change: 'changed' },
    { type, name: 'c', change: 'changed' },
    { type, name: 'spec.d', change: 'unique' },
    { type, name: 'spec.e', change: 'added' },
  ]);
  t.end();
});

test('members that become required are listed by pointer, in properties, items and allOf', (t) => {
  const spec = (required: readonly string[], item: readonly string[], more: object = {}): object => ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required,
        properties: { list: { type: 'array', items: { type: 'object', required: item } }, 'a/b': { type: 'object' } },
        ...more,
      },
    },
  });
  const before = widgetType({ schema: spec(['old'], []), indexes: [] });
  const after = widgetType({
    schema: spec(['old', 'a/b'], ['x'], { allOf: [{ required: ['z'] }] }),
    indexes: [],
  });
  const type = 'widgets.example.com';
  t.same(compareTypes([before], [after]).required, [
    { type, pointer: '/spec/a~1b', wasOptional: true },
    { type, pointer: '/spec/list/*/x', wasOptional: true },
    { type, pointer: '/spec/z', wasOptional: true },
  ]);
  t.end();
});

test('a member of a new version was not optional for requests, unless the version was served before', (t) => {
  const schemaOf = (...required: readonly string[]): object => ({
    type: 'object',
    properties: { spec: { type: 'object', required, properties: { a: {}, b: {} } } },
  });
  const versions = (...named: readonly object[]): object => ({ versions: named, indexes: [] });
  const first = widgetType({ version: 'v1', schema: schemaOf('a'), indexes: [] });
  const second = widgetType({
    version: 'v2',
    schema: schemaOf('b'),
    ...versions({ name: 'v1', schema: schemaOf('a') }, { name: 'v2' }),
  });
  const early = widgetType({
    version: 'v1',
    schema: schemaOf('b'),
    ...versions({ name: 'v1' }, { name: 'v2', schema: schemaOf() }),
  });
  const entry = { type: 'widgets.example.com', pointer: '/spec/b' };
  t.same(compareTypes([first], [second]).required, [{ ...entry, wasOptional: false }]);
  t.same(compareTypes([early], [second]).required, [{ ...entry, wasOptional: true }]);
  t.same(compareTypes([second], [second]).required, []);
  t.end();
});
