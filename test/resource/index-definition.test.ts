import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'tap';
import { indexesPerTypeMax, indexValueBytesMax, indexValuesPerObjectMax } from '../../src/limits/objects.ts';
import { heldValues } from '../../src/resource/type/held-values.ts';
import { defineIndexes, entryOf } from '../../src/resource/type/index-definition.ts';
import type { IndexSpec } from '../../src/resource/type/index-spec.ts';
import { IndexValueError } from '../../src/resource/type/index-values.ts';
import { stringKey, stringOfKey, textOfKey, timestampMs } from '../../src/resource/type/index-key.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { IndexDefinition, IndexValueType } from '../../src/resource/type/resource-type.ts';

const numRuns = Number(process.env['PBT_RUNS'] ?? 1_000);

const object = (spec: Readonly<Record<string, unknown>> = {}): ResourceObject => ({
  apiVersion: 'example.org/v1',
  kind: 'Thing',
  spec,
  metadata: {
    name: 'a',
    uid: 'u',
    version: 0,
    generation: 1,
    creationTimestamp: '2024-01-02T03:04:05.006Z',
    labels: { app: 'x' },
  },
});

function defined(specs: unknown): readonly IndexDefinition[] {
  const result = defineIndexes(specs);
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result.indexes;
}

const problems = (specs: unknown): readonly string[] => {
  const result = defineIndexes(specs);
  return result.ok ? [] : result.problems;
};

const keysOf = (spec: IndexSpec, spec2: Readonly<Record<string, unknown>> = {}): readonly (string | number)[] =>
  defined([spec]).at(-1)!.keysOf(object(spec2));

const reasonOf = (spec: IndexSpec, spec2: Readonly<Record<string, unknown>> = {}): string => {
  try {
    return `took ${JSON.stringify(keysOf(spec, spec2))}`;
  } catch (error) {
    return error instanceof IndexValueError && error.index === spec.name ? error.reason : `threw ${String(error)}`;
  }
};

test('every type has the default indexes first', (t) => {
  t.same(
    defined(undefined).map(({ name, type, unique }) => ({ name, type, unique })),
    [
      { name: 'metadata.name', type: 'string', unique: true },
      { name: 'metadata.creationTimestamp', type: 'timestamp', unique: false },
      { name: 'metadata.deletionTimestamp', type: 'timestamp', unique: false },
    ],
  );
  t.same(entryOf(defined([{ name: 'spec.size', type: 'number' }]), object({ size: 3 })), {
    name: 'a',
    created: Date.UTC(2024, 0, 2, 3, 4, 5, 6),
    labels: { app: 'x' },
    keys: [['a'], [Date.UTC(2024, 0, 2, 3, 4, 5, 6)], [], [3]],
  });
  t.end();
});

test('a malformed declaration is refused with all violations', (t) => {
  t.same(problems('x'), ['indexes: must be an array, is a string']);
  t.same(problems([null, [], { name: 5 }, { name: 'a b' }]).length, 4);
  t.same(
    problems([{ name: 'a', type: 'int', order: 'asc', unique: 1, multi: 'no', indexFunc: 'x', extra: 1 }]).length,
    6,
  );
  t.match(problems([{ name: 'metadata.labels' }]), ['is a default index']);
  t.match(
    problems([
      { name: 'metadata.name' },
      { name: 'metadata.creationTimestamp' },
      { name: 'metadata.deletionTimestamp' },
    ]).length,
    3,
  );
  t.match(problems([{ name: 'a' }, { name: 'a' }]), ['is declared twice']);
  const many = (count: number): readonly IndexSpec[] =>
    Array.from({ length: count }, (_, index) => ({ name: `spec.f${String(index)}` }));
  t.same(problems(many(indexesPerTypeMax - 3)), []);
  t.match(problems(many(indexesPerTypeMax - 2)), [`at most ${String(indexesPerTypeMax)}`]);
  t.end();
});

test('without a function the value is at the path', (t) => {
  t.same(keysOf({ name: 'spec.a.b' }, { a: { b: 'x' } }), ['x']);
  for (const spec of [{}, { a: null }, { a: 5 }, { a: { b: null } }, { a: [] }])
    t.same(keysOf({ name: 'spec.a.b' }, spec), [], JSON.stringify(spec));
  t.same(keysOf({ name: 'spec.constructor.name' }), [], 'only what the object has itself');
  t.end();
});

