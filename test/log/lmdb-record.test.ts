import fc from 'fast-check';
import { test } from 'tap';

import { decodeRecord, encodeRecord } from '../../src/log/lmdb/lmdb-record.ts';
import { LogCorruptError, logPosition, streamName } from '../../src/log/log.ts';

const bytes = fc.uint8Array({ maxLength: 200 });
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const records = fc.record({
  stream: text.map((rest) => streamName(`object:x${rest.replaceAll('\0', '')}`)),
  event: fc.record({ id: fc.uuid(), type: text, data: bytes, metadata: bytes }),
  place: fc.record({
    position: fc.integer({ min: 1, max: 2 ** 48 - 1 }),
    revision: fc.nat(2 ** 40),
    endsAppend: fc.boolean(),
  }),
});

test('a record decodes to its input', (t) => {
  fc.assert(
    fc.property(records, ({ stream, event, place }) => {
      const decoded = decodeRecord(encodeRecord(stream, event, place), place.position);
      const data = new Uint8Array(decoded.data);
      const metadata = new Uint8Array(decoded.metadata);
      const { revision, endsAppend } = place;
      const position = logPosition(BigInt(place.position));
      t.strictSame({ ...decoded, data, metadata }, { ...event, stream, revision, position, endsAppend });
    }),
    { seed: 1 },
  );
  t.end();
});

test('a record with any bit flipped, cut short, or at another place does not decode', (t) => {
  fc.assert(
    fc.property(records, fc.nat(), fc.nat(7), ({ stream, event, place }, at, bit) => {
      const record = encodeRecord(stream, event, place);
      t.throws(() => decodeRecord(record, place.position + 1), LogCorruptError);
      t.throws(() => decodeRecord(record.subarray(0, at % record.length), place.position), LogCorruptError);
      const flipped = at % record.length;
      record[flipped] = (record[flipped] ?? 0) ^ (1 << bit);
      t.throws(() => decodeRecord(record, place.position), LogCorruptError);
    }),
    { seed: 2 },
  );
  t.end();
});

test('an id and a type hold up to 255 bytes', (t) => {
  const place = { position: 1, revision: 0, endsAppend: true };
  const event = { id: 'i'.repeat(255), type: 't'.repeat(255), data: new Uint8Array(), metadata: new Uint8Array() };
  t.equal(decodeRecord(encodeRecord(streamName('a:b'), event, place), 1).type.length, 255);
  t.throws(() => encodeRecord(streamName('a:b'), { ...event, id: 'i'.repeat(256) }, place), RangeError);
  t.throws(() => encodeRecord(streamName('a:b'), { ...event, type: 't'.repeat(256) }, place), RangeError);
  t.end();
});
