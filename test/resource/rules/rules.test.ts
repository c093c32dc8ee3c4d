import { test } from 'tap';

import type { RuledChange, SchemaRules } from '../../../src/resource/type/resource-type.ts';
import { compileSchema } from '../../../src/resource/schema/schema.ts';

export function rulesOf(schema: unknown): SchemaRules {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(compiled.problems.join('\n'));
  if (compiled.rules === undefined) throw new Error('no rules');
  return compiled.rules;
}

export function problemsOf(schema: unknown): string {
  const compiled = compileSchema(schema);
  return compiled.ok ? '' : compiled.problems.join('\n');
}

type Rule = string | object;

function withRules(schema: object, rules: readonly Rule[]): object {
  const declared = rules.map((rule) => (typeof rule === 'string' ? { rule } : rule));
  return { ...schema, 'x-kubernetes-validations': declared };
}

const text = { type: 'string', maxLength: 20 };
const properties = {
  min: { type: 'integer' },
  max: { type: 'integer' },
  ratio: { type: 'number' },
  on: { type: 'boolean' },
  title: text,
  note: { type: ['string', 'null'], maxLength: 10 },
  tags: { type: 'array', maxItems: 5, items: text },
  counts: { type: 'array', maxItems: 5, items: { type: 'integer' } },
  labels: { type: 'object', maxProperties: 5, additionalProperties: text },
  ports: { type: 'object', maxProperties: 5, additionalProperties: { type: 'integer' } },
  place: {
    type: 'object',
    properties: { x: { type: 'integer' }, 'a-b': { type: 'integer' }, in: { type: 'integer' } },
  },
  free: true,
  port: { 'x-kubernetes-int-or-string': true },
};

const spec = (rules: readonly Rule[], more: object = {}): object => ({
  type: 'object',
  properties: { spec: withRules({ type: 'object', properties: { ...properties, ...more } }, rules) },
});

function violations(schema: object, object: object, old?: object, change: Partial<RuledChange> = {}) {
  const identity = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w1' } };
  return rulesOf(schema).violations({
    object: { ...identity, ...object },
    old: old && { ...identity, ...old },
    part: 'main',
    tolerated: [],
    oldFaults: [],
    ...change,
  });
}

/** The rules that `value` as spec violates, of the given ones. */
function failing(rules: readonly string[], value: object): readonly string[] {
  return violations(spec(rules), { spec: value }).map(({ detail }) => detail.replace('failed rule: ', ''));
}

test('rules read values by the types of their schema', async (t) => {
  const value = {
    min: 1,
    max: 3,
    ratio: 0.5,
    on: true,
    title: 'lamp',
    note: null,
    tags: ['a', 'b'],
    counts: [1, 2, 3],
    labels: { team: 'blue', constructor: 'x' },
    ports: { http: 80, constructor: 1 },
    place: { x: 1, 'a-b': 2, in: 3 },
    free: { deep: [{ n: 1, constructor: 2 }] },
    port: 80,
  };
  const held = [
    'self.min <= self.max && self.max - self.min == 2',
    'self.ratio < 1 && self.ratio == 0.5',
    'self.on',
    'self.title.startsWith("la") && self.title.size() == 4 && self.title.matches("^[a-z]+$")',
    '!has(self.note)',
    'self.tags.all(t, t.size() == 1) && "a" in self.tags && self.tags == ["a", "b"]',
    'self.counts.map(c, c * 2).exists(c, c == 6) && self.counts[1] == 2',
    'self.counts.filter(c, c > 1).size() == 2 && self.counts.exists_one(c, c == 1)',
    'self.labels.team == "blue" && self.labels["constructor"] == "x" && self.labels.all(k, k != "x")',
    'self.ports.http == 80 && self.ports["constructor"] == 1 && size(self.ports) == 2',
    'self.place.x == 1 && self.place.a__dash__b == 2 && self.place.__in__ == 3',
    'self.place == self.place && self.place in [self.place]',
    'self.free.deep[0].n == 1.0 && self.free.deep[0].constructor == 2.0',
    'type(self.port) == double && self.port == 80',
    'cel.bind(sum, self.min + self.max, sum == 4)',
    'timestamp("2026-01-01T00:00:00Z") < timestamp("2026-01-02T00:00:00Z") && duration("1h") > duration("2m")',
    'self.title.contains("am") ? self.min == 1 : false',
    '"a,b".split(",").join("-") == "a-b"',
  ];
  t.strictSame(failing(held, value), []);
  const broken = held.map((rule) => `!(${rule})`);
  t.strictSame(failing(broken, value), broken);
});

