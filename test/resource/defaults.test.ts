import fc from 'fast-check';
import { test } from 'tap';

import { deepEqual } from '../../src/base/json.ts';
import { objectBytesMax } from '../../src/limits/objects.ts';
import { compileSchema, type CompiledSchema } from '../../src/resource/schema/schema.ts';

function compiled(schema: unknown): CompiledSchema {
  const result = compileSchema(schema);
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result;
}

function problemsOf(schema: unknown): string {
  const result = compileSchema(schema);
  return result.ok ? '' : result.problems.join('; ');
}

const spec = (schema: object, more: object = {}): object => ({
  type: 'object',
  properties: { spec: schema },
  ...more,
});

test('a default applies where the parent exists and the member is absent', async (t) => {
  const { fillDefaults } = compiled(
    spec({
      type: 'object',
      properties: {
        size: { type: 'integer', default: 3 },
        flag: { type: 'boolean', default: false },
        limits: { type: 'object', properties: { cpu: { type: 'string', default: '1' } } },
        address: { type: 'object', default: { city: 'Bern' }, properties: { zip: { type: 'integer', default: 3000 } } },
      },
    }),
  );
  const address = { city: 'Bern', zip: 3000 };
  t.strictSame(fillDefaults({ spec: {} }), { spec: { size: 3, flag: false, address } });
  t.strictSame(fillDefaults({ spec: { size: 0, limits: {}, address: {} } }), {
    spec: { size: 0, limits: { cpu: '1' }, address: { zip: 3000 }, flag: false },
  });
  t.strictSame(fillDefaults({}), {}, 'spec itself has no default');
  t.strictSame(fillDefaults({ spec: 'text' }), { spec: 'text' }, 'a value of another type is left to validation');
});

test('a top-level member can have a default, and with it those of its own members', async (t) => {
  const { fillDefaults } = compiled(spec({ type: 'object', default: {}, properties: { size: { default: 1 } } }));
  t.strictSame(fillDefaults({}), { spec: { size: 1 } });
  t.strictSame(fillDefaults({ status: {} }), { status: {}, spec: { size: 1 } });
});

test('null is replaced by the default, unless the schema accepts null', async (t) => {
  const { fillDefaults } = compiled(
    spec({
      type: 'object',
      properties: {
        plain: { type: 'string', default: 'a' },
        nullable: { type: ['string', 'null'], default: 'a' },
        open: { default: 'a' },
        listed: { enum: ['a', null], default: 'a' },
        chosen: { enum: ['a', 'b'], default: 'a' },
        without: { type: 'string' },
        items: { type: 'array', items: { type: 'integer', default: 7 } },
      },
      additionalProperties: { type: 'integer', default: 8 },
    }),
  );
  const nulls = { plain: null, nullable: null, open: null, listed: null, chosen: null, without: null };
  t.strictSame(fillDefaults({ spec: { ...nulls, items: [null, 1], other: null } }), {
    spec: {
      ...nulls,
      plain: 'a',
      chosen: 'a',
      items: [7, 1],
      other: 8,
    },
  });
});

test('defaults apply in items, maps, patterns, references and all branches of allOf', async (t) => {
  const { fillDefaults } = compiled(
    spec(
      {
        type: 'object',
        properties: {
          list: { type: 'array', items: { $ref: '#/$defs/part' } },
          pair: {
            minItems: 2,
            type: 'array',
            prefixItems: [true, { $ref: '#/$defs/part' }],
            items: false,
          },
          map: {
            type: 'object',
            patternProperties: { '^x-': {} },
            additionalProperties: { $ref: '#/$defs/part' },
          },
          some: { type: 'object', patternProperties: { '^p': { properties: { b: { default: 2 } } } } },
          both: { allOf: [{ properties: { a: { default: 1 } } }, { $ref: '#/$defs/part' }] },
          referred: { $ref: '#/$defs/size' },
        },
      },
      {
        $defs: {
          part: { type: 'object', properties: { n: { type: 'integer', default: 1 } } },
          size: { type: 'integer', default: 5 },
        },
      },
    ),
  );
  t.strictSame(
    fillDefaults({
      spec: {
        list: [{}, { n: 2 }],
        pair: [{}, {}],
        map: { a: {}, 'x-b': {} },
        some: { p1: {}, q: {} },
        both: {},
      },
    }),
    {
      spec: {
        list: [{ n: 1 }, { n: 2 }],
        pair: [{}, { n: 1 }],
        map: { a: { n: 1 }, 'x-b': {} },
        some: { p1: { b: 2 }, q: {} },
        both: { a: 1, n: 1 },
        referred: 5,
      },
    },
  );
});

test('a recursive schema fills in as deep as the object is', async (t) => {
  const node = { type: 'object', properties: { depth: { default: 0 }, child: { $ref: '#/$defs/node' } } };
  const { fillDefaults } = compiled(spec({ $ref: '#/$defs/node' }, { $defs: { node } }));
  t.strictSame(fillDefaults({ spec: { child: { child: {} } } }), {
    spec: { depth: 0, child: { depth: 0, child: { depth: 0 } } },
  });
});

test('an object without missing members, and a type without defaults, keep the reference', async (t) => {
  const without = compiled(spec({ type: 'object', properties: { a: {} } }));
  const object = { spec: {} };
  t.equal(without.fillDefaults(object), object);
  const { fillDefaults } = compiled(spec({ properties: { a: { default: 1 }, list: { items: { default: 2 } } } }));
  const whole = { spec: { a: 3, list: [1, {}] } };
  t.equal(fillDefaults(whole), whole);
});