test('values are converted to the type that the index compares', (t) => {
  const took = (type: IndexValueType, value: unknown): unknown => keysOf({ name: 'spec.v', type }, { v: value })[0];
  t.equal(took('string', 5), '5');
  t.equal(took('string', true), 'true');
  t.equal(took('number', '1e3'), 1000);
  t.ok(Object.is(took('number', -0), 0), 'minus zero is zero');
  t.equal(took('boolean', false), 0);
  t.equal(took('boolean', 'true'), 1);
  t.equal(took('timestamp', '2024-01-01T01:00:00.5+01:00'), Date.UTC(2024, 0, 1) + 500);
  t.equal(took('timestamp', 5), 5);
  for (const [type, value] of [
    ['number', 'x'],
    ['number', ''],
    ['number', true],
    ['number', '0x1'],
    ['boolean', 1],
    ['boolean', 'yes'],
    ['timestamp', '2024-01-01'],
    ['timestamp', true],
    ['timestamp', 9e15],
  ] as const) {
    t.match(reasonOf({ name: 'spec.v', type }, { v: value }), `is not a valid ${type}`, `${type} ${String(value)}`);
  }
  t.end();
});

test('a value that cannot be indexed is an error that names index and reason', (t) => {
  const by = (indexFunc: () => unknown, multi = false): string => reasonOf({ name: 'v', multi, indexFunc });
  t.match(
    by(() => Number.NaN),
    'cannot index NaN',
  );
  t.match(
    by(() => Infinity),
    'cannot index Infinity',
  );
  t.match(
    by(() => ({})),
    'cannot index an object',
  );
  t.match(
    by(() => () => 1),
    'cannot index a function',
  );
  t.match(
    by(() => Symbol('x')),
    'cannot index a symbol',
  );
  t.match(
    by(() => [1]),
    'not declared `multi`',
  );
  t.match(
    by(() => [[1]], true),
    'cannot index an array',
  );
  t.match(
    by(() => {
      throw new Error('boom');
    }),
    'the index function threw: boom',
  );
  t.match(
    by(() => {
      throw new Proxy(new Error(), {
        get: () => {
          throw new Error('again');
        },
      });
    }),
    'the index function threw: an error that cannot be printed',
  );
  t.match(
    by(
      () =>
        new Proxy([], {
          get: () => {
            throw new Error('trap');
          },
        }),
      true,
    ),
    'the index function threw',
  );
  t.match(
    by(() => new Set(['a']), true),
    'cannot index an object',
  );
  t.end();
});

test('a promise is refused, and its rejection is ignored', async (t) => {
  t.match(reasonOf({ name: 'v', indexFunc: async () => Promise.reject(new Error('late')) }), 'cannot index a promise');
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
});

test('values are bounded in bytes and number, at n and n + 1', (t) => {
  t.same(keysOf({ name: 'spec.v' }, { v: 'é'.repeat(indexValueBytesMax / 2) }).length, 1);
  t.match(
    reasonOf({ name: 'spec.v' }, { v: `${'é'.repeat(indexValueBytesMax / 2)}x` }),
    `at most ${String(indexValueBytesMax)} bytes, is ${String(indexValueBytesMax + 1)}`,
  );
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
  t.same(
    keysOf({ name: 'spec.v', multi: true, type: 'number' }, { v: numbers(indexValuesPerObjectMax) }).length,
    indexValuesPerObjectMax,
  );
  t.match(
    reasonOf({ name: 'spec.v', multi: true, type: 'number' }, { v: numbers(indexValuesPerObjectMax + 1) }),
    `at most ${String(indexValuesPerObjectMax)} values`,
  );
  t.end();
});

test('the keys of a multi-valued index are ascending and distinct', (t) => {
  t.same(keysOf({ name: 'spec.v', multi: true, type: 'number' }, { v: [10, 9, null, 10, '9', 1] }), [1, 9, 10]);
  t.same(keysOf({ name: 'spec.v', multi: true }, { v: ['b', 'a', 'b', 5] }), ['5', 'a', 'b']);
  t.same(keysOf({ name: 'spec.v', multi: true }, { v: 'one' }), ['one']);
  t.same(keysOf({ name: 'spec.v', multi: true }, { v: [] }), []);
  t.end();
});

test('string keys compare as code points do and lead back to the text', (t) => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
    maxLength: 5,
  });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const byCodePoints = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const [first, second] = [stringKey(a), stringKey(b)];
      return (
        (first < second ? -1 : first > second ? 1 : 0) === byCodePoints &&
        stringOfKey(first) === a &&
        (first === '' || first < '\ufc00')
      );
    }),
    { numRuns },
  );
  t.equal(stringKey('plain é'), 'plain é');
  t.equal(
    stringOfKey(stringKey('a\ud800b\udc00')),
    'a\ufffdb\ufffd',
    'a lone surrogate counts as the replacement character',
  );
  t.end();
});