test('a violation has the place of its rule, or of its fieldPath, and the message of the rule', async (t) => {
  const schema = spec([
    { rule: 'self.min <= self.max', message: 'min must not be above max', fieldPath: '.min' },
    { rule: 'self.min <= self.max', messageExpression: '"min is " + string(self.min)' },
    { rule: 'self.min <= self.max', messageExpression: '"no line\\n"', message: 'a message' },
    { rule: 'self.min <= self.max', messageExpression: 'self.title' },
    { rule: 'self.min <= self.max', fieldPath: ".labels['a/b']", reason: 'FieldValueForbidden' },
    'self.title.size() > 0 || self.min <= self.max',
  ]);
  t.strictSame(violations(schema, { spec: { min: 2, max: 1, labels: {} } }), [
    { pointer: '/spec/min', detail: 'min must not be above max' },
    { pointer: '/spec', detail: 'min is 2' },
    { pointer: '/spec', detail: 'a message' },
    { pointer: '/spec', detail: 'failed rule: self.min <= self.max' },
    { pointer: '/spec/labels/a~1b', detail: 'failed rule: self.min <= self.max' },
    {
      pointer: '/spec',
      detail: 'the rule cannot be evaluated: self.title.size() > 0 || self.min <= self.max: No such key: title',
    },
  ]);
});

test('a rule that throws is a violation', async (t) => {
  for (const [rule, reason] of [
    ['self.tags[7] == "x"', /index 7 >= size 1/],
    ['self.title == "x"', /No such key: title/],
    ['self.min / 0 == 1', /division by zero/],
    ['self.min * 9223372036854775807 > 0', /overflow/],
    ['int(self.tags[0]) > 0', /cannot convert to int/],
    ['self.free.x > 1', /No such key|Unsupported|no such overload/],
    ['timestamp(self.tags[0]) < timestamp("2026-01-01T00:00:00Z")', /timestamp/],
  ] as const)
    t.match(violations(spec([rule]), { spec: { min: 3, tags: ['a'], free: 1 } }), [
      { pointer: '/spec', detail: reason },
    ]);
  t.equal(Error.stackTraceLimit > 0, true, 'later errors have stacks');
});

test('rules apply to members, items, maps, references and all branches of allOf', async (t) => {
  const part = withRules({ type: 'object', properties: { n: { type: 'integer' } } }, ['self.n > 0']);
  const schema = {
    type: 'object',
    $defs: { part },
    properties: {
      spec: {
        type: 'object',
        properties: {
          one: { $ref: '#/$defs/part' },
          list: { type: 'array', maxItems: 3, items: { $ref: '#/$defs/part' } },
          map: { type: 'object', maxProperties: 3, additionalProperties: withRules({ type: 'integer' }, ['self > 0']) },
          both: {
            allOf: [
              { $ref: '#/$defs/part' },
              withRules({ properties: { m: { type: 'integer' } } }, ['self.m > self.n']),
            ],
          },
          word: withRules(text, ['self != "bad"']),
          many: withRules({ type: 'array', maxItems: 3, items: text }, ['self.size() > 1']),
        },
      },
    },
  };
  const bad = {
    one: { n: 0 },
    list: [{ n: 1 }, { n: 0 }],
    map: { a: 0, b: 1 },
    both: { n: 0, m: 0 },
    word: 'bad',
    many: ['a'],
  };
  t.strictSame(
    violations(schema, { spec: bad })
      .map(({ pointer }) => pointer)
      .sort(),
    ['/spec/both', '/spec/both', '/spec/list/1', '/spec/many', '/spec/map/a', '/spec/one', '/spec/word'],
  );
  t.strictSame(violations(schema, { spec: { one: null } }), [], 'null and absent values have no rules');
});

test('rules of the whole object read its identity', async (t) => {
  const schema = withRules({ type: 'object', properties: { spec: { type: 'object', properties } } }, [
    'self.metadata.name == self.spec.title',
    'self.kind == "Widget" && self.apiVersion == "example.com/v1"',
  ]);
  t.strictSame(violations(schema, { spec: { title: 'w1' } }), []);
  t.match(violations(schema, { spec: { title: 'w2' } }), [{ pointer: '', detail: /metadata/ }]);
});

