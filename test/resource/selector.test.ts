import fc from 'fast-check';
import { test } from 'tap';
import { selectorBytesMax, selectorRequirementsMax, selectorSetValuesMax } from '../../src/limits/lists.ts';
import type { FieldRequirement, LabelRequirement } from '../../src/resource/query/list-query.ts';
import { defineIndexes } from '../../src/resource/type/index-definition.ts';
import { bindFields } from '../../src/resource/query/bind-fields.ts';
import { parseSort } from '../../src/resource/query/sort-keys.ts';
import { namedBy, parseFieldSelector, parseLabelSelector } from '../../src/resource/query/selector.ts';

const numRuns = Number(process.env['PBT_RUNS'] ?? 500);

const labels = (...texts: readonly string[]): readonly LabelRequirement[] | string => {
  const parsed = parseLabelSelector(texts);
  return parsed.ok ? parsed.requirements : parsed.problem;
};
const fields = (...texts: readonly string[]): readonly FieldRequirement[] | string => {
  const parsed = parseFieldSelector(texts);
  return parsed.ok ? parsed.requirements : parsed.problem;
};

test('each operator is parsed as in decision 4.2, with or without spaces', (t) => {
  for (const text of ['k=v', 'k==v', ' k = v ', 'k in (v)', 'k=(v)', 'k\tin(v)', 'k=( v )', 'k==(v)'])
    t.same(labels(text), [{ key: 'k', operator: 'in', values: ['v'] }], text);
  for (const text of ['k!=v', 'k != v', 'k notin (v)', 'k!=(v)'])
    t.same(labels(text), [{ key: 'k', operator: 'notIn', values: ['v'] }], text);
  for (const text of ['k', ' k ']) t.same(labels(text), [{ key: 'k', operator: 'exists' }], text);
  for (const text of ['!k', '! k', ' !k ']) t.same(labels(text), [{ key: 'k', operator: 'absent' }], text);
  for (const operator of ['<', '<=', '>', '>=', '^='] as const)
    t.same(fields(`spec.size ${operator} 5`), [{ field: 'spec.size', operator, value: '5' }], operator);
  t.same(labels('k in (a, b ,a)'), [{ key: 'k', operator: 'in', values: ['a', 'b'] }], 'a set holds each value once');
  t.same(labels('in in (in), notin notin (notin)'), [
    { key: 'in', operator: 'in', values: ['in'] },
    { key: 'notin', operator: 'notIn', values: ['notin'] },
  ]);
  t.end();
});

test('commas outside parentheses and repeated parameters add requirements', (t) => {
  const expected = [
    { key: 'a', operator: 'in', values: ['1', '2'] },
    { key: 'b', operator: 'exists' },
    { key: 'c.d/e', operator: 'absent' },
  ];
  t.same(labels('a in (1,2),b,!c.d/e'), expected);
  t.same(labels('a in (1,2)', 'b', ' ', '!c.d/e'), expected);
  t.same(labels(), []);
  t.same(labels('', '  '), []);
  t.end();
});

test('empty values are values', (t) => {
  t.same(labels('k='), [{ key: 'k', operator: 'in', values: [''] }]);
  t.same(labels('k=,l'), [
    { key: 'k', operator: 'in', values: [''] },
    { key: 'l', operator: 'exists' },
  ]);
  t.same(labels('k in (,a)'), [{ key: 'k', operator: 'in', values: ['', 'a'] }]);
  t.end();
});

test('characters that a value may not contain literally are escaped', (t) => {
  t.same(fields('k=a\\,b\\=c\\\\d\\(e\\)'), [{ field: 'k', operator: 'in', values: ['a,b=c\\d(e)'] }]);
  t.same(labels('k=\\ a\\ ,l'), [
    { key: 'k', operator: 'in', values: [' a '] },
    { key: 'l', operator: 'exists' },
  ]);
  t.same(
    fields('k=a < b! ^ c>'),
    [{ field: 'k', operator: 'in', values: ['a < b! ^ c>'] }],
    'other characters are literal',
  );
  t.end();
});

