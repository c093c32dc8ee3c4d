import fc from 'fast-check';
import { test } from 'tap';
import { parse } from 'yaml';

import { YamlWriter } from '../../../src/http/representation/yaml-writer.ts';

/** `sizes`: how many bytes each piece has, over and over. */
function yamlOf(value: unknown, sizes: readonly number[] = [1_000_000]): string {
  const json = Buffer.from(JSON.stringify(value));
  const writer = new YamlWriter();
  const parts: Buffer[] = [];
  for (let at = 0, piece = 0; at < json.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? 1;
    parts.push(writer.write(json.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...parts, writer.end()]).toString('utf8');
}

test('an object is written as people write YAML', async (t) => {
  const text = yamlOf({
    kind: 'Widget',
    metadata: { name: 'w', labels: {}, finalizers: [] },
    spec: { title: 'Hello world', size: 3, on: true, none: null, script: 'a\nb\n', when: '2026-01-01', word: 'yes' },
    items: [{ a: 1, b: [[1, 2], []] }, 'x'],
  });
  t.equal(
    text,
    `kind: Widget
metadata:
  name: w
  labels: {}
  finalizers: []
spec:
  title: Hello world
  size: 3
  "on": true
  none: null
  script: |
    a
    b
  when: "2026-01-01"
  word: "yes"
items:
  - a: 1
    b:
      - - 1
        - 2
      - []
  - x
`,
  );
});

const scalar = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom(
    '',
    ' ',
    '~',
    'e9',
    'null',
    'No',
    '1',
    '1e3',
    '0x1',
    '.inf',
    '- a',
    'a: b',
    'a #b',
    'a:',
    '#',
    '&a',
    '*a',
  ),
  fc.constantFrom('a\n', 'a\n\n', '\na', 'a\n b', 'a\n\nb', 'a\nb\n\n\n', '\u0085', 'a\u2028b\n', 'x'.repeat(1_500)),
  fc
    .array(fc.constantFrom('a', ' ', '\n', '\t', ':', '#', '-', '"', "'", '\\', '\u007f', '😀'))
    .map((all) => all.join('')),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.constantFrom(true, false, null, 0, 1e21, 1e-7),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(scalar.map(String), tie('value')), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries.filter(([key]) => key !== '__proto__' && key !== '<<'))),
  ),
}));

/** The value inside of so many arrays and objects. */
function nested(inner: unknown, depth: number): unknown {
  let outer = inner;
  for (let level = 0; level < depth; level += 1) outer = level % 2 === 0 ? [outer, 'x'] : { 'a: key': outer, b: 1 };
  return outer;
}

test('the deepest values are written as JSON, and no value grows without a bound', async (t) => {
  t.match(yamlOf(nested({ a: [1, null] }, 20)), /- \{"a: key": /u);
  const lines = 'a\n'.repeat(50_000);
  const ones = Array.from({ length: 50_000 }, () => 1);
  for (const value of [lines, ones])
    for (const depth of [0, 8, 11, 12, 13, 100]) {
      const drawn = nested(value, depth);
      const text = yamlOf(drawn);
      const growth = text.length / JSON.stringify(drawn).length;
      t.ok(growth < 16, `${typeof value} ${String(depth)}: ${String(growth)}`);
      t.strictSame(parse(text), drawn);
    }
});

test('a reader of YAML 1.2 and one of 1.1 get the value back, wherever its JSON was cut', async (t) => {
  fc.assert(
    fc.property(
      value,
      fc.nat(16),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      (inner, depth, sizes) => {
        const drawn = nested(inner, depth);
        const wanted: unknown = JSON.parse(JSON.stringify(drawn));
        const text = yamlOf(drawn, sizes);
        t.equal(text, yamlOf(drawn));
        t.strictSame(parse(text), wanted);
        t.strictSame(parse(text, { version: '1.1' }), wanted);
      },
    ),
    { numRuns: 400 },
  );
});

test('bytes that no JSON has are passed', async (t) => {
  const writer = new YamlWriter();
  const control = Array.from({ length: 32 }, (_byte, code) => code);
  t.ok(writer.write(Buffer.from([...control, 0x2c])).length > 0);
  t.ok(writer.end());
});
