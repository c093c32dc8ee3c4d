import { deepStrictEqual, throws } from 'node:assert';
import fc from 'fast-check';
import { test } from 'tap';
import { encodeEntry, EntryCorruptError, EntryDecoder, isEntryUnder } from '../../../projections/index/entry-codec.ts';
import { stringKey } from '../../../src/resource/type/index-key.ts';
import type { IndexEntry } from '../../../src/resource/type/index-entry.ts';

const numRuns = Number(process.env['PBT_RUNS'] ?? 300);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', 'é', '\u{10ffff}', 'x'.repeat(1_000), '\ue000'.repeat(200)),
);
const keys = fc.oneof(
  fc.array(text.map(stringKey), { maxLength: 4 }),
  fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 }),
);
const created = fc.integer({ min: -1e13, max: 1e13 });
const entries: fc.Arbitrary<IndexEntry> = fc
  .tuple(fc.stringMatching(/^[a-z0-9-]{1,60}$/u), created)
  .chain(([name, at]) =>
    fc.record(
      {
        name: fc.constant(name),
        created: fc.constant(at),
        labels: fc.dictionary(fc.stringMatching(/^[a-z][a-z./]{0,70}$/u), text, { noNullPrototype: true, maxKeys: 5 }),
        keys: fc.array(fc.oneof(keys, fc.constant([name]), fc.constant([at])), { maxLength: 8 }),
      },
      { noNullPrototype: true },
    ),
  );

test('an entry decodes to its input, after any other entry', (t) => {
  const decoder = new EntryDecoder();
  fc.assert(
    fc.property(entries, (entry) => {
      const record = encodeEntry(entry, 'f');
      deepStrictEqual(decoder.decode(record), entry);
      deepStrictEqual(decoder.decode(Buffer.from(record)), entry, 'from shared text');
      return isEntryUnder(record, 'f') && !isEntryUnder(record, 'g');
    }),
    { numRuns },
  );
  t.end();
});

test('a truncated or extended record does not decode', (t) => {
  fc.assert(
    fc.property(entries, fc.nat(), (entry, at) => {
      const record = encodeEntry(entry, 'f');
      const decoder = new EntryDecoder();
      if (at % 2 === 0) decoder.decode(record);
      throws(() => decoder.decode(record.subarray(0, at % record.length)), EntryCorruptError);
      throws(() => decoder.decode(Buffer.concat([record, Buffer.of(at & 0xff)])), EntryCorruptError);
    }),
    { numRuns },
  );
  t.notOk(isEntryUnder(new Uint8Array(0), 'f'));
  t.end();
});

test('random bytes decode or throw EntryCorruptError', (t) => {
  const decoder = new EntryDecoder();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        decoder.decode(Buffer.from(bytes));
      } catch (error) {
        t.type(error, EntryCorruptError);
      }
    }),
    { numRuns },
  );
  t.end();
});

test('repeated contents of entries are stored once', (t) => {
  const decoder = new EntryDecoder();
  const of = (name: string, title: string): IndexEntry =>
    decoder.decode(
      encodeEntry(
        { name, created: 1, labels: { app: 'x', tier: 'y' }, keys: [[name], [1], [], [title], ['a', 'b']] },
        'f',
      ),
    );
  const [first, second] = [of('a', 'one'), of('b', 'two')];
  t.equal(first.labels, second.labels);
  t.equal(first.keys[4], second.keys[4]);
  t.end();
});

test('a decoder stays correct past the number of shared contents', (t) => {
  const decoder = new EntryDecoder();
  let wrong = 0;
  for (let number = 0; number < 20_000; number++) {
    const entry: IndexEntry = {
      name: `n${String(number)}`,
      created: number,
      labels: { id: String(number) },
      keys: [[`title ${String(number)}`], ['x', String(number % 7)], [number / 3]],
    };
    const decoded = decoder.decode(encodeEntry(entry, 'f'));
    if (JSON.stringify(decoded) !== JSON.stringify(entry)) wrong += 1;
  }
  t.equal(wrong, 0);
  t.end();
});

test('an invalid name and keys of two types are refused', (t) => {
  t.throws(() => encodeEntry({ name: '\u{1f600}', created: 0, labels: {}, keys: [] }, 'f'), RangeError);
  t.throws(() => encodeEntry({ name: 'x'.repeat(256), created: 0, labels: {}, keys: [] }, 'f'), RangeError);
  t.throws(() => encodeEntry({ name: 'a', created: 0, labels: {}, keys: [['x', 1]] }, 'f'), TypeError);
  t.end();
});
