import { test } from 'tap';

import { schemaBytesMax, schemaPartsMax, schemaPropertiesMax } from '../../src/limits/objects.ts';
import { validationErrorsMax } from '../../src/limits/requests.ts';
import { patternProblem } from '../../src/resource/schema/safe-pattern.ts';
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

const spec = (schema: object): object => ({ type: 'object', properties: { spec: schema } });

const widget = compiled({
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['title'],
      additionalProperties: false,
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 10 },
        size: { type: 'integer', minimum: 0 },
        color: { enum: ['red', 'green'] },
        tags: { type: 'array', uniqueItems: true, items: { type: ['string', 'object'] } },
        'a/b~c': { type: 'boolean' },
        when: { type: 'string', format: 'date-time' },
        target: {
          anyOf: [
            { type: 'string' },
            {
              type: 'object',
              required: ['name'],
              additionalProperties: false,
              properties: { name: { type: 'string' } },
            },
          ],
        },
      },
    },
    status: { type: 'object' },
  },
});

test('every broken rule is one entry at the member that must change', async (t) => {
  const table: readonly (readonly [Record<string, unknown>, string, RegExp])[] = [
    [{}, '/spec', /is required/],
    [{ spec: {} }, '/spec/title', /is required/],
    [{ spec: { title: '' } }, '/spec/title', /fewer than 1 char/],
    [{ spec: { title: 'x'.repeat(11) } }, '/spec/title', /more than 10 char/],
    [{ spec: { title: 3 } }, '/spec/title', /must be of type string/],
    [{ spec: { title: 'x', size: -1 } }, '/spec/size', />= 0/],
    [{ spec: { title: 'x', size: '1' } }, '/spec/size', /must be of type integer/],
    [{ spec: { title: 'x', color: 'blue' } }, '/spec/color', /one of "red", "green"/],
    [{ spec: { title: 'x', tags: ['a', 'a'] } }, '/spec/tags', /equal items/],
    [
      {
        spec: {
          title: 'x',
          tags: [
            { a: 1, b: 2 },
            { b: 2, a: 1 },
          ],
        },
      },
      '/spec/tags',
      /equal items/,
    ],
    [{ spec: { title: 'x', tags: [1] } }, '/spec/tags/0', /type string or object/],
    [{ spec: { title: 'x', 'a/b~c': 1 } }, '/spec/a~1b~0c', /boolean/],
    [{ spec: { title: 'x', 'n/o~': 1 } }, '/spec/n~1o~0', /is not known/],
    [{ spec: { title: 'x', when: 'yesterday' } }, '/spec/when', /date-time/],
    [
      { spec: { title: 'x', target: { nam: 1 } } },
      '/spec/target',
      /one of the allowed forms: must be of type string; or \/name is required; or \/nam is not known/,
    ],
    [{ spec: { title: 'x' }, extra: 1 }, '/extra', /is not known$/],
    [{ spec: { title: 'x' }, spce: 1 }, '/spce', /is not known; did you mean "spec"\?$/],
  ];
  for (const [object, pointer, detail] of table) {
    const violations = widget.violations(object);
    t.match(violations, [{ pointer, detail }], JSON.stringify(object));
    t.equal(violations.length, 1, JSON.stringify(object));
  }
  t.same(
    widget
      .violations({ spec: { size: -1 } })
      .map(({ pointer }) => pointer)
      .sort(),
    ['/spec/size', '/spec/title'],
  );
});

test("a valid object has no violations, with the platform's members and without", async (t) => {
  t.same(
    widget.violations({ spec: { title: 'x', tags: ['a', 'b', { a: 1 }], target: { name: 'n' } }, status: { any: 1 } }),
    [],
  );
  t.same(widget.violations({ apiVersion: 'a/v1', kind: 'W', metadata: { name: 'x' }, spec: { title: 'x' } }), []);
});

test('an inherited member does not count as present', async (t) => {
  t.match(compiled(spec({ type: 'object', required: ['toString'] })).violations({ spec: {} }), [
    { pointer: '/spec/toString' },
  ]);
});

test('violations are bounded, and an object with very many values answers its first one', async (t) => {
  const { violations } = compiled(spec({ type: 'array', items: { type: 'string' } }));
  t.equal(violations({ spec: Array.from({ length: validationErrorsMax + 1 }, () => 1) }).length, validationErrorsMax);
  t.equal(violations({ spec: Array.from({ length: 20_000 }, () => 1) }).length, 1);
});

test('validation neither changes nor completes an object', async (t) => {
  const { violations, prune } = compiled(
    spec({
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'string', default: 'filled' }, n: { type: 'integer' } },
    }),
  );
  const object = Object.freeze({ spec: Object.freeze({ n: '1', more: true }) });
  violations(object);
  t.same(prune(object).object, { spec: { n: '1' } });
  t.same(object, { spec: { n: '1', more: true } });
});