test('a rule about the old value runs only where there is one', async (t) => {
  const schema = spec([{ rule: 'self.min >= oldSelf.min', message: 'min only grows' }], {
    list: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['id'],
      items: withRules(
        { type: 'object', required: ['id', 'n'], properties: { id: { type: 'string' }, n: { type: 'integer' } } },
        ['self.n >= oldSelf.n'],
      ),
    },
  });
  t.strictSame(violations(schema, { spec: { min: 1 } }), []);
  t.strictSame(violations(schema, { spec: { min: 1 } }, { spec: { min: 1 } }), []);
  t.match(violations(schema, { spec: { min: 1 } }, { spec: { min: 2 } }), [{ detail: 'min only grows' }]);
  const list = (...items: readonly (readonly [string, number])[]) => ({
    spec: { min: 1, list: items.map(([id, n]) => ({ id, n })) },
  });
  t.strictSame(violations(schema, list(['c', 0], ['b', 5], ['a', 2]), list(['a', 2], ['b', 5])), []);
  t.match(violations(schema, list(['b', 5], ['a', 1]), list(['a', 2], ['b', 5])), [{ pointer: '/spec/list/1' }]);
});

test('optionalOldSelf lets a rule run without an old value', async (t) => {
  const rule = { rule: '!oldSelf.hasValue() || oldSelf.value().min <= self.min', optionalOldSelf: true };
  const first = { rule: 'oldSelf.hasValue() || self.min == 0', optionalOldSelf: true };
  t.strictSame(violations(spec([rule, first]), { spec: { min: 0 } }), []);
  t.equal(violations(spec([rule, first]), { spec: { min: 1 } }).length, 1);
  t.equal(violations(spec([rule, first]), { spec: { min: 1 } }, { spec: { min: 2 } }).length, 1);
});

test('a violation of an unchanged value is not reported again, unless its rule compares', async (t) => {
  const schema = spec(['self.min <= self.max'], { word: withRules(text, ['self != "bad"']) });
  const old = { spec: { min: 2, max: 1, word: 'bad' } };
  t.strictSame(violations(schema, old, old), []);
  t.strictSame(
    violations(schema, { spec: { min: 1, max: 1, word: 'bad' } }, old),
    [],
    'another member of the object may change',
  );
  t.strictSame(
    violations(schema, { spec: { ...old.spec, title: 'new' } }, old).map(({ pointer }) => pointer),
    ['/spec'],
  );
  const same = { spec: { min: 2 } };
  t.equal(violations(spec(['self.min > oldSelf.min']), same, same).length, 1);
});

test('a write of the status is judged by rules of the status, and by those that now fail in another way', async (t) => {
  const schema = withRules(
    {
      type: 'object',
      properties: {
        spec: withRules({ type: 'object', properties }, ['self.min <= self.max', 'self.min > oldSelf.min']),
        status: withRules({ type: 'object', properties: { n: { type: 'integer' } } }, ['self.n > 0']),
      },
    },
    ['!has(self.status) || self.status.n < 10', 'self.spec.max < 5'],
  );
  const bad = { min: 7, max: 6 };
  const part = 'status';
  t.strictSame(violations(schema, { spec: bad, status: { n: 1 } }, { spec: bad }, { part }), []);
  t.match(violations(schema, { spec: bad, status: { n: 0 } }, { spec: bad }, { part }), [{ pointer: '/status' }]);
  t.match(violations(schema, { spec: bad, status: { n: 10 } }, { spec: bad }, { part }), [{ pointer: '' }]);
});

test('a value that breaks the types or bounds of its schema has no rules', async (t) => {
  const schema = spec(['self.tags.all(t, t != "bad")', 'self.tags.size() >= oldSelf.tags.size()']);
  const fault = { pointer: '/spec/tags', detail: 'too many', keyword: 'maxItems' };
  const [object, old] = [{ spec: { tags: ['bad'] } }, { spec: { tags: ['a', 'b'] } }];
  t.equal(violations(schema, object, old).length, 2);
  t.strictSame(violations(schema, object, old, { tolerated: [fault] }), []);
  t.equal(violations(schema, object, old, { oldFaults: [fault] }).length, 1, 'no comparison with such a value');
  t.equal(violations(schema, object, old, { tolerated: [{ ...fault, keyword: 'minItems' }] }).length, 2);
});