test('other texts are refused with the place of the error', (t) => {
  const refused: readonly (readonly [string, number])[] = [
    ['a=b=c', 3],
    ['a=b)', 3],
    ['a=(b', 4],
    ['a=()', 2],
    ['a in ()', 5],
    ['a in b', 5],
    ['a b', 2],
    [',a', 0],
    ['a,', 2],
    ['a,,b', 2],
    ['!', 1],
    ['=b', 0],
    ['!a=b', 2],
    ['a=b(c)', 3],
    ['a=(b)c', 5],
    ['a=(b(c))', 4],
    ['a\\x', 1],
    ['a=b\\', 3],
    ['a!b', 1],
    ['a in (b) c', 9],
    ['a^b', 1],
    ['()', 0],
  ];
  for (const [text, offset] of refused) {
    const problem = fields(text);
    t.match(problem, ` at offset ${String(offset)}: `, text);
    t.match(problem, '‸', text);
  }
  t.match(
    labels('a<5'),
    /^labelSelector: labels cannot be compared with "<": only fields can \(fieldSelector\) at offset 0/u,
  );
  t.match(labels('-a=5'), /^labelSelector: invalid label key: the name must contain only/u);
  t.match(labels(`a=${'x'.repeat(254)}`), /must be at most 253 characters/u);
  t.match(labels('a=x\u0007'), /must not contain control characters/u);
  t.end();
});

test('every valid label value can be selected', (t) => {
  const value = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((text) => !/[\p{Cc}\u2028\u2029]/u.test(text));
  fc.assert(
    fc.property(value, (text) => {
      t.same(labels(`k=${escaped(text)}`), [{ key: 'k', operator: 'in', values: [text] }]);
    }),
    { numRuns: Math.min(numRuns, 300) },
  );
  t.end();
});

test('bounds hold at n and refuse at n + 1', (t) => {
  t.same(fields(`k=${'v'.repeat(selectorBytesMax - 2)}`).length, 1);
  t.match(fields(`k=${'v'.repeat(selectorBytesMax - 1)}`), `at most ${String(selectorBytesMax)} bytes`);
  t.match(
    fields(`k=${'é'.repeat(selectorBytesMax / 2)}`),
    `at most ${String(selectorBytesMax)} bytes`,
    'bytes, not characters',
  );
  t.same(fields(Array.from({ length: selectorRequirementsMax }, () => 'k').join()).length, selectorRequirementsMax);
  t.match(
    fields(...Array.from({ length: selectorRequirementsMax + 1 }, () => 'k')),
    `more than ${String(selectorRequirementsMax)} requirements`,
  );
  const values = (count: number): string =>
    `k in (${Array.from({ length: count }, (_, index) => String(index)).join()})`;
  t.same(fields(values(selectorSetValuesMax)).length, 1);
  t.match(fields(values(selectorSetValuesMax + 1)), `more than ${String(selectorSetValuesMax)} values`);
  t.end();
});

test('hostile texts are refused', (t) => {
  for (const hostile of ['(', '\\', ',', '!', '=', ' ', 'a in (', 'k=(v,', '\\\\']) {
    t.type(fields(hostile.repeat(100_000)), 'string');
    t.type(labels(`${hostile.repeat(Math.floor(selectorBytesMax / hostile.length) - 1)}\u0000=`), 'string');
  }
  t.end();
});

