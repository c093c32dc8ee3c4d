/** A JSON Patch between any two values gives the second from the first, and is bounded in size and in work. */
import fc from 'fast-check';
import fastJsonPatch from 'fast-json-patch';
import { test } from 'tap';

import { atOnce, strideMax } from '../../src/base/steps.ts';
import { jsonPatchOperationsMax } from '../../src/limits/objects.ts';
import { jsonDiff } from '../../src/resource/object/json-diff.ts';
import type { JsonValue } from '../../src/resource/object/object.ts';
import { applyJsonPatch } from '../../src/resource/object/patch.ts';

/** Few members and values, so that two drawn values have much in common. */
const { value: json } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<JsonValue>(0, 1, '', 'a', true, null),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c/d', 'e~f', '', '0', '-'), tie('value'), {
      maxKeys: 5,
      noNullPrototype: true,
    }),
  ),
}));

function applied(before: JsonValue, patch: readonly unknown[]): JsonValue {
  const operations = JSON.parse(JSON.stringify(patch)) as JsonValue[];
  const patched = applyJsonPatch(before, operations);
  if (!patched.ok) throw new Error(patched.detail);
  return patched.document;
}

test('the patch between two values gives the second from the first, for another library too', async (t) => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const patch = atOnce(jsonDiff(before, after));
      t.strictSame(applied(before, patch), after);
      const copy = JSON.parse(JSON.stringify({ before, patch })) as { before: never; patch: never };
      t.strictSame(fastJsonPatch.applyPatch(copy.before, copy.patch).newDocument, after);
    }),
    { numRuns: 500 },
  );
});

test('equal values have an empty patch, whatever the order of members; undefined members are absent', async (t) => {
  fc.assert(
    fc.property(json, (value) => {
      t.strictSame(atOnce(jsonDiff(value, JSON.parse(JSON.stringify(value)))), []);
    }),
  );
  t.strictSame(atOnce(jsonDiff({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })), []);
  t.strictSame(atOnce(jsonDiff({ a: undefined, b: 1 }, { b: 1, c: undefined })), []);
  t.strictSame(atOnce(jsonDiff({ a: undefined }, { a: 1 })), [{ op: 'add', path: '/a', value: 1 }]);
});

test('small changes are small patches', (t) => {
  const patch = (before: JsonValue, after: JsonValue) => atOnce(jsonDiff(before, after));
  t.strictSame(patch({ spec: { size: 1, tags: ['a', 'b', 'c'] } }, { spec: { size: 2, tags: ['a', 'c'] } }), [
    { op: 'replace', path: '/spec/size', value: 2 },
    { op: 'remove', path: '/spec/tags/1' },
  ]);
  t.strictSame(patch({ list: [{ id: 1 }, { id: 2 }] }, { list: [{ id: 0 }, { id: 1 }, { id: 2 }] }), [
    { op: 'add', path: '/list/0', value: { id: 0 } },
  ]);
  t.strictSame(patch({ list: [{ id: 1, on: true }] }, { list: [{ id: 1, on: false }] }), [
    { op: 'replace', path: '/list/0/on', value: false },
  ]);
  t.strictSame(patch({ 'a/b': { '~': 1 } }, { 'a/b': {} }), [{ op: 'remove', path: '/a~1b/~0' }]);
  t.strictSame(patch([1], { a: 1 }), [{ op: 'replace', path: '', value: { a: 1 } }]);
  t.end();
});

test('a patch is never much larger than the value, and takes no more operations than a patch may have', (t) => {
  const numbers = (length: number, value: number) => Array.from({ length }, () => value);
  const long = 'k'.repeat(50_000);
  const cases: Readonly<Record<string, readonly [JsonValue, JsonValue]>> = {
    'many numbers': [numbers(100_000, 0), numbers(100_000, 1)],
    'an array that grows': [[], numbers(100_000, 1)],
    'an array that shrinks': [numbers(100_000, 1), [1]],
    'many members': [
      Object.fromEntries(numbers(20_000, 0).map((_, index) => [`m${String(index)}`, 0])),
      Object.fromEntries(numbers(20_000, 0).map((_, index) => [`m${String(index)}`, 1])),
    ],
    'changes below a long name': [{ [long]: numbers(1_000, 0) }, { [long]: numbers(1_000, 1) }],
    'a few changes below a long name': [{ [long]: [0, 0, 0, 0] }, { [long]: [1, 1, 1, 1] }],
  };
  for (const [what, [before, after]] of Object.entries(cases)) {
    const patch = atOnce(jsonDiff(before, after));
    const size = JSON.stringify(patch).length;
    const whole = Math.max(JSON.stringify(after).length, JSON.stringify(before).length);
    t.ok(size <= 2 * whole + 4_096, `${what}: ${String(size)} characters for ${String(whole)}`);
    t.ok(patch.length <= jsonPatchOperationsMax, `${what}: ${String(patch.length)} operations`);
    t.strictSame(applied(before, patch), after, what);
  }
  t.end();
});

test('a large change is computed in steps', (t) => {
  const nodes = 200_000;
  const numbers = Array.from({ length: nodes }, () => 0);
  for (const after of [numbers, [...numbers, 1], [1, ...numbers.slice(2)]]) {
    let steps = 0;
    const computing = jsonDiff(numbers.slice(), after);
    while (computing.next().done !== true) steps += 1;
    t.ok(steps >= Math.floor(nodes / strideMax) - 1, `${String(steps)} steps`);
  }
  t.end();
});
