import { test } from 'tap';

import {
  ruleCostStepsMax,
  ruleLengthMax,
  ruleMessageLengthMax,
  ruleProgramInstructionsMax,
  rulesPerSchemaMax,
} from '../../../src/limits/rules.ts';
import { compileSchema } from '../../../src/resource/schema/schema.ts';

function problemsOf(schema: unknown): string {
  const compiled = compileSchema(schema);
  return compiled.ok ? '' : compiled.problems.join('\n');
}

const ruled = (schema: object, ...rules: readonly unknown[]): object => ({
  ...schema,
  'x-kubernetes-validations': rules,
});
const spec = (schema: object, more: object = {}): object => ({ type: 'object', properties: { spec: schema }, ...more });
const plain = { type: 'object', properties: { size: { type: 'integer' }, title: { type: 'string', maxLength: 10 } } };
const rule = (text: string, more: object = {}): object => spec(ruled(plain, { rule: text, ...more }));

test('a rule that does not fit its schema is refused with its place, the rule and the reason', async (t) => {
  const table: readonly (readonly [object, RegExp])[] = [
    [
      rule('self.size >'),
      new RegExp(
        String.raw`^properties\.spec\.x-kubernetes-validations\[0\]: the rule "self\.size >": does not parse at ` +
          'column 12, at its end: the expression is incomplete: complete it$',
        'u',
      ),
    ],
    [rule('self.siez > 1'), /the schema of the value declares no member "siez"; did you mean "size"\?/],
    [rule('has(self.siez)'), /no member "siez"/],
    [rule('self.size = 3'), /does not parse at column 11, at "= 3": a single "=" is no operator: compare by "=="/],
    [rule('self.title == "a'), /a string has no end: add the closing quote/],
    [
      rule('self.size > ) 1'),
      /does not parse at column 13, at "\) 1": Unexpected token: .*: correct the CEL expression/,
    ],
    [rule('self.size'), /must have the type bool, but has int/],
    [
      rule('self.size == "a"'),
      /fails the type check at column 1, at .*: no such overload: int == string; compare values of one type/,
    ],
    [rule('self.title.startsWiht("a")'), /there is no function startsWiht; did you mean "startsWith"\?/],
    [rule('b"x".json().a == 1'), /there is no function json/],
    [rule('other.size > 1'), /Unknown variable: other/],
    [rule('self.title.matches(self.title)'), /the pattern of matches\(\) must be a text in quotes/],
    [rule('self.title.matches("(")'), /the pattern "\(" is refused: /],
    [rule('self.title.matches("(a{100}){90}")'), /the pattern/],
    [rule('self.title.matchesInLinearTime("a")'), /there is no function matchesInLinearTime/],
    [rule('self.size > 1', { messageExpression: 'self.size' }), /messageExpression: must have the type string/],
    [rule('self.size > 1', { fieldPath: '.siez' }), /fieldPath "\.siez" must name declared members/],
    [rule('self.size > 1', { fieldPath: 'size' }), /fieldPath "size" must/],
    [rule('self.size > 1', { mesage: 'x' }), /\[0\]\.mesage: is not a member of a rule; did you mean "message"\?/],
    [rule('self.size > 1', { message: 'a\nb' }), /\.message: must be a single line/],
    [rule('self.size > 1', { message: '' }), /\.message: must be a text/],
    [rule('self.size > 1', { reason: 'Bad' }), /\.reason: "Bad" is not one of FieldValueInvalid/],
    [rule('self.size > 1', { optionalOldSelf: 'yes' }), /\.optionalOldSelf: must be true or false/],
    [rule(' '), /\.rule: must be a text/],
    [spec(ruled(plain, {})), /\.rule: is required/],
    [spec(ruled(plain, 'self.size > 1')), /\[0\]: must be an object with a rule/],
    [spec({ ...plain, 'x-kubernetes-validations': {} }), /must be an array of rules/],
    [rule(`self.size > 1${' '.repeat(ruleLengthMax)}`), /must be at most 4096 characters/],
    [rule('self.size > 1', { message: 'x'.repeat(ruleMessageLengthMax + 1) }), /must be at most 1024 characters/],
  ];
  for (const [schema, problem] of table) t.match(problemsOf(schema), problem, JSON.stringify(schema).slice(0, 200));
  t.equal(problemsOf(rule(`self.size > ${' '.repeat(ruleLengthMax - 13)}1`)), '');
  t.equal(problemsOf(rule('self.size > 1', { message: 'x'.repeat(ruleMessageLengthMax) })), '');
});