test('a filled-in default cannot be changed through an object', async (t) => {
  const { fillDefaults } = compiled(spec({ properties: { a: { default: { list: [1] } } } }));
  const filled = fillDefaults({ spec: {} }) as { spec: { a: { list: number[] } } };
  t.throws(() => filled.spec.a.list.push(2), TypeError);
  t.strictSame(fillDefaults({ spec: {} }), { spec: { a: { list: [1] } } });
});

test('defaults that would add more than the size of an object are not filled in', async (t) => {
  const text = 'x'.repeat(1_000);
  const { fillDefaults } = compiled(spec({ type: 'array', items: { properties: { text: { default: text } } } }));
  const countMax = Math.floor(objectBytesMax / (text.length + 2 + 'text'.length + 4));
  const items = (count: number): object => ({ spec: Array.from({ length: count }, () => ({})) });
  t.ok(fillDefaults(items(countMax) as never));
  t.equal(fillDefaults(items(countMax + 1) as never), undefined);
  t.equal(fillDefaults(items(300_000) as never), undefined, 'soon, whatever the object asks for');
});

test('a default without effect, or one that its own schema refuses, is refused with its place', async (t) => {
  const table: readonly (readonly [object, RegExp])[] = [
    [{ default: {} }, /^default: the top level describes the whole object/],
    [{ allOf: [{ default: {} }] }, /^allOf\[0\]\.default: the top level/],
    [
      { allOf: [{ properties: { metadata: { properties: { labels: { default: {} } } } } }] },
      /^allOf\[0\]\.properties\.metadata: cannot have a default/,
    ],
    [{ properties: { 0: { default: 1 } } }, /^properties\.0: cannot have a default/],
    [spec({ anyOf: [{ default: 1 }] }), /^properties\.spec\.anyOf\[0\]\.default: has no effect below anyOf/],
    [spec({ not: { items: { default: 1 } } }), /^properties\.spec\.not\.items\.default: has no effect below not/],
    [
      spec({ oneOf: [{ $ref: '#/$defs/a' }] }, { $defs: { a: { properties: { b: { default: 1 } } } } }),
      /^\$defs\.a\.properties\.b\.default: has no effect below oneOf/,
    ],
    [spec({ if: true, then: { default: 1 } }), /below then/],
    [spec({ contains: { default: 1 } }), /below contains/],
    [spec({ dependentSchemas: { a: { default: 1 } } }), /below dependentSchemas/],
    [spec({ type: 'integer', default: 'a' }), /^properties\.spec\.default: must be of type integer; .* is "a"$/],
    [
      spec({ type: 'object', default: {}, required: ['a'] }),
      /^properties\.spec\.default: \/a is required; the default with its own defaults is \{\}$/,
    ],
    [
      spec({ type: 'object', default: {}, properties: { a: { type: 'string', default: 1 } } }),
      /properties\.spec\.default: \/a must be of type string; .* is \{"a":1\}/,
    ],
    [spec({ $ref: '#/$defs/a', default: 2 }, { $defs: { a: { maximum: 1 } } }), /<= 1/],
    [
      spec(
        { $ref: '#/$defs/node' },
        { $defs: { node: { properties: { child: { $ref: '#/$defs/node', default: {} } } } } },
      ),
      /child\.default: contains itself without end/,
    ],
  ];
  for (const [schema, problem] of table) t.match(problemsOf(schema), problem, JSON.stringify(schema));
});

test('definitions that nothing refers to, and defaults of recursive schemas that end, are accepted', async (t) => {
  t.equal(problemsOf(spec({}, { $defs: { unused: { anyOf: [{ default: 1 }] } } })), '');
  const node = {
    type: ['object', 'null'],
    properties: { child: { $ref: '#/$defs/node', default: null }, size: { type: 'integer', default: 1 } },
  };
  const { fillDefaults } = compiled(spec({ $ref: '#/$defs/node', default: {} }, { $defs: { node } }));
  t.strictSame(fillDefaults({}), { spec: { child: null, size: 1 } });
});

test('filling in is idempotent, changes no present value, and never its input', async (t) => {
  const { fillDefaults } = compiled(
    spec(
      { $ref: '#/$defs/node' },
      {
        $defs: {
          node: {
            properties: {
              a: { type: 'integer', default: 1 },
              b: { type: 'object', default: {}, properties: { a: { default: 'x' } } },
              c: { type: 'array', items: { $ref: '#/$defs/node' } },
            },
            additionalProperties: { $ref: '#/$defs/node' },
          },
        },
      },
    ),
  );
  const { node } = fc.letrec((tie) => ({
    leaf: fc.constantFrom<unknown>(0, 'x', true, null),
    node: fc.oneof(
      { depthSize: 'small' },
      tie('leaf'),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('node'), { maxKeys: 4 }),
      fc.array(tie('node'), { maxLength: 3 }),
    ),
  }));
  fc.assert(
    fc.property(node, (drawn) => {
      const before = structuredClone(drawn);
      const filled = fillDefaults({ spec: drawn })!;
      t.ok(deepEqual(drawn, before));
      const again = fillDefaults(filled);
      if (again !== filled) throw new Error(`fills in twice: ${JSON.stringify(filled)}`);
      if (!isKept(drawn, filled['spec'])) throw new Error(`changed: ${JSON.stringify(filled)}`);
    }),
  );
});

/** Whether all values other than null are still there. */
function isKept(before: unknown, after: unknown): boolean {
  if (before === null) return true;
  if (typeof before !== 'object') return before === after;
  if (typeof after !== 'object' || after === null) return false;
  const kept = new Map(Object.entries(after));
  return Object.entries(before).every(([member, value]) => isKept(value, kept.get(member)));
}
