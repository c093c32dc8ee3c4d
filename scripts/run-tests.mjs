/**
 * Runs the compiled tests: all of them, or the files with one of the given words in their path (`npm test -- test/log
 * names`). Prints one line a file, everything that failed, every skip with its reason, and last `N passed, N failed`.
 *
 * Each file runs in a process that prints TAP. tap's own runner would load a compiler, mocks and coverage into each
 * process, which costs a second of CPU and is of no use to compiled tests.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { Report } from './tap-report.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/**
 * The number of concurrent files, one more than two cores: many tests only wait, for a server to stop or a lease to
 * expire.
 */
const jobs = 3;
/** Property tests and tests that start servers take long on a slow machine; a hung file must still end. */
const fileTimeoutSeconds = 300;
/** tap ends a file at the time limit itself. A file in an endless loop is killed later. */
const killAfterMs = (fileTimeoutSeconds + 15) * 1_000;
const nodeArgs = [
  '--enable-source-maps',
  `--import=${pathToFileURL(join(root, 'scripts', 'unfollowed-promises.mjs')).href}`,
];

const words = process.argv.slice(2).map((arg) =>
  arg
    .replace(/^\.\//u, '')
    .replace(/^dist\//u, '')
    .replace(/\.[jt]s$/u, '.'),
);
const files = testFiles(join(root, 'dist', 'test'))
  .map((file) => relative(root, file))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();

if (files.length === 0) {
  console.error(words.length === 0 ? 'there is no test' : `no test file's path holds ${words.join(' or ')}`);
  finish(0, 1);
} else {
  await runAll();
}

function testFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith('.test.js') ? [path] : [];
  });
}

async function runAll() {
  const report = new Report();
  const waiting = [...files];
  const running = new Set();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      for (const child of running) child.kill(signal);
      process.kill(process.pid, signal);
    });
  }
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      report.readFile(file, await runFile(file, running));
  };
  await Promise.all(Array.from({ length: jobs }, work));
  for (const skip of report.skips) console.log(`skipped: ${skip}`);
  if (report.skips.length > 0) console.log(`${report.skips.length} skipped`);
  finish(report.passed, report.failed);
}

/** The file's output, its exit code or signal, and its duration. */
async function runFile(file, running) {
  const began = performance.now();
  const child = spawn(process.execPath, [...nodeArgs, file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TAP_TIMEOUT: String(fileTimeoutSeconds) },
  });
  running.add(child);
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
  }, killAfterMs);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const ended = await new Promise((resolve) => {
    child.once('close', (code, signal) => {
      resolve(signal ?? code);
    });
  });
  clearTimeout(timer);
  running.delete(child);
  return { output, ended, ms: performance.now() - began };
}

function finish(passed, failed) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