test('a rule at a place without a value of its own is refused', async (t) => {
  const one = ruled({}, { rule: 'true' });
  const table: readonly (readonly [object, RegExp])[] = [
    [spec({ anyOf: [one] }), /^properties\.spec\.anyOf\[0\]\.x-kubernetes-validations: has no effect below anyOf/],
    [spec({ not: { items: one } }), /below not/],
    [spec({ if: true, then: one }), /below then/],
    [spec({ type: 'object', patternProperties: { '^a': one } }), /rules are not possible below patternProperties/],
    [
      spec(
        { $ref: '#/$defs/node' },
        { $defs: { node: ruled({ properties: { child: { $ref: '#/$defs/node' } } }, { rule: 'true' }) } },
      ),
      /a schema that contains itself cannot have rules/,
    ],
    [
      spec({ type: 'array', maxItems: 3, items: ruled({ type: 'integer' }, { rule: 'self >= oldSelf' }) }),
      /oldSelf cannot be used in items of a list/,
    ],
    [
      spec({ type: 'array', 'x-kubernetes-list-type': 'map', items: one }),
      /x-kubernetes-list-map-keys: must be the names/,
    ],
  ];
  for (const [schema, problem] of table) t.match(problemsOf(schema), problem, JSON.stringify(schema));
  t.equal(problemsOf(spec({}, { $defs: { unused: one } })), '');
});

test('a rule that may take too long is refused, with the advice to set bounds', async (t) => {
  const list = (items: object, more: object = {}): object => ({ type: 'array', items, ...more });
  const unbounded: readonly object[] = [
    spec(ruled(list({ type: 'integer' }), { rule: 'self.all(x, x > 0)' })),
    spec(list(ruled({ type: 'integer' }, { rule: 'self > 0' }))),
    spec({ type: 'object', additionalProperties: ruled({ type: 'integer' }, { rule: 'self > 0' }) }),
    spec(ruled({ type: 'object', additionalProperties: true }, { rule: 'self.all(k, k != "x")' })),
    spec(ruled({ type: 'string' }, { rule: 'self.matches("^[a-z]+$")' })),
    spec(ruled({ type: 'string' }, { rule: 'self.contains(self)' })),
    spec(ruled({}, { rule: 'self.all(x, x > 0)' })),
    spec(
      ruled(list({ type: 'integer' }, { maxItems: 300 }), { rule: 'self.all(x, self.all(y, self.all(z, x + y > z)))' }),
    ),
    spec(ruled({ type: 'string', maxLength: 1_000 }, { rule: 'duration(self) > duration("1s")' })),
    spec(
      list(ruled({ type: 'string', format: 'date-time' }, { rule: 'timestamp(self).getHours("UTC") > 1' }), {
        maxItems: 100,
      }),
    ),
  ];
  for (const schema of unbounded)
    t.match(problemsOf(schema), /steps.*at most 100000 are allowed: set maxItems, maxLength and maxProperties/u);
  const bounded: readonly object[] = [
    spec(ruled(list({ type: 'integer' }, { maxItems: 1_000 }), { rule: 'self.all(x, x > 0)' })),
    spec(list(ruled({ type: 'integer' }, { rule: 'self > 0' }), { maxItems: 1_000 })),
    spec(ruled({ type: 'string', maxLength: 253 }, { rule: 'self.matches("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")' })),
    spec(ruled(list({ type: 'string' }), { rule: 'self.size() < 5' })),
    spec(ruled({ type: 'string' }, { rule: 'self.startsWith("a")' })),
    rule('self.size > 1'),
  ];
  for (const schema of bounded) t.equal(problemsOf(schema), '');
});

test('limits of rules hold at n and not at n + 1', async (t) => {
  const integers = (maxItems: number): object =>
    spec({ type: 'array', maxItems, items: ruled({ type: 'integer' }, { rule: 'self > 0' }) });
  const most = Math.floor(ruleCostStepsMax / 3);
  t.equal(problemsOf(integers(most)), '');
  t.match(problemsOf(integers(most + 1)), /may take 100002 steps, 3 for each of 33334 values/);
  const three = (maxItems: number): object => {
    const { properties } = integers(maxItems) as { properties: { spec: object } };
    const { spec: one } = properties;
    return { type: 'object', properties: { spec: { type: 'object', properties: { a: one, b: one, c: one } } } };
  };
  t.equal(problemsOf(three(Math.floor(most / 3))), '');
  t.match(problemsOf(three(most)), /all rules together may take 299997 steps, at most 100000 are allowed/);
  const many = (count: number): object => spec(ruled({}, ...Array.from({ length: count }, () => ({ rule: 'true' }))));
  t.equal(problemsOf(many(rulesPerSchemaMax)), '');
  t.match(problemsOf(many(rulesPerSchemaMax + 1)), /at most 512 rules/);
  const short = { type: 'string', maxLength: 1 };
  const repeated = (times: number): object =>
    spec(
      ruled(short, { rule: `self.matches("${'a{500}'.repeat(Math.floor(times / 500))}a{${String(times % 500)}}")` }),
    );
  t.equal(problemsOf(repeated(ruleProgramInstructionsMax - 10)), '');
  t.match(problemsOf(repeated(ruleProgramInstructionsMax + 10)), /instructions, at most 2000 are allowed/);
  t.match(problemsOf(spec(ruled({}, { rule: `${'!'.repeat(1_001)}true` }))), /Exceeded maxAstNodes/);
  t.match(problemsOf(spec(ruled({}, { rule: `${'('.repeat(65)}true${')'.repeat(65)}` }))), /Exceeded maxDepth/);
});
