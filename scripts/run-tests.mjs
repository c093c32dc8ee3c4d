/**
 * Runs the compiled tests: all test files, or the files with one of the arguments in their path (`npm test -- test/log
 * names`). Prints one line for each file, all failures, all skipped tests with reasons, and finally `N passed, N
 * failed`.
 *
 * Each file runs in a process that prints TAP. The runner of tap itself would load a compiler, mocks and coverage into
 * each process. This takes a second of CPU time, and compiled tests do not need it.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { Report } from './tap-report.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/**
 * The number of files that run concurrently: one more than two cores, because many tests mostly wait, for example until
 * a server stops or a lease expires.
 */
const jobs = 3;
/** The time limit of a file. Property tests and tests that start servers take long on a slow machine. */
const fileTimeoutSeconds = 300;
/** The time after which a file is killed. tap ends a file at the time limit, unless the file is in an endless loop. */
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
  console.error(words.length === 0 ? 'no test files found' : `no path of a test file contains ${words.join(' or ')}`);
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

/** Runs a file. Returns the output, the exit code or signal, and the duration. */
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
