import { test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { figuresOf, runBench } from './run-bench.ts';

const named = ['GET one object', 'LIST 500 objects', 'POST create', 'watch'];

test('this build is compared with a build in a folder, by rounds', async (t) => {
  const run = await runBench(['compare', repository, '--quick', '--json']);
  t.equal(run.code, 0, run.err);
  const figures = figuresOf(run);
  t.strictSame(
    figures.map(({ measure }) => measure),
    named.map((name) => `${name}, against ${repository}`),
  );
  for (const { measure, ratios = [], bound } of figures) {
    t.equal(bound, 'rounds at least', measure);
    t.equal(ratios.length, 2, measure);
    t.ok(
      ratios.every((ratio) => ratio > 0),
      measure,
    );
  }
});

test('a folder without a build and an unknown commit are refused', async (t) => {
  const empty = await runBench(['compare', t.testdir(), '--quick']);
  t.equal(empty.code, 1);
  t.match(empty.err, /has no build: run "npm run build" there/u);
  const unknown = await runBench(['compare', 'no-such-commit', '--quick']);
  t.equal(unknown.code, 1);
  t.match(unknown.err, /"no-such-commit" is neither a folder nor a commit/u);
});
