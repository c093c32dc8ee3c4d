/** The places in a text of failed tests: in the sources, if the compiled file has a map. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';

const module = JSON.stringify(pathToFileURL(join(repository, 'scripts', 'source-places.mjs')).href);

test('a stack names the source, however it names the compiled file', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ledgerplane-places-'));
  t.teardown(() => {
    rmSync(root, { recursive: true });
  });
  mkdirSync(join(root, 'dist', 'test'), { recursive: true });
  // The map of one line: column 1 of line 1 is line 3, column 1 of the source.
  const map = { version: 3, sources: ['../../test/a.test.ts'], names: [], mappings: 'AAEA' };
  writeFileSync(join(root, 'dist', 'test', 'a.test.js.map'), JSON.stringify(map));
  const absolute = join(root, 'dist', 'test', 'a.test.js');
  const text = [
    'deep (dist/test/a.test.js:1:1)',
    `at ${absolute}:1:1`,
    `at ${pathToFileURL(absolute).href}:1:1`,
    'at dist/test/without-map.test.js:1:1',
    'at node:internal/process:95:5',
  ].join('\n');
  const program = `
    const { withSourcePlaces } = await import(${module});
    process.stdout.write(withSourcePlaces(require('fs').readFileSync(0, 'utf8'), ${JSON.stringify(root)}));`;
  const printed = execFileSync(process.execPath, ['--input-type=commonjs', '-e', `(async () => {${program}})()`], {
    input: text,
    encoding: 'utf8',
  });
  t.strictSame(printed.split('\n'), [
    'deep (test/a.test.ts:3:1)',
    'at test/a.test.ts:3:1',
    'at test/a.test.ts:3:1',
    'at dist/test/without-map.test.js:1:1',
    'at node:internal/process:95:5',
  ]);
  t.end();
});
