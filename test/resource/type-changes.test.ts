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
  const before = widgetType({
    indexes: [{ name: 'a' }, { name: 'b' }, { name: 'c', indexFunc: title }, { name: 'd' }, { name: 'gone' }],
  });
  const after = widgetType({
    indexes: [
      { name: 'a' },
      { name: 'b', type: 'number' },
      { name: 'c', indexFunc: (object: { readonly spec: { readonly title: string } }) => object.spec.title.trim() },
      { name: 'd', unique: true },
      { name: 'e' },
    ],
  });
  const type = 'widgets.example.com';
  t.same(compareTypes([before], [after]).indexes, [
    { type, name: 'b', change: 'changed' },
    { type, name: 'c', change: 'changed' },
    { type, name: 'd', change: 'unique' },
    { type, name: 'e', change: 'added' },
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
    { type, pointer: '/spec/a~1b' },
    { type, pointer: '/spec/list/*/x' },
    { type, pointer: '/spec/z' },
  ]);
  t.end();
});
