/**
 * Runs the compiled tests: all test files except for slow ones, all test files (`--all`), or the files with one of the
 * arguments in their path (`npm test -- test/log names`). Prints one line for each file, all failures, all skipped
 * tests with reasons, and finally `N passed, N failed`.
 *
 * Each file runs in a process that prints TAP. The runner of tap would need another second of CPU time for each
 * process, because it loads a compiler, mocks and coverage, which compiled tests do not need.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { Report } from './tap-report.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/**
 * The number of files that run concurrently. Two cores can run three files, because many tests mostly wait, for example
 * until a server stops or a lease expires.
 */
const jobs = 3;
/** The time limit of a file. Property tests and tests that start servers take long on a slow machine. */
const fileTimeoutSeconds = 300;
/** The time after which a file is killed. tap ends a file at the time limit, unless the file is in an endless loop. */
const killAfterMs = (fileTimeoutSeconds + 15) * 1_000;
const nodeArgs = [`--import=${pathToFileURL(join(root, 'scripts', 'unfollowed-promises.mjs')).href}`];

/** The parts of paths of the slow files. `npm test` runs these files only with `--all` or by name. */
const slow = readFileSync(join(root, 'scripts', 'slow-tests.txt'), 'utf8')
  .split('\n')
  .filter(isPattern)
  .map(asPart);
const args = process.argv.slice(2);
const words = args.filter((arg) => arg !== '--all').map(asPart);
const existing = testFiles(join(root, 'dist', 'test')).map((file) => relative(root, file));
const files = existing.filter((file) => isWanted(file)).sort();

/**
 * Returns whether to run the file. Arguments other than `--all` select files by a part of the path. Without such
 * arguments, all files are selected, but slow files only with `--all`.
 */
function isWanted(file) {
  if (words.length > 0) return words.some((word) => file.includes(word));
  return args.includes('--all') || !slow.some((part) => file.includes(part));
}

/** Converts an argument, which may be the path of a source, to a part of the path of a compiled file. */
function asPart(arg) {
  return arg
    .replace(/^\.\//u, '')
    .replace(/^dist\//u, '')
    .replace(/\.[jt]s$/u, '.');
}

if (files.length === 0) {
  console.error(words.length === 0 ? 'no test files found' : `no path of a test file contains ${words.join(' or ')}`);
  finish(0, 1);
} else {
  await runAll();
}

function isPattern(line) {
  return line !== '' && !line.startsWith('#');
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
  // This module imports compiled code, which exists only after a build. The import therefore follows the check for test
  // files.
  const { withSourcePlaces } = await import('./source-places.mjs');
  const inSources = (line) => withSourcePlaces(line, root);
  const report = new Report(inSources);
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
      report.readFile(file, await runFile(file, { running, inSources }));
  };
  await Promise.all(Array.from({ length: jobs }, work));
  for (const skip of report.skips) console.log(`skipped: ${skip}`);
  if (report.skips.length > 0) console.log(`${report.skips.length} skipped`);
  if (words.length === 0 && files.length < existing.length)
    console.log(`left out: ${existing.length - files.length} slow files, which \`npm test -- --all\` runs as well`);
  finish(report.passed, report.failed);
}

/** Runs a file. Returns the output, the exit code or signal, and the duration. */
async function runFile(file, { running, inSources }) {
  const began = performance.now();
  const child = spawn(process.execPath, [...nodeArgs, file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
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
  createInterface({ input: child.stderr }).on('line', (line) => {
    console.error(inSources(line));
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
