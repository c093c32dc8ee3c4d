import { test } from 'tap';

import { lacking } from '../../src/access/coverage.ts';
import { isNameWithin } from '../../src/access/name-pattern.ts';
import { isPathWithin } from '../../src/access/path-entry.ts';
import { coverageChecksMax } from '../../src/limits/access.ts';
import type { ResourceRule, Rule } from '../../src/access/rule.ts';

function on(resources: readonly string[], more: Partial<ResourceRule> = {}): ResourceRule {
  return { kind: 'resource', apiGroups: ['g.io'], resources, resourceNames: undefined, verbs: ['get'], ...more };
}

const within = (rule: Rule, ...held: readonly Rule[]): boolean => lacking([rule], held) === undefined;

test('resources: what one held entry covers', (t) => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['posts', 'posts', true],
    ['posts', '*', true],
    ['*', 'posts', false],
    ['posts/status', 'posts', false],
    ['posts', 'posts/*', false],
    ['posts/status', 'posts/*', false],
    ['posts/status', '*/status', false],
    ['posts/*', '*', true],
    ['*/status', '*', true],
    ['posts/*', '*/status', false],
    ['*/status', 'posts/*', false],
    ['*', 'posts/*', false],
    ['a/b/c', 'b/c', true],
    ['a/b/c', 'b/*', true],
    ['a/b/c', '*/c', true],
    ['a/b/c', 'b', false],
    ['b/c', 'a/b/c', false],
    ['*/*', 'posts/*', false],
    ['*/*', '*', true],
  ];
  for (const [inner, wider, expected] of cases)
    t.equal(within(on([inner]), on([wider])), expected, `${inner} within ${wider}`);
  t.end();
});

test("A/B is a subresource and a plugin's resource: both must be held", (t) => {
  t.notOk(within(on(['blog/posts']), on(['posts'])));
  t.notOk(within(on(['blog/posts']), on(['blog/*'])));
  t.ok(within(on(['blog/posts']), on(['posts', 'blog/*'])));
  t.ok(within(on(['blog/posts']), on(['posts']), on(['*/posts'])), 'by two rules');
  t.end();
});

test('verbs, groups and names may be held by different rules, each atom by one', (t) => {
  t.ok(within(on(['posts'], { verbs: ['get', 'list'] }), on(['posts']), on(['posts'], { verbs: ['list'] })));
  t.notOk(
    within(
      on(['posts'], { verbs: ['*'] }),
      on(['posts'], { verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] }),
    ),
    '* is more than the verbs there are today',
  );
  t.notOk(within(on(['posts'], { apiGroups: ['g.io', 'h.io'] }), on(['posts'])));
  t.ok(within(on(['posts'], { apiGroups: ['g.io', 'h.io'] }), on(['posts'], { apiGroups: ['*'] })));
  t.notOk(
    within(on(['posts', 'tags'], { verbs: ['get', 'list'] }), on(['posts'], { verbs: ['get', 'list'] }), on(['tags'])),
    'tags list is missing',
  );
  t.end();
});

test('names: none given is any and none, so only a rule without names covers it', (t) => {
  const named = (...resourceNames: readonly string[]): ResourceRule => on(['posts'], { resourceNames });
  t.ok(within(named('a'), on(['posts'])));
  t.notOk(within(on(['posts']), named('*')), 'a create has no name');
  t.notOk(within(named(), named('*')), 'an empty list counts as not given');
  t.ok(within(named('a'), named()), "neither does the holder's");
  t.ok(within(named('a', 'b'), named('a'), named('b')));
  t.notOk(within(named('a', 'c'), named('a'), named('b')));
  t.end();
});

test('name patterns', (t) => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['ab', 'a*', true],
    ['a*', 'a*', true],
    ['ab*', 'a*', true],
    ['a*', 'ab*', false],
    ['*', '*', true],
    ['*', 'a*', false],
    ['a*c', 'a*', true],
    ['a*c', '*c', true],
    ['a*', '*a', false],
    ['aba', 'ab*ba', false],
    ['abba', 'ab*ba', true],
    ['a**', 'a*', true],
    ['a*', 'a**', false],
    ['a**', 'a**', true],
    ['ab', 'a**', false],
    ['a*b', 'a', false],
  ];
  for (const [inner, wider, expected] of cases)
    t.equal(isNameWithin(inner, wider), expected, `${inner} within ${wider}`);
  t.end();
});

test('paths', (t) => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['/a', '/a', true],
    ['/a', '*', true],
    ['*', '/*', false],
    ['/a', '/*', true],
    ['/', '/*', false],
    ['/a/b', '/a/*', true],
    ['/a', '/a/*', false],
    ['/ab', '/a/*', false],
    ['/a/*', '/a/*', true],
    ['/a/b/*', '/a/*', true],
    ['/a/*', '/a/b/*', false],
    ['/a/*', '/a', false],
    ['/*', '/a/*', false],
    ['/a*', '/a*', true],
    ['/ab', '/a*', false],
    ['/apis/g.io', '/apis', false],
  ];
  for (const [inner, wider, expected] of cases)
    t.equal(isPathWithin(inner, wider), expected, `${inner} within ${wider}`);
  t.notOk(
    within(
      { kind: 'non-resource', nonResourceURLs: ['/a'], verbs: ['get'] },
      on(['*'], { apiGroups: ['*'], verbs: ['*'] }),
    ),
    'rules of resources grant no path',
  );
  t.end();
});

test('the first rule that is lacking is answered', (t) => {
  const lacks = on(['tags']);
  t.equal(lacking([on(['posts']), lacks, on(['other'])], [on(['posts'])]), lacks);
  t.equal(lacking([], []), undefined);
  t.equal(lacking([on([])], []), undefined, 'a rule that matches nothing gives nothing');
  t.end();
});

test('rules that take too long to compare are lacking, and quickly', (t) => {
  const patterns = (prefix: string): readonly string[] =>
    Array.from({ length: 1_000 }, (_name, at) => `${prefix}${String(at)}-*`);
  const few = on(['posts'], { resourceNames: patterns('a').slice(0, 20) });
  t.ok(within(few, on(['posts'], { resourceNames: ['a*', ...patterns('b')] })));
  const begun = process.cpuUsage();
  t.notOk(
    within(
      on(['posts'], { resourceNames: patterns('a') }),
      ...patterns('c').map((pattern) => on(['posts'], { resourceNames: [pattern, ...patterns('b')] })),
    ),
  );
  const { user } = process.cpuUsage(begun);
  t.ok(user < 5_000_000, `${String(user / 1_000)} ms of processor`);
  t.end();
});

test('entries that are repeated are compared once', (t) => {
  const repeated = (entry: string): readonly string[] => Array.from({ length: coverageChecksMax / 100 }, () => entry);
  t.ok(
    within(
      on(repeated('posts'), { verbs: repeated('get') }),
      ...Array.from({ length: 100 }, () => on(['posts'], { verbs: [...repeated('list'), 'get'] })),
    ),
  );
  t.end();
});
