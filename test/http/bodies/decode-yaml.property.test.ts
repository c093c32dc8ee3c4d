import fc from 'fast-check';
import { test } from 'tap';
import { stringify, YAMLError } from 'yaml';

import { decodeJson, deepEqual } from '../../../src/base/json.ts';
import { decodeYaml } from '../../../src/http/body/decode-yaml.ts';

/** `PBT_RUNS` makes it longer. */
const numRuns = Number(process.env['PBT_RUNS'] ?? 500);
const bounds = { depthMax: 128, lengthMax: 20_000 };
const decoded = (text: string | Uint8Array) => decodeYaml(Buffer.from(text), bounds);

const value = fc.jsonValue({ maxDepth: 4, noUnicodeString: false }).filter((each) => {
  const text = JSON.stringify(each);
  return !text.includes('__proto__') && !text.includes('-0');
});

test('JSON is read as YAML with the same result', async () => {
  fc.assert(
    fc.property(value, (each) => {
      const text = JSON.stringify(each);
      const json = decodeJson(Buffer.from(text), { depthMax: 128 });
      const read = decoded(text);
      return read.ok && json.ok && deepEqual(read.value, json.value);
    }),
    { numRuns },
  );
});

test('what the YAML library writes is read back', async () => {
  fc.assert(
    fc.property(value, (each) => {
      const text = stringify(each, { version: '1.2', aliasDuplicateObjects: false });
      const read = decoded(text);
      return read.ok && deepEqual(read.value, each);
    }),
    { numRuns },
  );
});

const piece = fc.constantFrom(
  ...['a', 'b', '1', '~', '"', "'", ':', ': ', '- ', '? ', '\n', '\n  ', ' ', '\t', '#', '&a ', '*a', '!', '!!str '],
  ...['!!binary ', '{', '}', '[', ']', ',', '|', '>', '%YAML 1.1\n', '---\n', '...\n', '<<', '.nan', '0x', '\\', '@'],
  ...['\ufeff', '\0', '\r', '\u2028', '__proto__', 'é', '\u{1f600}', 'null', 'true', '=', '-', '+1e9'],
);

test('no text is an exception: it is a value that JSON can carry, or refused with a reason', async () => {
  // Not by assertions of tap: their titles and differences would hold any text.
  const check = (text: string | Uint8Array): boolean => {
    const read = decoded(text);
    if (!read.ok) return /\S/u.test(read.detail);
    const again = decodeJson(Buffer.from(JSON.stringify(read.value)), { depthMax: 128 });
    return again.ok && deepEqual(again.value, read.value);
  };
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
      check,
    ),
    {
      numRuns: 4 * numRuns,
    },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), check), { numRuns });
});

test('the depth and the length with aliases are bounded at n and n + 1', async (t) => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  t.equal(decoded(nested(128)).ok, true);
  t.match(decoded(nested(129)), { ok: false, detail: 'the body nests deeper than 128 levels' });
  // 1 for the object and each value, 1 for each key.
  const text = (length: number): string => `a: ${'x'.repeat(length - 3)}`;
  t.equal(decoded(text(20_000)).ok, true);
  t.match(decoded(text(20_001)), { ok: false, detail: /more than 20000 characters/u });
});

test('reading ends at the first fault: the library makes no error for any other', async (t) => {
  let made = 0;
  // Each error of the library sets its code.
  Object.defineProperty(YAMLError.prototype, 'code', { configurable: true, set: () => (made += 1) });
  t.teardown(() => Reflect.deleteProperty(YAMLError.prototype, 'code'));
  const faulty: readonly (readonly [text: string, reason: RegExp])[] = [
    [`[${','.repeat(2_000)}]`, /^Unexpected , in flow sequence, at line 1, column 3$/u],
    ['- @\n'.repeat(2_000), /reserved character @, at line 1, column 3$/u],
    [`- {a: [\n  "${'\\q'.repeat(2_000)}"]}`, /^Invalid escape sequence \\q, at line 2, column 4$/u],
    ['[ ' + '] '.repeat(2_000), /Unexpected flow-seq-end token/u],
    ['%FOO\n'.repeat(2_000), /./u],
    ['...\n'.repeat(2_000), /./u],
    ['--- a\n'.repeat(2_000), /^the body contains several documents, at line 2, column 1$/u],
    ['- !!js/function x\n'.repeat(2_000), /^Unresolved tag/u],
    ['- *\n'.repeat(2_000), /^Alias cannot be an empty string, at line 1/u],
  ];
  for (const [text, reason] of faulty) {
    const read = decoded(text);
    t.match(read, { ok: false, detail: reason }, text.slice(0, 20));
  }
  t.equal(made, 0);
});
