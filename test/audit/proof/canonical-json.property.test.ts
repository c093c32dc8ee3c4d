import fc from 'fast-check';
import { test } from 'tap';

import { CanonicalJson, FormError } from '../../../src/audit/proof/canonical-json.ts';

/** The value that is read from the whole text; undefined if the text is refused. */
function valueIn(text: string, read: (json: CanonicalJson) => unknown): unknown {
  const json = new CanonicalJson(text);
  try {
    const value = read(json);
    return json.isAtEnd ? value : undefined;
  } catch (error) {
    if (error instanceof FormError) return undefined;
    throw error;
  }
}

/** The value if the text is JSON as `JSON.stringify` writes it. */
function expectedIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

const pieces = fc.constantFrom(
  '\\',
  '"',
  'u',
  '00',
  '0',
  '1',
  '8',
  'b',
  'B',
  'f',
  'n',
  '/',
  '\n',
  '\x7f',
  'é',
  '\u2028',
);

test('exactly the strings that JSON.stringify writes are read', async () => {
  const written = fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text));
  const composed = fc.array(pieces, { maxLength: 12 }).map((parts) => `"${parts.join('')}"`);
  fc.assert(
    fc.property(fc.oneof(written, composed), (text) => {
      const found = valueIn(text, (json) => json.string());
      return found === expectedIn(text);
    }),
    { numRuns: 5_000 },
  );
});

test('exactly the counts that JSON.stringify writes are read', async () => {
  const written = fc.maxSafeNat().map(String);
  const composed = fc.array(fc.constantFrom('0', '1', '9', '-', '.', 'e', ' '), { maxLength: 20 });
  fc.assert(
    fc.property(
      fc.oneof(
        written,
        composed.map((parts) => parts.join('')),
      ),
      (text) => {
        const value = expectedIn(text);
        const isCount = Number.isSafeInteger(value) && Number(value) >= 0;
        return valueIn(text, (json) => json.count()) === (isCount ? value : undefined);
      },
    ),
    { numRuns: 5_000 },
  );
});

test('strings of any length and number of escapes are read', async (t) => {
  for (const text of [
    '\n'.repeat(3_000_000),
    `${'x'.repeat(511)}\x01`.repeat(4_096),
    '\n'.repeat(512),
    '\n'.repeat(1_024),
  ])
    t.ok(valueIn(JSON.stringify(text), (json) => json.string()) === text, String(text.length));
});
