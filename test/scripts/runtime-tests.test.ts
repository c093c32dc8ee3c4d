import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';

test('each line of the list of files that depend on the runtime names tests that exist', async (t) => {
  const list = await readFile(join(repository, 'scripts', 'runtime-tests.txt'), 'utf8');
  const parts = list.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const files = (await readdir(join(repository, 'test'), { recursive: true })).map((file) => `test/${file}`);
  t.ok(parts.length > 0);
  for (const part of parts)
    t.ok(
      files.some((file) => file.endsWith('.test.ts') && file.includes(part)),
      part,
    );
});

test('the continuous integration runs them on each supported version that does not run the whole suite', async (t) => {
  const run = await readFile(join(repository, '.ci', 'run'), 'utf8');
  t.match(run, /^ {2}test_on 24$/mu);
  t.match(run, /for version in 20 22 26; do test_on "\$version" "\$\{dependent\[@\]\}"; done/u);
});
