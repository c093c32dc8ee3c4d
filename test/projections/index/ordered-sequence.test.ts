import fc from 'fast-check';
import { test } from 'tap';
import { TextColumn } from '../../../projections/index/index-columns.ts';
import { IndexRows } from '../../../projections/index/index-rows.ts';
import { sortedByNumber, sortedByText } from '../../../projections/index/index-sort.ts';
import { atOnce, strideMax } from '../../../src/base/steps.ts';
import { chunkPostingsMax, OrderedSequence } from '../../../projections/index/ordered-sequence.ts';
import { defineIndexes } from '../../../src/resource/type/index-definition.ts';
import { texts } from './type-index-oracle.ts';

const numRuns = Math.max(3, Math.ceil(Number(process.env['PBT_RUNS'] ?? 150) / 10));

function rowsWith(sizes: readonly number[]): { readonly rows: IndexRows; readonly sequence: OrderedSequence } {
  const defined = defineIndexes([{ name: 'spec.size', type: 'number' }]);
  if (!defined.ok) throw new Error('these are right');
  const rows = new IndexRows(defined.indexes);
  sizes.forEach((size, index) => {
    rows.add({
      name: `n${String(index).padStart(5, '0')}`,
      created: index % 3,
      labels: {},
      keys: [[], [], [], [size]],
    });
  });
  const column = rows.columns[3];
  if (column === undefined) throw new Error('it is there');
  return { rows, sequence: new OrderedSequence(rows, { kind: 'column', column }) };
}

function contents(sequence: OrderedSequence, direction: 'forward' | 'backward' = 'forward'): readonly number[] {
  const found: number[] = [];
  for (const { chunk, from, to } of direction === 'forward'
    ? sequence.view.spans(0, sequence.view.size)
    : sequence.view.spansBackward(0, sequence.view.size)) {
    const part = Array.from(chunk.ordinals.subarray(from, to));
    found.push(...(direction === 'forward' ? part : part.reverse()));
  }
  return found;
}

test('after any insertions and removals every way to read the postings returns them in order', (t) => {
  const size = fc.integer({ min: 0, max: 40 });
  fc.assert(
    fc.property(
      fc.array(size, { minLength: 1, maxLength: 3 * chunkPostingsMax, size: 'max' }),
      fc.integer({ min: 2, max: 9 }),
      (sizes, removedOf) => {
        const { rows, sequence } = rowsWith(sizes);
        const inOrder = (a: number, b: number): number => sizes[a]! - sizes[b]! || rows.compareTie(a, rows.tie(b));
        sizes.forEach((key, ordinal) => {
          sequence.insert(ordinal, key);
        });
        const ordinals = sizes.map((_, ordinal) => ordinal).sort(inOrder);
        t.same(contents(sequence), ordinals);
        const kept = ordinals.filter((ordinal) => ordinal % removedOf === 0);
        for (const ordinal of ordinals) if (ordinal % removedOf !== 0) sequence.remove(ordinal, sizes[ordinal]!);
        t.same(contents(sequence), kept);
        t.same(contents(sequence, 'backward').toReversed(), kept);
        for (const key of [-1, 0, 7, 20, 40, 41]) {
          t.equal(
            sequence.view.lower(key),
            kept.filter((ordinal) => sizes[ordinal]! < key).length,
            `lower ${String(key)}`,
          );
          t.equal(
            sequence.view.upper(key),
            kept.filter((ordinal) => sizes[ordinal]! <= key).length,
            `upper ${String(key)}`,
          );
          t.equal(
            sequence.view.first(key),
            kept.find((ordinal) => sizes[ordinal] === key),
            `first ${String(key)}`,
          );
          const tie = { created: 1, name: 'n00500' };
          t.equal(
            sequence.view.after(key, tie),
            kept.filter(
              (ordinal) => sizes[ordinal]! < key || (sizes[ordinal] === key && rows.compareTie(ordinal, tie) <= 0),
            ).length,
            `after ${String(key)}`,
          );
        }
        t.throws(() => {
          sequence.remove(ordinals.length, 5);
        }, 'a missing entry cannot be removed');
      },
    ),
    { numRuns },
  );
  t.end();
});

test('orders of texts, of keys in postings and without keys stay sorted through any insertions and removals', (t) => {
  const word = fc.constantFrom(...texts, 'a', 'b', 'z');
  const someWords = fc.array(word, { minLength: 1, maxLength: 3 * chunkPostingsMax, size: 'max' });
  fc.assert(
    fc.property(someWords, fc.constantFrom('text', 'posting', 'none'), (words, kind) => {
      const { rows } = rowsWith(words.map((_, index) => index));
      const column = new TextColumn();
      words.forEach((text, ordinal) => {
        column.put(ordinal, text);
      });
      const sequence = new OrderedSequence(rows, kind === 'text' ? { kind: 'column', column } : { kind });
      const keyOf = (ordinal: number): string | number => (kind === 'none' ? 0 : words[ordinal]!);
      const inOrder = (one: number, other: number): number => {
        const [a, b] = [keyOf(one), keyOf(other)];
        return a === b ? rows.compareTie(one, rows.tie(other)) : a < b ? -1 : 1;
      };
      const ordinals = words.map((_, ordinal) => ordinal);
      for (const ordinal of ordinals) sequence.insert(ordinal, keyOf(ordinal));
      t.same(contents(sequence), ordinals.toSorted(inOrder));
      for (const ordinal of ordinals) if (ordinal % 3 !== 0) sequence.remove(ordinal, keyOf(ordinal));
      const kept = ordinals.filter((ordinal) => ordinal % 3 === 0).sort(inOrder);
      t.same(contents(sequence), kept);
      for (const key of ['a', '', 0]) {
        const isLess = (ordinal: number): boolean => keyOf(ordinal) < key;
        if (typeof key === typeof keyOf(0)) t.equal(sequence.view.lower(key), kept.filter(isLess).length);
      }
    }),
    { numRuns },
  );
  t.end();
});

