import fc from 'fast-check';
import { test } from 'tap';

import { decodeJson, deepEqual } from '../../src/base/json.ts';

const limits = { depthMax: 128 };

function decode(text: string | Uint8Array) {
  return decodeJson(typeof text === 'string' ? Buffer.from(text) : text, limits);
}

function detailOf(text: string | Uint8Array): string {
  const decoded = decode(text);
  return decoded.ok ? 'accepted' : decoded.problem.detail;
}

/** JSON text with whitespace anywhere it may stand, and every character of a string perhaps escaped. */
const spaced = fc
  .jsonValue({ maxDepth: 6, stringUnit: 'binary' })
  .chain((value) =>
    fc
      .constantFrom(undefined, 1, '\t', '\r\n ')
      .map((indent) => ({ text: JSON.stringify(value, undefined, indent), value })),
  );

test('a valid text decodes to the same value as with JSON.parse', async (t) => {
  fc.assert(
    fc.property(spaced, ({ text }) => {
      fc.pre(!text.includes('"__proto__"'));
      const decoded = decode(text);
      return decoded.ok && JSON.stringify(decoded.value) === JSON.stringify(JSON.parse(text));
    }),
  );
  t.pass();
});

test('what JSON.parse refuses is refused, with its place', async (t) => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: fc.constantFrom(...Array.from('{}[]",:0 1-e.tru\\n')) }),
      ),
      (text) => {
        fc.pre(text !== '' && !isJson(text));
        const decoded = decode(text);
        return (
          !decoded.ok &&
          typeof decoded.problem.detail === 'string' &&
          decoded.problem.detail !== 'the body is not valid JSON'
        );
      },
    ),
    { numRuns: 2_000 },
  );
  t.pass();
});

test('a duplicate key of an object is refused at any place, escaped or not', async (t) => {
  const key = fc.string().filter((text) => text !== '__proto__');
  fc.assert(
    fc.property(key, fc.jsonValue({ maxDepth: 2 }), fc.nat(3), (name, value, depth) => {
      const member = JSON.stringify(name);
      const escaped = `"${Array.from(name)
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('')}"`;
      const inner = `{${member}:${JSON.stringify(value)},"other":1,${escaped}:2}`;
      fc.pre(name !== 'other' && !JSON.stringify(value).includes('__proto__'));
      const decoded = decode('[{"a":'.repeat(depth) + inner + '}]'.repeat(depth));
      return !decoded.ok && decoded.problem.detail.includes('appears twice');
    }),
  );
  t.match(detailOf('{"a":{"b~/c":1,"b~/c":2}}'), '(/a/b~0~1c), at byte 15');
});

test('colons and quotes within strings are no keys', async (t) => {
  t.equal(detailOf('{"a:b":"c:d","e\\"":":\\\\","f":[":"]}'), 'accepted');
});

test('"__proto__" is refused as a key, escaped too, and free as a value', async (t) => {
  t.match(detailOf('{"a":[{"__proto__":1}]}'), '(/a/0/__proto__)');
  t.match(detailOf('{"\\u005f_proto__":1}'), 'not allowed');
  t.equal(detailOf('{"a":"__proto__","constructor":1}'), 'accepted');
});

test('nesting is read up to the bound and refused past it', async (t) => {
  t.equal(detailOf('['.repeat(128) + ']'.repeat(128)), 'accepted');
  t.match(decode('['.repeat(129) + ']'.repeat(129)), { ok: false, problem: { offset: 128 } });
  t.match(detailOf('{"a":'.repeat(100_000)), 'deeper than 128');
});

test('malformed UTF-8 is refused, and the replacement character itself is not', async (t) => {
  t.equal(detailOf(Buffer.from([0x22, 0xff, 0x22])), 'the body is not valid UTF-8');
  t.equal(detailOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 'the body is not valid UTF-8', 'a surrogate in UTF-8');
  t.equal(detailOf(Buffer.from([0x22, 0xc0, 0x80, 0x22])), 'the body is not valid UTF-8', 'an overlong NUL');
  t.equal(detailOf('"\ufffd"'), 'accepted');
  t.equal(detailOf(Buffer.concat([Buffer.from('"\ufffd'), Buffer.from([0x80, 0x22])])), 'the body is not valid UTF-8');
});

test('what JSON allows in strings is kept: NUL, escapes, half a surrogate pair', async (t) => {
  t.match(decode('"\\u0000\\ud800\\n\\u2028"'), { ok: true, value: '\0\ud800\n\u2028' });
});

test('a number too large for a double is refused, as it would come back as null', async (t) => {
  t.match(detailOf('{"spec":{"size":1e999}}'), 'the number at /spec/size is too large, at byte 16');
  t.equal(detailOf('1e308'), 'accepted');
});

test('an empty body, a byte order mark and a second value are refused', async (t) => {
  t.equal(detailOf(''), 'the body is empty');
  t.match(detailOf('\ufeff{}'), 'expected a value');
  t.match(detailOf('{} {}'), 'expected the end of the body, found "{", at byte 3');
});

test('equality disregards the order of members and nothing else', async (t) => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 3 }),
      fc.jsonValue({ maxDepth: 3 }),
      (left, right) =>
        deepEqual(left, structuredClone(left)) &&
        deepEqual(left, reversed(left)) &&
        deepEqual(left, right) === (canonical(left) === canonical(right)),
    ),
  );
  t.notOk(deepEqual({ a: undefined }, { b: undefined }));
  t.notOk(deepEqual([], {}));
  t.notOk(deepEqual({}, []));
  t.notOk(deepEqual(null, {}));
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([member, inner]) => [member, reversed(inner)]),
  );
}

/** `-0` and `0` are one number to JSON. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_member, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}
