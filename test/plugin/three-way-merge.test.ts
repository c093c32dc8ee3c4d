import fc from 'fast-check';
import { test } from 'tap';

import type { JsonObject, JsonValue } from '../../src/resource/object/object.ts';
import { mergeThreeWay, recall, remember } from '../../src/plugin/objects/three-way-merge.ts';

const long = 'x'.repeat(1_000);

test("a change by one side wins; of a conflict people's side is kept and reported", async (t) => {
  const table: readonly (readonly [string, JsonObject, JsonObject, JsonObject, JsonObject, readonly string[]])[] = [
    ['nobody', { a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }, []],
    ['the plugin changes', { a: 1 }, { a: 1 }, { a: 2 }, { a: 2 }, []],
    ['the plugin adds', {}, {}, { a: 2 }, { a: 2 }, []],
    ['the plugin removes', { a: 1 }, { a: 1 }, {}, {}, []],
    ['people change', { a: 1 }, { a: 2 }, { a: 1 }, { a: 2 }, []],
    ['people add', {}, { a: 2 }, {}, { a: 2 }, []],
    ['people remove', { a: 1 }, {}, { a: 1 }, {}, []],
    ['both, the same', { a: 1 }, { a: 2 }, { a: 2 }, { a: 2 }, []],
    ['both, differently', { a: 1 }, { a: 2 }, { a: 3 }, { a: 2 }, ['/a']],
    ['people remove, the plugin changes', { a: 1 }, {}, { a: 2 }, {}, ['/a']],
    ['people change, the plugin removes', { a: 1 }, { a: 2 }, {}, { a: 2 }, ['/a']],
    [
      'each in another member',
      { o: { a: 1, b: 1 } },
      { o: { a: 2, b: 1 } },
      { o: { a: 1, b: 2 } },
      { o: { a: 2, b: 2 } },
      [],
    ],
    ['arrays are one value', { a: [1] }, { a: [1, 2] }, { a: [0, 1] }, { a: [1, 2] }, ['/a']],
    ['an object against a value', { a: 1 }, { a: { b: 1 } }, { a: 2 }, { a: { b: 1 } }, ['/a']],
    ['pointers are escaped', { 'a/b~': 1 }, { 'a/b~': 2 }, { 'a/b~': 3 }, { 'a/b~': 2 }, ['/a~1b~0']],
    ['long texts', { a: long }, { a: long }, { a: `${long}y` }, { a: `${long}y` }, []],
    ['a long text people changed', { a: long }, { a: `${long}z` }, { a: `${long}y` }, { a: `${long}z` }, ['/a']],
    ['null is a value', { a: null }, { a: null }, { a: 1 }, { a: 1 }, []],
  ];
  for (const [title, base, current, next, value, kept] of table)
    t.same(mergeThreeWay(remember(base), current, next), { value, kept }, title);
});

test("without a base all present members are people's", async (t) => {
  t.same(mergeThreeWay(undefined, { a: 1, o: { x: 1 } }, { a: 2, b: 2, o: { x: 1, y: 1 } }), {
    value: { a: 1, b: 2, o: { x: 1, y: 1 } },
    kept: ['/a'],
  });
});

/** Own members only, whatever they are called. */
const json = fc
  .object({
    maxDepth: 3,
    values: [
      fc.integer({ min: 0, max: 2 }),
      fc.constant(null),
      fc.constant(long),
      fc.constant('s'),
      fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
    ],
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

test('merging is the identity where only one side changed, and is idempotent', async () => {
  fc.assert(
    fc.property(json, json, json, (base, current, next) => {
      const memory = remember(base);
      const same = (left: JsonValue, right: JsonValue): boolean =>
        mergeThreeWay(remember(left), right as JsonObject, right as JsonObject).kept.length === 0;
      if (JSON.stringify(mergeThreeWay(memory, current, base).value) !== JSON.stringify(current)) return false;
      const merged = mergeThreeWay(memory, current, next).value;
      const again = mergeThreeWay(remember(next), merged, next);
      return same(base, current) && again.kept.length === 0 && JSON.stringify(again.value) === JSON.stringify(merged);
    }),
  );
});

test('a value is recalled from a known value, and what is not known keeps its compact form', async (t) => {
  fc.assert(
    fc.property(json, json, (value, other) => {
      const memory = remember(value);
      const recalled = recall(memory, [other]);
      const isKept = JSON.stringify(remember(recalled, recalled)) === JSON.stringify(memory);
      return isKept && JSON.stringify(recall(memory, [undefined, other, value])) === JSON.stringify(value);
    }),
  );
  t.same(recall(remember({ a: long, b: long }), [{ b: long }]), { a: remember(long), b: long });
  t.same(remember({ c: remember(long), d: long }, { a: remember(long) }), { c: remember(long), d: remember(long) });
});

test('the stored base is small', async (t) => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`member-${String(at)}`, at]));
  t.ok(
    JSON.stringify(remember({ spec: wide, text: 'y'.repeat(500_000), list: Array.from({ length: 100_000 }, () => 1) }))
      .length < 1_000,
  );
  t.same(mergeThreeWay(remember({ spec: wide }), { spec: wide }, { spec: { ...wide, more: 1 } }), {
    value: { spec: { ...wide, more: 1 } },
    kept: [],
  });
});