test('any text is parsed as a selector or refused, and a parsed one prints and parses to itself', (t) => {
  const hostile = fc
    .array(
      fc.constantFrom(
        'a',
        'b.c',
        '=',
        '!',
        '<',
        '>',
        '^',
        '(',
        ')',
        ',',
        '\\',
        ' ',
        'in',
        'notin',
        '\u{1f600}',
        '\u0000',
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (text) => {
      const parsed = parseFieldSelector([text]);
      if (!parsed.ok || parsed.requirements.length === 0) return;
      const again = parseFieldSelector([parsed.requirements.map(printed).join(',')]);
      if (JSON.stringify(again) !== JSON.stringify(parsed)) throw new Error(JSON.stringify({ parsed, again }));
    }),
    { numRuns },
  );
  t.end();
});

test('any requirement prints and parses to itself', (t) => {
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '=', ',', '(', ')', '\\', '!', '<', '^', '\u{1f600}', '\t'),
    maxLength: 8,
  });
  const field = fc.stringMatching(/^[a-z][a-zA-Z0-9./_-]{0,20}$/u);
  const requirement: fc.Arbitrary<FieldRequirement> = fc.oneof(
    fc.record({
      field,
      operator: fc.constantFrom('in' as const, 'notIn' as const),
      values: fc.uniqueArray(text, { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ field, operator: fc.constantFrom('exists' as const, 'absent' as const) }),
    fc.record({
      field,
      operator: fc.constantFrom('<' as const, '<=' as const, '>' as const, '>=' as const, '^=' as const),
      value: text.filter((value) => !value.startsWith('=')),
    }),
  );
  fc.assert(
    fc.property(fc.array(requirement, { minLength: 1, maxLength: 5 }), (requirements) => {
      const again = fields(requirements.map(printed).join(', '));
      if (
        again.length !== requirements.length ||
        requirements.some((each, index) => JSON.stringify(ordered(each)) !== JSON.stringify(ordered(again[index])))
      )
        throw new Error(JSON.stringify(again));
    }),
    { numRuns },
  );
  t.end();
});

function ordered(value: unknown): unknown {
  return Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}

function printed(requirement: FieldRequirement): string {
  const field = escaped(requirement.field);
  switch (requirement.operator) {
    case 'exists':
      return field;
    case 'absent':
      return `!${field}`;
    case 'in':
      return `${field} in ${printedSet(requirement.values)}`;
    case 'notIn':
      return `${field} notin ${printedSet(requirement.values)}`;
    default:
      return `${field}${requirement.operator}${escaped(requirement.value)}`;
  }
}

function printedSet(values: readonly string[]): string {
  return values.length === 1 && values[0] === '' ? '(,)' : `(${values.map(escaped).join(',')})`;
}

function escaped(text: string): string {
  return text.replace(/[,=\\() \t\r\n]/gu, '\\$&');
}

const indexes = (() => {
  const defined = defineIndexes([
    { name: 'spec.title' },
    { name: 'spec.size', type: 'number', order: 'DESC' },
    { name: 'spec.open', type: 'boolean' },
    { name: 'spec.due', type: 'timestamp' },
  ]);
  if (!defined.ok) throw new Error('these are right');
  return defined.indexes;
})();

const bound = (text: string): unknown => {
  const parsed = parseFieldSelector([text]);
  if (!parsed.ok) return parsed.problem;
  const result = bindFields(parsed.requirements, indexes);
  return result.ok ? result.requirements : result.problem;
};

test('a field requirement is bound to its index, operands as keys', (t) => {
  t.same(bound('spec.title=a,spec.size in (1,2),spec.open!=true'), [
    { index: 3, operator: 'in', keys: ['a'] },
    { index: 4, operator: 'in', keys: [1, 2] },
    { index: 5, operator: 'notIn', keys: [1] },
  ]);
  t.same(bound('spec.title^=a,spec.due>=2024-01-01T00:00:00Z'), [
    { index: 3, operator: '^=', prefix: 'a' },
    { index: 6, operator: '>=', key: Date.UTC(2024, 0, 1) },
  ]);
  t.same(bound('spec.title,!spec.size'), [
    { index: 3, operator: 'exists' },
    { index: 4, operator: 'absent' },
  ]);
  t.end();
});