test('prune drops the members that validation refuses as unknown, and returns their names', async (t) => {
  const { prune } = compiled({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        additionalProperties: false,
        properties: {
          list: { type: 'array', items: { type: 'object', additionalProperties: false, properties: { a: {} } } },
          open: { type: 'object' },
        },
      },
    },
  });
  const { object, unknown } = prune({
    spec: { list: [{ a: 1, b: 2 }, { c: 3 }], open: { kept: 1 }, gone: 1 },
    other: {},
  });
  t.same(object, { spec: { list: [{ a: 1 }, {}], open: { kept: 1 } } });
  t.same([...unknown].sort(), ['/other', '/spec/gone', '/spec/list/0/b', '/spec/list/1/c']);
  t.same(prune({ spec: {} }), { object: { spec: {} }, unknown: [] });
});

test('prune does not guess the intended branch of a choice', async (t) => {
  const branch = (name: string): object => ({
    type: 'object',
    additionalProperties: false,
    properties: { [name]: {} },
  });
  const { prune } = compiled(spec({ oneOf: [branch('a'), branch('b')] }));
  t.same(prune({ spec: { a: 1, x: 1 } }), { object: { spec: { a: 1, x: 1 } }, unknown: [] });
});

test('unknown members at the top are refused unless the schema says otherwise', async (t) => {
  t.match(compiled({ properties: {} }).violations({ a: 1 }), [{ pointer: '/a' }]);
  t.same(compiled({ additionalProperties: true }).violations({ a: 1 }), []);
  t.match(compiled({ allOf: [{ properties: { a: {} } }] }).violations({ a: 1, b: 1 }), [{ pointer: '/b' }]);
  t.match(compiled({ $ref: '#/$defs/w', $defs: { w: { properties: { a: {} } } } }).violations({ a: 1, b: 1 }), [
    { pointer: '/b' },
  ]);
});

test('an unusable schema is refused with its violation', async (t) => {
  const circular: Record<string, unknown> = {};
  circular['properties'] = circular;
  const table: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /must be a JSON Schema object/],
    [null, /must be a JSON Schema object/],
    [[], /must be a JSON Schema object/],
    ['x', /must be a JSON Schema object/],
    [circular, /circular/i],
    [{ properties: { spec: () => true } }, /function, which JSON cannot represent/],
    [{ properties: { spec: undefined } }, /undefined, which JSON cannot represent/],
    [{ description: 'x'.repeat(schemaBytesMax) }, /at most 262144 bytes/],
    [{ type: 'array' }, /type: must be "object"/],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, /\$schema: must be/],
    [{ properties: { metadata: {} } }, /properties\.metadata: must not be declared/],
    [spec({ type: 'strnig' }), /^properties\.spec\.type: "strnig" is not a type of .*; did you mean "string"\?$/],
    [
      spec({ anyOf: [{ maxLength: '3' }] }),
      /^properties\.spec\.anyOf\[0\]\.maxLength: must be of type integer, is "3"$/,
    ],
    [spec({ tpye: 'string' }), /^properties\.spec\.tpye: is not a keyword of JSON Schema; did you mean "type"\?$/],
    [
      spec({ properties: { a: { wholly: 'other' } } }),
      /^properties\.spec\.properties\.a\.wholly: is not a keyword of JSON Schema$/,
    ],
    [spec({ tpye: 'x', required: 'y' }), /tpye: .*properties\.spec\.required: must be of type array, is "y"/],
    [spec({ $ref: 'https://example.com/other.json' }), /properties\.spec\.\$ref: must stay inside/],
    [spec({ items: { $ref: 'other.json' } }), /properties\.spec\.items\.\$ref: must stay inside/],
    [
      spec({ $ref: '#/$defs/missing' }),
      /^properties\.spec\.\$ref: "#\/\$defs\/missing" does not resolve within the schema$/,
    ],
    [spec({ $id: 'https://example.com/a' }), /\$id: is allowed at the top level/],
    [spec({ pattern: '(' }), /is not a regular expression/],
    [spec({ pattern: '^(a+)+$' }), /exponential/],
    [spec({ patternProperties: { '^(a*)*$': {} } }), /patternProperties: .*exponential/],
    [spec({ format: 'no-such' }), /^properties\.spec\.format: "no-such" is not a known format$/],
    [spec({ format: 'datetime' }), /; did you mean "date-time"\?$/],
  ];
  for (const [schema, problem] of table) t.match(problemsOf(schema), problem);
});

test("extension keywords, a schema's own id and OpenAPI's extras are no problem", async (t) => {
  const schema = {
    $id: 'https://example.com/w',
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    properties: { spec: { 'x-order': 1, example: {} } },
  };
  t.equal(problemsOf(schema), '');
  t.equal(problemsOf(schema), '', 'the same id twice');
});

test('a reference that leads back to itself refuses the object and harms nothing', async (t) => {
  const { violations } = compiled({
    properties: { spec: { $ref: '#/$defs/a' } },
    $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } },
  });
  t.match(violations({ spec: 1 }), [{ pointer: '', detail: /cannot be validated/ }]);
});