test('any part of an order is read chunk by chunk, in both directions', (t) => {
  const sizes = Array.from({ length: 2_000 }, (_, index) => index);
  const { sequence } = rowsWith(sizes);
  atOnce(sequence.load(Uint32Array.from(sizes), () => 0));
  for (const [low, high] of [
    [0, 0],
    [0, 1],
    [447, 449],
    [10, 1_990],
    [1_999, 2_000],
    [5, 3],
  ] as const) {
    const forward = [...sequence.view.spans(low, high)].flatMap(({ chunk, from, to }) => [
      ...chunk.ordinals.subarray(from, to),
    ]);
    const backward = [...sequence.view.spansBackward(low, high)].flatMap(({ chunk, from, to }) =>
      [...chunk.ordinals.subarray(from, to)].reverse(),
    );
    const expected = sizes.slice(low, Math.max(low, high));
    t.same(forward, expected);
    t.same(backward.toReversed(), expected);
  }
  t.equal(sequence.view.keyAt(1_999), 1_999);
  t.throws(() => sequence.view.keyAt(-1), RangeError);
  t.throws(() => sequence.view.keyAt(2_000), RangeError);
  t.end();
});

test('texts are sorted in UTF-16 order, equal ones by rank', (t) => {
  const parts = fc
    .array(fc.constantFrom(...texts, '\0', 'aaaaaaaa', 'b\0\0'), { maxLength: 4 })
    .map((words) => words.join(''));
  fc.assert(
    fc.property(
      fc.array(parts, { minLength: 1, maxLength: 900, size: 'max' }),
      fc.constantFrom('', 'a long beginning that all share ', '\u{1f600}\u{1f600}\u{1f600}'),
      fc.integer({ min: 1, max: 997 }),
      (words, prefix, step) => {
        const all = words.map((word) => prefix + word);
        const rankOf = Uint32Array.from(all, (_, index) => ((index * step) % 997) * 1_000 + index);
        const asGiven = Uint32Array.from(all, (_, index) => index);
        const sorted = atOnce(sortedByText(asGiven, { textOf: (ordinal) => all[ordinal]!, rankOf }));
        const expected = all
          .map((_, index) => index)
          .sort((a, b) => (all[a]! < all[b]! ? -1 : all[a]! > all[b]! ? 1 : rankOf[a]! - rankOf[b]!));
        t.same([...sorted], expected);
      },
    ),
    { numRuns: numRuns * 3 },
  );
  t.end();
});

test('no step of a sort reads more than a few strides of keys, with any common prefixes', (t) => {
  const count = 20 * strideMax;
  const texts: Readonly<Record<string, (place: number) => string>> = {
    distinct: (place) => `x${String((place * 7919) % count)}`,
    'equal beginnings': (place) => `${'a long beginning that all share '.repeat(3)}${String((place * 7919) % count)}`,
    equal: () => 'the same',
    'equal but for one': (place) => (place === count - 1 ? 'the samf' : 'the same'),
    'ended, or going on with NULs': (place) => `a${'\0'.repeat(place % 30)}`,
    wide: (place) => `\u{1f600}${String((place * 7919) % count)}`,
  };
  for (const [shape, textOf] of Object.entries(texts)) {
    const all = Uint32Array.from({ length: count }, (_, index) => index);
    let reads = 0;
    const steps = sortedByText(all, {
      textOf: (place) => {
        reads += 1;
        return textOf(place);
      },
      rankOf: all,
    });
    const perStep: number[] = [];
    for (let step = steps.next(); ; step = steps.next()) {
      perStep.push(reads);
      reads = 0;
      if (step.done !== true) continue;
      const expected = [...all].sort((a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : a - b));
      t.same([...step.value], expected, shape);
      break;
    }
    t.ok(Math.max(...perStep) <= 4 * strideMax, `${shape}: ${String(Math.max(...perStep))} reads in one step`);
  }
  t.end();
});

test('numbers are sorted as numbers, equal ones in their given order', (t) => {
  const number = fc.oneof(
    fc.double({ noNaN: true }),
    fc.integer({ min: -3, max: 3 }),
    fc.constantFrom(0, -0, Infinity, Number.MAX_VALUE, Number.MIN_VALUE, -Number.MIN_VALUE),
  );
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 600, size: 'max' }), (numbers) => {
      const asGiven = Uint32Array.from(numbers, (_, index) => index);
      const sorted = atOnce(sortedByNumber(asGiven, (ordinal) => numbers[ordinal]!));
      const expected = numbers
        .map((_, index) => index)
        .sort((a, b) => (numbers[a]! < numbers[b]! ? -1 : numbers[a]! > numbers[b]! ? 1 : a - b));
      t.same([...sorted], expected);
    }),
    { numRuns: numRuns * 3 },
  );
  t.end();
});