test('an operand that is not a valid value of the index matches nothing', (t) => {
  t.same(bound('spec.size=abc'), [{ index: 4, operator: 'in', keys: [] }]);
  t.same(bound('spec.size!=abc'), [{ index: 4, operator: 'notIn', keys: [] }]);
  t.same(bound('spec.size<abc'), [{ index: 4, operator: 'in', keys: [] }]);
  t.end();
});

test('a field without an index is refused with a list of those that have one', (t) => {
  t.equal(
    bound('spec.text=a'),
    'fieldSelector: field label not supported: spec.text; the indexed fields are metadata.name, ' +
      'metadata.creationTimestamp, metadata.deletionTimestamp, spec.title, spec.size, spec.open, spec.due',
  );
  t.match(bound('metadata.labels=a'), 'field label not supported: metadata.labels;');
  t.match(bound('spec.size^=1'), '"^=" compares strings');
  t.end();
});

test('a sort names an indexed field and a direction, or takes the direction of the index', (t) => {
  const sort = (...texts: readonly string[]): unknown => {
    const parsed = parseSort(texts, indexes);
    return parsed.ok ? parsed.sort : parsed.problem;
  };
  t.same(sort('spec.title', 'spec.size', 'spec.size,asc', ' spec.title , DESC '), [
    { index: 3, direction: 'asc' },
    { index: 4, direction: 'desc' },
    { index: 4, direction: 'asc' },
    { index: 3, direction: 'desc' },
  ]);
  t.same(sort(), []);
  t.same(sort(''), []);
  t.match(sort('spec.title,up'), '"asc" or "desc" is expected');
  t.match(sort('spec.title,asc,desc'), '"asc" or "desc" is expected');
  const moved = [
    'spec.title,desc,nulls=last',
    'spec.title,asc,nulls=first',
    'spec.size,nulls=last',
    ' spec.title , ASC , Nulls=First ',
  ];
  t.same(sort(...moved), [
    { index: 3, direction: 'desc', nulls: 'last' },
    { index: 3, direction: 'asc', nulls: 'first' },
    { index: 4, direction: 'desc', nulls: 'last' },
    { index: 3, direction: 'asc', nulls: 'first' },
  ]);
  t.same(
    sort('spec.title,desc,nulls=first', 'spec.title,asc,nulls=last', 'spec.title,nulls=last'),
    [
      { index: 3, direction: 'desc' },
      { index: 3, direction: 'asc' },
      { index: 3, direction: 'asc' },
    ],
    'a nulls option equal to the default is left out',
  );
  const odds = [
    'nulls',
    'nulls=',
    'nulls=middle',
    'nulls=first,asc',
    'asc,nulls=last,nulls=last',
    'asc,,nulls=last',
    '',
  ];
  for (const odd of odds) {
    t.match(sort(`spec.title,${odd}`), '"nulls=first" or "nulls=last"', odd);
  }
  t.match(sort('spec.text'), 'the indexed fields are metadata.name');
  t.same((sort(...Array.from({ length: 8 }, () => 'spec.title')) as unknown[]).length, 8);
  t.match(sort(...Array.from({ length: 9 }, () => 'spec.title')), 'at most 8 fields');
  t.end();
});

test('only metadata.name=<name> by itself names an object', (t) => {
  const named = (text: string): string | undefined => {
    const parsed = parseFieldSelector([text]);
    return parsed.ok ? namedBy(parsed.requirements) : 'refused';
  };
  t.equal(named('metadata.name=a'), 'a');
  t.equal(named('metadata.name in (a)'), 'a');
  for (const text of [
    '',
    'metadata.name',
    'metadata.name!=a',
    'metadata.name=(a,b)',
    'metadata.name=a,metadata.name=a',
    'metadata.name^=a',
    'spec.name=a',
  ])
    t.equal(named(text), undefined, text);
  t.end();
});
