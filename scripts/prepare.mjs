/**
 * Makes the tree runnable: the locked dependencies are installed when they are missing or stale, and the sources are
 * compiled into dist/ when they are newer than the last build. If both are fresh, it only checks files.
 *
 * Several starts and test runs may call it concurrently: a process that finds something stale takes a lock and checks
 * again. The build's stamp is removed before the first output changes, so outputs with a fresh stamp are complete.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import { withLock } from './lock.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const state = join(dist, '.prepare');
const buildStamp = join(state, 'build.stamp');
const modules = join(root, 'node_modules');
const installStamp = join(modules, '.prepare.stamp');
const nodeVersionMin = [20, 19];
/** Compiled by tsc; every other file of a source folder is an asset and is copied beside the outputs. */
const compiled = /(?<!\.d)\.ts$/u;

const force = process.argv.includes('--force');
/** `--install`: installs the dependencies only. */
const installOnly = process.argv.includes('--install');

main().catch((error) => {
  console.error(error instanceof Failure ? error.message : error);
  process.exit(1);
});

class Failure extends Error {}

async function main() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < nodeVersionMin[0] || (major === nodeVersionMin[0] && minor < nodeVersionMin[1])) {
    throw new Failure(`Node ${nodeVersionMin.join('.')} or later is needed, this is ${process.versions.node}`);
  }
  if (!force && isInstalled() && (installOnly || isBuilt(listSources()))) return;
  mkdirSync(state, { recursive: true });
  await withLock(join(state, 'lock'), async () => {
    if (!isInstalled()) await install();
    if (installOnly) return;
    const sources = listSources();
    if (force || !isBuilt(sources)) await build(sources);
  });
}

// ---- dependencies ----

function isInstalled() {
  return read(installStamp) === installedDigest();
}

/** A digest of the lock file and of npm's own record of node_modules: a change of either triggers another check. */
function installedDigest() {
  const hash = createHash('sha256');
  hash.update(readFileSync(join(root, 'package-lock.json')));
  hash.update('\0');
  hash.update(read(join(modules, '.package-lock.json')) ?? '');
  return hash.digest('hex');
}

async function install() {
  if (!matchesLock()) {
    console.error('installing the locked dependencies …');
    await run(
      'npm',
      ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
      'the dependencies could not be installed',
    );
    rmSync(buildStamp, { force: true });
  }
  replace(installStamp, installedDigest());
}

/** Whether npm has installed exactly the locked packages, by whatever command. */
function matchesLock() {
  const record = read(join(modules, '.package-lock.json'));
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages ?? {};
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
  const isSame = (path) =>
    installed[path]?.version === locked[path]?.version && installed[path]?.integrity === locked[path]?.integrity;
  return (
    Object.keys(installed).every((path) => isSame(path) && existsSync(join(root, path))) &&
    Object.entries(locked).every(
      ([path, entry]) =>
        path === '' || entry.optional === true || entry.devOptional === true || entry.peer === true || isSame(path),
    )
  );
}

// ---- build ----

function sourceFolders() {
  return JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).include.filter((folder) =>
    existsSync(join(root, folder)),
  );
}

/** By path: `<mtime>:<size>` of every source file, and of each file that also affects the outputs. */
function listSources() {
  const sources = new Map();
  const note = (path) => {
    const { mtimeMs, size } = statSync(join(root, path));
    sources.set(path, `${mtimeMs}:${size}`);
  };
  for (const folder of sourceFolders())
    walk(join(root, folder), (file) => {
      note(relative(root, file));
    });
  note('tsconfig.json');
  note(join('scripts', 'prepare.mjs'));
  note('package.json');
  return sources;
}

function walk(folder, visit) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) walk(path, visit);
    else if (entry.isFile()) visit(path);
  }
}

function sourcesDigest(sources) {
  const hash = createHash('sha256');
  for (const path of [...sources.keys()].sort()) hash.update(`${path}\0${sources.get(path)}\0`);
  hash.update(read(installStamp) ?? '');
  return hash.digest('hex');
}

function isBuilt(sources) {
  return read(buildStamp) === sourcesDigest(sources);
}

async function build(sources) {
  console.error('building …');
  rmSync(buildStamp, { force: true });
  const outputs = plan(sources);
  await compile();
  if (outputs.compiled.some((path) => !existsSync(join(dist, path)))) {
    // Somebody deleted outputs, so the compiler's record of its outputs is wrong.
    rmSync(join(dist, '.tsbuildinfo'), { force: true });
    await compile();
  }
  for (const path of outputs.assets) copyWhenNewer(join(root, path), join(dist, path));
  removeOthers(outputs.all);
  makeRunnable();
  replace(buildStamp, sourcesDigest(sources));
}

async function compile() {
  await run(
    process.execPath,
    [join(modules, 'typescript', 'bin', 'tsc'), '-p', root, '--pretty', 'false'],
    'the sources do not compile',
  );
}

/** Sets the executable bit: npx links the package's programs once, and later runs whatever file is there. */
function makeRunnable() {
  const { bin = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const program of Object.values(bin)) if (existsSync(join(root, program))) chmodSync(join(root, program), 0o755);
}

/** The files of dist/ after a build of `sources`. */
function plan(sources) {
  const folders = sourceFolders();
  const assets = [];
  const outputs = [];
  const all = new Set(['.tsbuildinfo']);
  for (const path of sources.keys()) {
    if (!folders.includes(path.split(sep)[0])) continue;
    if (compiled.test(path)) {
      const stem = path.replace(compiled, '');
      outputs.push(`${stem}.js`);
      for (const extension of ['.js', '.js.map', '.d.ts']) all.add(stem + extension);
    } else if (!path.endsWith('.d.ts')) {
      assets.push(path);
      all.add(path);
    }
  }
  return { assets, compiled: outputs, all };
}

function copyWhenNewer(from, to) {
  const source = statSync(from);
  const target = statSync(to, { throwIfNoEntry: false });
  if (target !== undefined && target.size === source.size && target.mtimeMs >= source.mtimeMs) return;
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/** Removes outputs of deleted sources, so that no deleted test runs and no deleted plugin loads. */
function removeOthers(expected) {
  const sweep = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (path === state) continue;
      if (entry.isDirectory()) sweep(path);
      else if (!expected.has(relative(dist, path))) rmSync(path, { force: true });
    }
    if (folder !== dist && readdirSync(folder).length === 0) rmdirSync(folder);
  };
  sweep(dist);
}

// ---- files and processes ----

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a file in one step: a reader sees the old text or the new one. */
function replace(path, text) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

function run(command, args, failure) {
  return new Promise((resolve, reject) => {
    // Standard output is for the program that is started afterwards.
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
    child.on('error', (cause) => {
      reject(new Failure(`${failure}: ${cause.message}`));
    });
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Failure(`${failure} (${command === 'npm' ? 'npm' : 'tsc'}: ${signal ?? `exit ${code}`})`));
    });
  });
}
