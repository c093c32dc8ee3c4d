import fc from 'fast-check';
import jsonPatchLibrary, { type Operation } from 'fast-json-patch';
import { test } from 'tap';

import { deepEqual } from '../../src/base/json.ts';
import { jsonPatchOperationsMax, objectBytesMax } from '../../src/limits/objects.ts';
import { jsonDepthMax } from '../../src/limits/requests.ts';
import type { JsonValue } from '../../src/resource/object/object.ts';
import { applyJsonPatch, applyMergePatch } from '../../src/resource/object/patch.ts';
import { frozen } from '../support/given.ts';

const runs = Number(process.env['PBT_RUNS'] ?? 1_000);

type Case = readonly [document: JsonValue, operations: readonly JsonValue[], expected: JsonValue];

const applied: Readonly<Record<string, Case>> = {
  'add sets a member': [{ a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
  'add replaces a member that is there': [{ a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
  'add inserts before an element': [[1, 3], [{ op: 'add', path: '/1', value: 2 }], [1, 2, 3]],
  'add appends at the length and at "-"': [
    [1],
    [
      { op: 'add', path: '/1', value: 2 },
      { op: 'add', path: '/-', value: 3 },
    ],
    [1, 2, 3],
  ],
  'add at the empty pointer replaces the document': [{ a: 1 }, [{ op: 'add', path: '', value: { b: 2 } }], { b: 2 }],
  'remove takes a member and an element': [
    { a: 1, l: [1, 2] },
    [
      { op: 'remove', path: '/a' },
      { op: 'remove', path: '/l/0' },
    ],
    { l: [2] },
  ],
  'replace keeps the place': [[1, 2], [{ op: 'replace', path: '/0', value: 'x' }], ['x', 2]],
  'replace takes a null for a value that is there': [{ a: null }, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
  'move takes away and adds': [{ a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/c' }], { a: {}, c: 1 }],
  'move to the same place changes nothing': [{ a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
  'move within an array counts places after the removal': [
    [1, 2, 3],
    [{ op: 'move', from: '/0', path: '/2' }],
    [2, 3, 1],
  ],
  'copy makes a value of its own': [
    { a: { b: 1 } },
    [
      { op: 'copy', from: '/a', path: '/c' },
      { op: 'replace', path: '/c/b', value: 2 },
    ],
    { a: { b: 1 }, c: { b: 2 } },
  ],
  'test passes on equal values whatever the order of members': [
    { a: { x: 1, y: [2] } },
    [{ op: 'test', path: '/a', value: { y: [2], x: 1 } }],
    { a: { x: 1, y: [2] } },
  ],
  'tokens are unescaped, ~01 to ~1': [
    { 'a/b': 1, '~1': 2 },
    [
      { op: 'remove', path: '/a~1b' },
      { op: 'replace', path: '/~01', value: 3 },
    ],
    { '~1': 3 },
  ],
  'the empty member name is a member like any': [{ '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
  'members named as inherited ones are set like any': [
    {},
    [
      { op: 'add', path: '/constructor', value: 1 },
      { op: 'add', path: '/toString', value: 2 },
    ],
    { constructor: 1, toString: 2 },
  ],
  'a test for null holds where nothing is': [
    { a: [] },
    [
      { op: 'test', path: '/finalizers', value: null },
      { op: 'test', path: '/labels/a', value: null },
      { op: 'test', path: '/a/0', value: null },
      { op: 'test', path: '/a/-', value: null },
      { op: 'test', path: '/toString', value: null },
      { op: 'add', path: '/finalizers', value: ['example.com/held'] },
    ],
    { a: [], finalizers: ['example.com/held'] },
  ],
  'members beside the known ones of an operation do not count': [
    { a: 1 },
    [{ op: 'remove', path: '/a', comment: 'x' }],
    {},
  ],
};

for (const [name, [document, operations, expected]] of Object.entries(applied)) {
  test(`JSON Patch: ${name}`, async (t) => {
    t.strictSame(applyJsonPatch(frozen(document), frozen(operations)), { ok: true, document: expected });
  });
}

const refused: Readonly<Record<string, readonly [document: JsonValue, operation: JsonValue]>> = {
  'a failed test': [{ a: 1 }, { op: 'test', path: '/a', value: 2 }],
  'a test of a missing member': [{ a: 1 }, { op: 'test', path: '/b', value: false }],
  'a test for null of another value': [{ a: 0 }, { op: 'test', path: '/a', value: null }],
  'a missing member to remove': [{ a: 1 }, { op: 'remove', path: '/b' }],
  'a missing member to replace': [{ a: 1 }, { op: 'replace', path: '/b', value: 1 }],
  'a missing parent': [{ a: 1 }, { op: 'add', path: '/b/c', value: 1 }],
  'a parent that holds no members': [{ a: 'text' }, { op: 'add', path: '/a/b', value: 1 }],
  'an element past the end': [[1], { op: 'replace', path: '/1', value: 2 }],
  'a hole': [[1], { op: 'add', path: '/2', value: 2 }],
  'an index with a leading zero': [[1, 2], { op: 'remove', path: '/01' }],
  'an index that is no number': [[1, 2], { op: 'add', path: '/1e0', value: 1 }],
  'the element after the last one': [[1], { op: 'remove', path: '/-' }],
  'the length of an array': [[1], { op: 'copy', from: '/length', path: '/-' }],
  'a missing source': [{ a: 1 }, { op: 'move', from: '/b', path: '/c' }],
  'a move into itself': [{ a: { b: 1 } }, { op: 'move', from: '/a', path: '/a/b' }],
  'an inherited member to remove': [{}, { op: 'remove', path: '/toString' }],
  'an inherited member to copy': [{}, { op: 'copy', from: '/constructor', path: '/a' }],
  'a way through what objects inherit': [{}, { op: 'add', path: '/__proto__/polluted', value: 1 }],
  'the prototype itself': [{}, { op: 'add', path: '/__proto__', value: { polluted: 1 } }],
  'the whole document removed': [{ a: 1 }, { op: 'remove', path: '' }],
};

for (const [name, [document, operation]] of Object.entries(refused)) {
  test(`JSON Patch refuses ${name}`, async (t) => {
    const result = applyJsonPatch(frozen(document), [operation]);
    t.match(result, { ok: false, problem: 'refused' });
    t.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });
}

test('a malformed patch is distinguished from an inapplicable one, for any position of the fault', async (t) => {
  const malformed: readonly JsonValue[] = [
    null,
    'remove',
    [],
    {},
    { op: 'remove' },
    { op: 'delete', path: '/a' },
    { op: 'toString', path: '/a' },
    { op: 'remove', path: 'a' },
    { op: 'remove', path: '/a~2' },
    { op: 'remove', path: '/a~' },
    { op: 'add', path: '/a' },
    { op: 'move', path: '/a' },
    { op: 'copy', path: '/a', from: 'b' },
    { op: ['add'], path: '/a', value: 1 },
    { op: 'add', path: 1, value: 1 },
  ];
  for (const operation of malformed) {
    t.match(
      applyJsonPatch({}, [{ op: 'remove', path: '/missing' }, operation]),
      { ok: false, problem: 'malformed', detail: /^operation 1: / },
      JSON.stringify(operation),
    );
  }
});

test('a patch has at most the allowed number of operations', async (t) => {
  const operations = Array.from({ length: jsonPatchOperationsMax }, (_, index) => ({
    op: 'add',
    path: '/a',
    value: index,
  }));
  t.match(applyJsonPatch({}, operations), { ok: true });
  t.match(applyJsonPatch({}, [...operations, { op: 'remove', path: '/a' }]), { ok: false, problem: 'refused' });
});

test('a chain of copies that doubles the document is stopped at the bound', async (t) => {
  const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/${String(index)}` }));
  t.match(applyJsonPatch({ a: { text: 'x'.repeat(1_000) } }, doubling), {
    ok: false,
    problem: 'refused',
    detail: /copies more than/,
  });
  const text = 'x'.repeat(objectBytesMax - 2);
  t.match(applyJsonPatch({ a: text }, [{ op: 'copy', from: '/a', path: '/b' }]), { ok: true });
  t.match(applyJsonPatch({ a: `${text}x` }, [{ op: 'copy', from: '/a', path: '/b' }]), {
    ok: false,
    problem: 'refused',
  });
});

test('a patch cannot nest a document deeper than a body may', async (t) => {
  const nest = (levels: number) => [
    { op: 'add', path: '/a', value: {} },
    ...Array.from({ length: levels - 2 }, (_, index) => ({ op: 'add', path: '/a'.repeat(index + 2), value: {} })),
  ];
  t.match(applyJsonPatch({}, nest(jsonDepthMax)), { ok: true });
  t.match(applyJsonPatch({}, nest(jsonDepthMax + 1)), { ok: false, problem: 'refused' });
  const deep = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`) as JsonValue;
  const chain = Array.from({ length: 120 }, (_, index) => ({
    op: 'add',
    path: '/a'.repeat(1 + index * 100),
    value: deep,
  }));
  t.match(applyJsonPatch({}, [...chain, { op: 'copy', from: '/a', path: '/b' }]), { ok: false, problem: 'refused' });
});

test('a thousand moves of a large value do not copy a thousand documents', async (t) => {
  const great = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${String(index)}`, 'v'.repeat(20)]));
  const moves = Array.from({ length: jsonPatchOperationsMax }, (_, index) =>
    index % 2 === 0 ? { op: 'move', from: '/a', path: '/b' } : { op: 'move', from: '/b', path: '/a' },
  );
  const began = process.cpuUsage();
  t.match(applyJsonPatch({ a: great }, moves), { ok: true });
  t.ok(process.cpuUsage(began).user < 2_000_000, 'well under what copying it each time takes');
});

test('the refusal of a very long pointer is short', async (t) => {
  const result = applyJsonPatch({}, [{ op: 'remove', path: `/${'a'.repeat(1_000_000)}` }]);
  t.ok(!result.ok && result.detail.length < 300);
});

test('JSON Patch equals the reference library wherever both accept the patch', async (t) => {
  const member = fc.constantFrom('a', 'b', 'c', '0', '1', '-');
  const value = fc.letrec<{ json: JsonValue }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom(null, 0, 1, 'x', true),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(member, tie('json'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).json;
  const pointer = fc.array(member, { maxLength: 3 }).map((tokens) => tokens.map((token) => `/${token}`).join(''));
  const operation = fc.record({
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
    path: pointer,
    from: pointer,
    value,
  });
  let both = 0;
  fc.assert(
    fc.property(
      fc.dictionary(member, value, { noNullPrototype: true }),
      fc.array(operation, { maxLength: 4 }),
      (document, operations) => {
        const ours = applyJsonPatch(document, operations);
        const theirs = byLibrary(document, operations);
        if (!ours.ok || theirs === undefined) return;
        both += 1;
        if (!deepEqual(ours.document, theirs))
          throw new Error(`${JSON.stringify(ours.document)} is not ${JSON.stringify(theirs)}`);
      },
    ),
    { numRuns: runs },
  );
  t.ok(both > runs / 10, `${String(both)} patches taken by both`);
});

/** Undefined where the library refuses, or leaves what JSON cannot say. */
function byLibrary(document: JsonValue, operations: readonly JsonValue[]): JsonValue | undefined {
  try {
    const operation = operations.map((raw) => structuredClone(raw)) as unknown as Operation[];
    const result = jsonPatchLibrary.applyPatch(structuredClone(document), operation, true, true, true).newDocument as
      JsonValue | undefined;
    return result === undefined ? undefined : (JSON.parse(JSON.stringify(result)) as JsonValue);
  } catch {
    return undefined;
  }
}

const merged: Readonly<Record<string, readonly [document: JsonValue, patch: JsonValue, expected: JsonValue]>> = {
  // RFC 7396, appendix A.
  'a value replaces one': [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  'a new member is added': [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  'null removes': [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  'an array is replaced whole': [{ a: ['b'] }, { a: ['c', null] }, { a: ['c', null] }],
  'objects merge': [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  'an object takes the place of anything else': [{ a: [1] }, { a: { b: 'c' } }, { a: { b: 'c' } }],
  'nulls within a new object are left out': [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  'a value other than an object replaces the document': [{ a: 'b' }, ['c'], ['c']],
  'members named as inherited ones merge with a missing member': [
    {},
    { valueOf: { a: 1 }, toString: { b: null } },
    { valueOf: { a: 1 }, toString: {} },
  ],
};

for (const [name, [document, patch, expected]] of Object.entries(merged)) {
  test(`Merge Patch: ${name}`, async (t) => {
    t.strictSame(applyMergePatch(frozen(document), frozen(patch)), expected);
  });
}

test('Merge Patch: a member named __proto__ changes nothing, here or in other objects', async (t) => {
  const result = applyMergePatch({ a: 1 }, JSON.parse('{"__proto__":{"polluted":1},"a":2}') as JsonValue);
  t.strictSame(result, { a: 2 });
  t.equal(Object.getPrototypeOf(result), Object.prototype);
  t.equal((result as { readonly polluted?: unknown }).polluted, undefined);
  t.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
});