test('a timestamp has the form of RFC 3339 and an existing day', (t) => {
  t.equal(timestampMs('2024-02-29T23:59:59z'), Date.UTC(2024, 1, 29, 23, 59, 59));
  t.equal(timestampMs('2024-01-01T00:00:00.123456Z'), Date.UTC(2024, 0, 1) + 123);
  t.equal(timestampMs('0001-01-01T00:00:00Z'), -62_135_596_800_000);
  for (const text of [
    '2023-02-29T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-10T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01 00:00:00Z',
    '2024-01-01T00:00:00',
    'x',
    '',
  ]) {
    t.equal(timestampMs(text), undefined, text);
  }
  t.end();
});

test('held values are hashes of the unique values, in one order', (t) => {
  const indexes = defined([
    { name: 'spec.slug', unique: true },
    { name: 'spec.codes', unique: true, multi: true, type: 'number' },
    { name: 'spec.free' },
  ]);
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
  const expected = [
    { index: 'spec.codes', hash: sha('7') },
    { index: 'spec.codes', hash: sha('8') },
  ].sort((a, b) => (a.hash < b.hash ? -1 : 1));
  const keysIn = (it: ResourceObject): ReturnType<typeof entryOf>['keys'] => entryOf(indexes, it).keys;
  t.same(heldValues(indexes, keysIn(object({ slug: '\ue000', codes: [8, 7, 8], free: 'x' }))), [
    ...expected,
    { index: 'spec.slug', hash: sha('\ue000') },
  ]);
  t.same(heldValues(indexes, keysIn(object())), []);
  t.equal(textOfKey('boolean', 1), 'true');
  t.equal(textOfKey('timestamp', 0), '1970-01-01T00:00:00.000Z');
  t.end();
});

test('the fingerprint changes with every option and with the source of a function, and with nothing else', (t) => {
  const print = (spec: IndexSpec): string => {
    const result = defineIndexes([spec]);
    return result.ok ? result.fingerprint : 'malformed';
  };
  const all = [
    print({ name: 'a' }),
    print({ name: 'b' }),
    print({ name: 'a', type: 'number' }),
    print({ name: 'a', order: 'DESC' }),
    print({ name: 'a', unique: true }),
    print({ name: 'a', multi: true }),
    print({ name: 'a', indexFunc: (each) => each.kind }),
    print({ name: 'a', indexFunc: (each) => each.apiVersion }),
  ];
  t.equal(new Set(all).size, all.length);
  t.equal(
    print({ name: 'a', type: 'string', order: 'ASC', unique: false, multi: false }),
    print({ name: 'a' }),
    'an explicit default equals an omitted one',
  );
  t.end();
});

test('an index function cannot change the stored object', (t) => {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a plugin in JavaScript may try anything
  const touching = (change: (given: any) => unknown): string => {
    const stored = object({ tags: ['b', 'a'], deep: { list: [{ x: 1 }] } });
    const text = JSON.stringify(stored);
    const indexes = defined([
      {
        name: 'f',
        multi: true,
        indexFunc: (given: unknown) => {
          change(given);
          return [];
        },
      },
    ]);
    let outcome = 'took it';
    try {
      entryOf(indexes, stored);
    } catch (error) {
      outcome = error instanceof IndexValueError ? error.reason : `threw ${String(error)}`;
    }
    t.equal(JSON.stringify(stored), text, 'it is as it was');
    return outcome;
  };
  t.match(
    touching((given: { spec: { tags: string[] } }) => given.spec.tags.sort()),
    /the index function threw: .*read only/,
  );
  t.match(
    touching((given) => {
      given.spec.secret = 1;
    }),
    /the index function threw/,
  );
  t.match(
    touching((given) => {
      given.spec.deep.list[0].x = 2;
    }),
    /the index function threw/,
  );
  t.match(
    touching((given) => {
      delete given.metadata.labels.app;
    }),
    /the index function threw/,
  );
  t.match(
    touching((given) => {
      given.kind = 'Other';
    }),
    /the index function threw/,
  );
  t.equal(
    touching((given: { spec: { tags: string[] } }) => [...given.spec.tags].sort()),
    'took it',
  );
  t.end();
});

test('members that no index function reads are not frozen', (t) => {
  const stored = object({ tags: [] });
  entryOf(defined([{ name: 'spec.size', type: 'number' }]), stored);
  t.notOk(Object.isFrozen(stored));
  t.end();
});
