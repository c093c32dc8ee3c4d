/**
 * Runs the compiled tests with tap: all of them, or the files whose path holds one of the given words
 * (`npm test -- test/log names`); what begins with a dash goes to tap. Prints one line a file, everything that failed,
 * every skip with its reason, and last `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { Report } from './tap-report.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** One more than two cores: many tests wait, for a server to stop or a lease to run out. */
const jobs = 3;
/** Property tests and tests that start servers take long on a slow machine; a hung file must still end. */
const fileTimeoutSeconds = 300;

const args = process.argv.slice(2);
const words = args.filter((arg) => !arg.startsWith('-')).map((word) => word.replace(/^\.\//u, '').replace(/^dist\//u, '').replace(/\.[jt]s$/u, '.'));
const files = testFiles(join(root, 'dist', 'test'))
  .map((file) => relative(root, file))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();

if (files.length === 0) {
  console.error(words.length === 0 ? 'there is no test' : `no test file's path holds ${words.join(' or ')}`);
  finish(0, 1);
} else {
  await runTap();
}

function testFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith('.test.js') ? [path] : [];
  });
}

async function runTap() {
  const tap = join(root, 'node_modules', 'tap', 'dist', 'esm', 'run.mjs');
  const preload = pathToFileURL(join(root, 'scripts', 'unfollowed-promises.mjs')).href;
  const flags = [`--node-arg=--import=${preload}`, '--disable-coverage', `--jobs=${jobs}`, `--timeout=${fileTimeoutSeconds}`, '--reporter=tap', '--no-color'];
  const child = spawn(process.execPath, [tap, 'run', ...flags, ...args.filter((arg) => arg.startsWith('-')), ...files], {
    cwd: root, stdio: ['ignore', 'pipe', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => { child.kill(signal); });
  const exited = new Promise((resolve) => { child.once('exit', (code, signal) => { resolve(signal ?? code); }); });
  const report = new Report();
  for await (const line of createInterface({ input: child.stdout })) report.read(line);
  const code = await exited;
  for (const skip of report.skips) console.log(`skipped: ${skip}`);
  if (report.skips.length > 0) console.log(`${report.skips.length} skipped`);
  // A run that ends badly without a failed assertion (a crash of the runner, a file that never reported) has failed too.
  const missing = files.length - report.filesSeen;
  if (missing > 0) console.log(`${missing} of ${files.length} files did not report`);
  const failed = report.failed + Math.max(missing, 0);
  finish(report.passed, failed === 0 && code !== 0 ? 1 : failed);
}

function finish(passed, failed) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
