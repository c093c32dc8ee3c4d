import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';

for (const list of ['runtime-tests.txt', 'slow-tests.txt']) {
  test(`each line of ${list} names tests that exist`, async (t) => {
    const lines = (await readFile(join(repository, 'scripts', list), 'utf8')).split('\n');
    const parts = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const files = (await readdir(join(repository, 'test'), { recursive: true })).map((file) => `test/${file}`);
    t.ok(parts.length > 0);
    for (const part of parts)
      t.ok(
        files.some((file) => file.endsWith('.test.ts') && file.replace(/ts$/u, '').includes(part)),
        part,
      );
  });
}

test('the continuous integration runs all files on one version, and the first list on the others', async (t) => {
  const run = await readFile(join(repository, '.ci', 'run'), 'utf8');
  t.match(run, /^ {2}test_on 24 --all$/mu);
  t.match(run, /for version in 20 22 26; do test_on "\$version" "\$\{dependent\[@\]\}"; done/u);
});
