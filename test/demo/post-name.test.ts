import fc from 'fast-check';
import { test } from 'tap';

import { postName } from '../../demo/post-name.ts';
import { nameProblem } from '../../src/resource/type/names.ts';

test('plain names stay readable', async (t) => {
  t.equal(postName('fast-json-patch'), 'npm-fast-json-patch');
  t.equal(postName('@koa/router'), 'npm-koaz2frouter');
  t.equal(postName('lodash.merge'), 'npm-lodashz2emerge');
});

test('names that look alike stay apart', async (t) => {
  const alike = [
    'a-b',
    'az2eb',
    'a--b',
    'a.b',
    'a_b',
    'azb',
    'zz',
    'z',
    'a-',
    '-a',
    'A',
    'a',
    '@a/b',
    'a/b-',
    '@a/b.',
    'ab',
    'digest-a',
  ];
  t.equal(new Set(alike.map(postName)).size, alike.length);
});

test('every name is legal, and no two packages share one', async (t) => {
  const slug = /^[a-z0-9]+(-[a-z0-9]+)*$/u;
  const name = fc
    .string({
      unit: fc.constantFrom('a', 'b', '0', '-', '.', '_', '~', '@', '/', 'A', 'Z', 'z', '2', 'd', 'e'),
      minLength: 1,
      maxLength: 260,
    })
    .filter((text) => !/^@?\/|^@$/u.test(text));
  fc.assert(
    fc.property(name, name, (one, other) => {
      if (nameProblem(postName(one)) !== undefined || !slug.test(postName(one)) || postName(one).length > 200)
        return false;
      const same = one.replace(/^@(?=[^/]+\/)/u, '') === other.replace(/^@(?=[^/]+\/)/u, '');
      return (postName(one) === postName(other)) === same || one.length > 60 || other.length > 60;
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});