test('the errors of an object with thousands of mistakes are explained in little time', async (t) => {
  const names = Array.from({ length: 100 }, (_, index) => `memberName${String(index)}`);
  const { violations, prune } = compiled(
    spec({
      type: 'object',
      properties: {
        ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
        list: { type: 'array', items: { enum: Array.from({ length: 3_000 }, (_, index) => `value${String(index)}`) } },
      },
      additionalProperties: false,
    }),
  );
  const cpuMsOf = (act: () => unknown): number => {
    const before = process.cpuUsage();
    act();
    return process.cpuUsage(before).user / 1_000;
  };
  const unknown = {
    spec: Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`memberNome${String(index)}`, 1])),
  };
  const [first] = violations(unknown);
  t.match(first, { pointer: '/spec/memberNome0', detail: 'is not known; did you mean "memberName0"?' });
  // The comparison of all names took four seconds.
  t.ok(cpuMsOf(() => violations(unknown)) < 1_000);
  t.ok(cpuMsOf(() => prune(unknown)) < 1_000);
  const wrong = { spec: { list: Array<string>(9_000).fill('none') } };
  t.match(violations(wrong)[0]?.detail, /^must be one of "value0", "value1", .*…$/u);
  t.ok(cpuMsOf(() => violations(wrong)) < 1_500);
  t.equal(violations({ spec: { ['memberNam'.repeat(8)]: 1 } })[0]?.detail, 'is not known', 'a long name');
});

test('a value of an enumeration equals one of the allowed values', async (t) => {
  const allowed = ['a', 0, 1.5, true, null, [1, 'x'], { a: 1, b: [2] }];
  const { violations } = compiled(spec({ enum: allowed }));
  for (const value of [...allowed, -0, { b: [2], a: 1 }])
    t.strictSame(violations({ spec: value }), [], JSON.stringify(value));
  for (const value of ['b', '0', 'null', false, 2, [], ['x', 1], { a: 1 }, {}])
    t.match(violations({ spec: value }), [{ pointer: '/spec', detail: /^must be one of "a", 0, 1\.5, true, null, / }]);
  const many = Array.from({ length: 5_000 }, (_, index) => `value${String(index)}`);
  const long = compiled(spec({ type: 'array', items: { enum: many } }));
  const before = process.cpuUsage();
  t.strictSame(long.violations({ spec: Array<string>(100_000).fill('value4999') }), []);
  t.ok(process.cpuUsage(before).user < 1_000_000, 'comparisons with all values took three seconds');
});

test('patterns that may take exponential time are recognized', async (t) => {
  for (const pattern of [
    '(a+)+',
    '(a*)*$',
    '(?:a+){2,}',
    '(a+){30}',
    '([a-z]+-?)*',
    '(x+x+)+y',
    '(a|b+)*',
    '([^"]+|\\\\.)*',
    '((a+)b?)*',
    '(\\w+\\d)+',
  ]) {
    t.ok(patternProblem(pattern), pattern);
  }
  for (const pattern of [
    '^[a-z0-9]+(-[a-z0-9]+)*$',
    '^([a-z]+[.])*x$',
    '(a|b)*',
    '([^"\\\\]|\\\\.)*',
    '^\\p{Lu}+$',
    '(a+){2}',
    '^(?:\\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$',
    '^\\d{4}-\\d{2}$',
    'a{1,3}',
  ]) {
    t.equal(patternProblem(pattern), undefined, pattern);
  }
});

function members(count: number, schema: object = { type: 'string' }): Readonly<Record<string, object>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`member${String(index)}`, schema]));
}

test('the members of an object, and all schemas within a schema, are bounded', async (t) => {
  const wide = (count: number): object => spec({ type: 'object', properties: members(count) });
  t.equal(problemsOf(wide(schemaPropertiesMax)), '');
  for (const count of [schemaPropertiesMax + 1, 7_000])
    t.match(
      problemsOf(wide(count)),
      `properties.spec.properties: must have at most ${String(schemaPropertiesMax)} members, has ${String(count)}`,
    );
  // Two schemas are around the groups: that of the object, and that of its spec.
  const deep = (count: number): object =>
    spec({ type: 'object', properties: members(count, { type: 'object', properties: { a: { type: 'string' } } }) });
  t.equal(problemsOf(deep((schemaPartsMax - 2) / 2)), '');
  t.match(
    problemsOf(deep(schemaPartsMax / 2)),
    `must have at most ${String(schemaPartsMax)} schemas in all places, has`,
  );
});

test('a thousand defaults are checked together, and each wrong one is named', async (t) => {
  const { member7: _, ...others } = members(schemaPropertiesMax, { type: 'string', default: 'text' });
  const withWrong = { ...others, member7: { type: 'string', default: 7 } };
  t.equal(problemsOf(spec({ type: 'object', properties: others })), '');
  t.match(
    problemsOf(spec({ type: 'object', properties: withWrong })),
    /^properties\.spec\.properties\.member7\.default: must be of type string; .*is 7$/u,
  );
});
