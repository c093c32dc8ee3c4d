import fc from 'fast-check';
import { test } from 'tap';

import { includesType, isPlainJson, parseAccept, type MediaRange } from '../../../src/http/body/accept-header.ts';
import { acceptedRangesMax, acceptHeaderKeptLengthMax, acceptHeadersKeptMax } from '../../../src/limits/requests.ts';

type Shown = readonly [type: string, q: number, parameters?: Readonly<Record<string, string>>];

function shown({ type, q, parameters }: MediaRange): Shown {
  return parameters.size === 0 ? [type, q] : [type, q, Object.fromEntries(parameters)];
}

const kubectl =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';

test('media ranges come in the order of preference, with their parameters', async (t) => {
  const discovery = (v: string): Shown => [
    'application/json',
    1,
    { g: 'apidiscovery.k8s.io', v, as: 'APIGroupDiscoveryList' },
  ];
  const table: readonly (readonly [header: string | undefined, ranges: readonly Shown[]])[] = [
    [undefined, []],
    ['', []],
    [' , ,', []],
    ['*/*', [['*/*', 1]]],
    ['*', [['*/*', 1]]],
    [
      'text/html, image/gif, *; q=.2, */*; q=.2',
      [
        ['text/html', 1],
        ['image/gif', 1],
        ['*/*', 0.2],
        ['*/*', 0.2],
      ],
    ],
    [kubectl, [discovery('v2'), discovery('v2beta1'), ['application/json', 1]]],
    ['a/b;q=0.1, c/d;q=0.9, e/f', [['e/f', 1], ['c/d', 0.9], ['a/b', 0.1]]], // prettier-ignore
    ['a/b;q=0.5, c/d;q=0.5', [['a/b', 0.5], ['c/d', 0.5]]], // prettier-ignore
    ['Application/JSON ; As=Table ;V=v1', [['application/json', 1, { as: 'Table', v: 'v1' }]]],
    ['a/b;x=1;x=2', [['a/b', 1, { x: '1' }]]],
    ['a/b;x="1,2;\\"3"; Q="0.5", c/d', [['c/d', 1], ['a/b', 0.5, { x: '1,2;"3' }]]], // prettier-ignore
    ['a/b;q=0.5;x=1', [['a/b', 0.5]]],
    ['a/b;;x;=y', [['a/b', 1, { x: '' }]]],
    ['a/b;x="open, c/d', [['a/b', 1, { x: 'open, c/d' }]]],
    ['a/b;q=0, c/d;q=0.000', []],
    ['a/b;q=, c/d;q=x, e/f;q=7, g/h;q=-1', [['a/b', 1], ['c/d', 1], ['e/f', 1], ['g/h', 1]]], // prettier-ignore
    ['json, a/, /b, a/b/c, a b/c, a/b', [['a/b', 1]]],
  ];
  for (const [header, ranges] of table) t.strictSame(parseAccept(header).map(shown), ranges, header ?? 'none');
});

test('a wildcard includes the types that it covers', async (t) => {
  const includes = (header: string, type: string): boolean =>
    parseAccept(header).some((range) => includesType(range, type));
  for (const header of ['*/*', '*', 'application/*', 'application/json', 'application/json;x=1'])
    t.ok(includes(header, 'application/json'), header);
  for (const header of ['text/*', 'app/*', 'application/yaml', '*/*;q=0', 'application/*+json'])
    t.notOk(includes(header, 'application/json'), header);
});

test('ranges past the limit are not read', async (t) => {
  const header = (count: number): string => Array.from({ length: count }, (_, n) => `a/b${String(n)}`).join();
  t.equal(parseAccept(header(acceptedRangesMax)).length, acceptedRangesMax);
  t.equal(parseAccept(header(acceptedRangesMax + 1)).length, acceptedRangesMax);
  t.equal(parseAccept(`a/b;x=",",${header(acceptedRangesMax + 1)}`).length, acceptedRangesMax);
});

test('every header has an answer: valid weights, in falling order', async (t) => {
  const piece = fc.oneof(
    fc.constantFrom('a/b', 'application/json', '*/*', ',', ';', '"', '\\', '=', 'q', 'q=', '0.5', ' ', 'as=Table', 'ü'),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
      const ranges = parseAccept(pieces.join(''));
      const weights = ranges.map(({ q }) => q);
      t.strictSame(
        weights,
        weights.toSorted((left, right) => right - left),
      );
      return weights.every((q) => q > 0 && q <= 1) && ranges.every(({ type }) => /^[^/]+\/[^/]+$/u.test(type));
    }),
  );
});

test('what is written from ranges reads as the same ranges', async (t) => {
  const token = fc.stringMatching(/^[a-z0-9.+-]{1,8}$/u);
  const value = fc.string({ maxLength: 8, unit: 'grapheme-ascii' }).filter((text) => text === text.trim());
  const range = fc.record({
    type: fc.tuple(token, token).map((parts) => parts.join('/')),
    parameters: fc.dictionary(
      token.filter((name) => name !== 'q' && name !== '__proto__'),
      value,
      { maxKeys: 3 },
    ),
    q: fc.integer({ min: 1, max: 1000 }).map((thousandths) => thousandths / 1000),
  });
  fc.assert(
    fc.property(fc.array(range, { maxLength: 8 }), (ranges) => {
      const header = ranges
        .map(({ type, parameters, q }) => {
          const quoted = Object.entries(parameters).map(
            ([name, text]) => `;${name}="${text.replaceAll(/["\\]/gu, '\\$&')}"`,
          );
          return `${type}${quoted.join('')}; q=${String(q)}`;
        })
        .join(' , ');
      const expected = ranges.toSorted((left, right) => right.q - left.q);
      t.strictSame(
        parseAccept(header).map(({ type, parameters, q }) => ({ type, q, parameters: Object.fromEntries(parameters) })),
        expected.map(({ type, parameters, q }) => ({ type, q, parameters: { ...parameters } })),
      );
    }),
  );
});

test('a header is parsed once for many requests, as long as it is among the latest and not long', async (t) => {
  const header = 'application/json;as=Table;g=meta.k8s.io;v=v1, application/json';
  const first = parseAccept(header);
  t.equal(parseAccept(header), first);
  for (let other = 1; other < acceptHeadersKeptMax; other += 1) parseAccept(`application/x${String(other)}`);
  t.equal(parseAccept(header), first);
  parseAccept('application/one-more');
  const again = parseAccept(header);
  t.not(again, first);
  t.strictSame(again, first);
  const long = `application/${'x'.repeat(acceptHeaderKeptLengthMax - 'application/'.length)}`;
  t.equal(parseAccept(long), parseAccept(long));
  t.not(parseAccept(`${long}x`), parseAccept(`${long}x`));
});

test('the usual headers for JSON are recognized as such, and they ask for nothing else', async (t) => {
  for (const header of [undefined, '*/*', 'application/json', 'application/json, */*']) {
    t.equal(isPlainJson(header), true, header ?? 'none');
    for (const { type, parameters } of parseAccept(header)) {
      t.match(type, /^(?:\*\/\*|application\/json)$/u);
      t.equal(parameters.size, 0);
    }
  }
  for (const header of ['application/yaml', 'application/json;as=Table', '', 'application/json,application/yaml'])
    t.equal(isPlainJson(header), false, header);
});
