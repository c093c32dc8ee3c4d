import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';

import fc from 'fast-check';
import { test } from 'tap';

import type * as Ui from '../../src/sdk/ui.ts';
import { repository } from '../architecture/repository.ts';

/** The built file, found as a front end finds it: through the package's exports. */
const built = createRequire(join(repository, 'package.json')).resolve('ledgerplane/ui');
const { permitted } = (await import(built)) as typeof Ui;

test('an element is shown when any of its permissions is held, or it lists none', async (t) => {
  const posts = 'plugin:content:posts:manage';
  const tags = 'plugin:content:tags:manage';
  const table: readonly (readonly [readonly string[] | undefined, readonly string[], boolean])[] = [
    [undefined, [], true],
    [[], [], true],
    [[posts], [], false],
    [[posts], [posts], true],
    [[posts, tags], [tags], true],
    [[posts, tags], ['plugin:content:posts', 'plugin:content:*'], false],
    [[posts], ['*'], true],
    [['*'], [posts], false],
  ];
  for (const [required, held, shown] of table)
    t.equal(permitted(required, held), shown, JSON.stringify([required, held]));
  t.equal(permitted(new Set([posts]), new Set([posts])), true, 'sets will do');
});

test('more permissions never show fewer elements', async () => {
  const permissions = fc.array(fc.constantFrom('a', 'b', 'c', '*'));
  fc.assert(
    fc.property(
      permissions,
      permissions,
      permissions,
      (required, held, more) => !permitted(required, held) || permitted(required, [...held, ...more]),
    ),
    { numRuns: Number(process.env['PBT_RUNS'] ?? 1_000) },
  );
});

test('it needs nothing that a browser has not', async (t) => {
  const text = await readFile(built, 'utf8');
  t.notMatch(text, /\bimport\b|\brequire\b|\bprocess\b|\bnode:/u);
  const shown: unknown = runInNewContext(`${text.replace('export function', 'function')}\npermitted(['a'], ['a'])`, {});
  t.equal(shown, true);
});
