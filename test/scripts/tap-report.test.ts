import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';

const program = `
  const { Report } = await import(${JSON.stringify(pathToFileURL(join(repository, 'scripts', 'tap-report.mjs')).href)});
  const report = new Report();
  for (const line of require('fs').readFileSync(0, 'utf8').split('\\n')) report.read(line);
  console.log(JSON.stringify({ passed: report.passed, failed: report.failed, files: report.filesSeen,
    skips: report.skips }));
`;

const ofFile = program.replace(
  /for \(.*/u,
  "report.readFile('a.test.js', JSON.parse(require('fs').readFileSync(0, 'utf8')));",
);

/** The counts, and the output before them. */
function report(stream: string, using = program): { readonly counts: unknown; readonly printed: string } {
  const output = execFileSync(process.execPath, ['--input-type=commonjs', '-e', `(async () => {${using}})()`], {
    input: stream,
    encoding: 'utf8',
  }).trimEnd();
  const last = output.lastIndexOf('\n');
  return { counts: JSON.parse(output.slice(last + 1)) as unknown, printed: output.slice(0, Math.max(last, 0)) };
}

test('assertions count, and what only sums them up does not', async (t) => {
  const { counts, printed } = report(
    'TAP version 14\n# Subtest: a.test.js\n    # Subtest: one\n        ok 1 - first\n        ok 2 - second\n' +
      '        1..2\n    ok 1 - one # time=3ms\n    ok 2 - outside\n    1..2\nok 1 - a.test.js # time=5ms\n1..1\n',
  );
  t.strictSame(counts, { passed: 3, failed: 0, files: 1, skips: [] });
  t.equal(printed, 'ok   a.test.js 5ms');
});

test('a failed assertion counts once and is shown with its diagnosis', async (t) => {
  const { counts, printed } = report(
    '# Subtest: a.test.js\n    # Subtest: one\n        not ok 1 - equal\n          ---\n          compare: ===\n' +
      '          ...\n        1..1\n    not ok 1 - one # time=3ms\n    1..1\nnot ok 1 - a.test.js # time=5ms\n1..1\n',
  );
  t.strictSame(counts, { passed: 0, failed: 1, files: 1, skips: [] });
  t.match(printed, /FAILED a\.test\.js > one > equal\n {2}compare: ===\nFAIL a\.test\.js 5ms/u);
});

test('a file that fails although its assertions pass has failed, and so has one in which nothing ran', async (t) => {
  t.match(
    report(
      '# Subtest: a.test.js\n    ok 1 - fine\n    1..1\nnot ok 1 - a.test.js # time=5ms\n  ---\n  exitCode: 3\n  ...\n',
    ).counts,
    { passed: 1, failed: 1 },
  );
  t.match(report('# Subtest: a.test.js\n    1..0 # no tests found\nok 1 - a.test.js # SKIP no tests found\n').counts, {
    passed: 0,
    failed: 1,
    skips: [],
  });
});

test('a skip is kept with its reason', async (t) => {
  const { counts } = report(
    '# Subtest: a.test.js\n    ok 1 - engine # SKIP no engine runs here\n    ok 2 - other # SKIP\n    1..2\n' +
      'ok 1 - a.test.js # time=5ms\n',
  );
  t.strictSame(counts, {
    passed: 0,
    failed: 0,
    files: 1,
    skips: ['a.test.js > engine: no engine runs here', 'a.test.js > other: no reason given'],
  });
});

test("a file's result is its output and its exit", async (t) => {
  const ran = (output: string, ended: number | string): ReturnType<typeof report> =>
    report(JSON.stringify({ output, ended, ms: 5 }), ofFile);
  const whole = ran('TAP version 14\n# Subtest: one\n    ok 1 - first\n    1..1\nok 1 - one # time=3ms\n1..1\n', 0);
  t.strictSame(whole, { counts: { passed: 1, failed: 0, files: 1, skips: [] }, printed: 'ok   a.test.js 5ms' });
  t.match(ran('TAP version 14\nok 1 - first\n', 'SIGKILL'), {
    counts: { passed: 1, failed: 1 },
    printed: /FAILED a\.test\.js\n {2}ended: SIGKILL/u,
  });
  t.match(ran('not ok 1 - first\n', 1).counts, { passed: 0, failed: 1 }, 'counted once');
  for (const nothing of ['', 'words\n', 'TAP version 14\n1..0\n'])
    t.match(ran(nothing, 0), { counts: { passed: 0, failed: 1 }, printed: /the file ran no test/u });
});
