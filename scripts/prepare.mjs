/**
 * Prepares the tree to run: installs the locked dependencies if they are missing or outdated, compiles the sources into
 * dist/ if they have changed since the last build, and bundles the console and the front ends of plugins in the same
 * way (`console-build.mjs`). If all are up to date, this script only checks files.
 *
 * Several processes may run this script concurrently: a process that finds outdated files acquires a lock and checks
 * again. The stamp of the build is removed before the first output changes, so that outputs with a valid stamp are
 * complete.
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
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundlesOf, frontEndFolders } from './console-build.mjs';
import { withLock } from './lock.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const state = join(dist, '.prepare');
const buildStamp = join(state, 'build.stamp');
const modules = join(root, 'node_modules');
const installStamp = join(modules, '.prepare.stamp');
const nodeVersionMin = [20, 19];
/** Matches sources that tsc compiles. Every other file in a source folder is an asset, which is copied to dist/. */
const compiled = /(?<!\.d)\.ts$/u;

const force = process.argv.includes('--force');
/** Whether only the dependencies are installed, without a build. */
const installOnly = process.argv.includes('--install');

main().catch((error) => {
  console.error(error instanceof Failure ? error.message : error);
  process.exit(1);
});

class Failure extends Error {}

async function main() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < nodeVersionMin[0] || (major === nodeVersionMin[0] && minor < nodeVersionMin[1])) {
    throw new Failure(`Node ${nodeVersionMin.join('.')} or later is required; this is Node ${process.versions.node}`);
  }
  const bundles = bundlesOf({ root, run, read, replace });
  const areBundled = () => bundles.every((bundle) => bundle.isCurrent());
  if (!force && isInstalled() && (installOnly || (isBuilt(listSources()) && areBundled()))) return;
  mkdirSync(state, { recursive: true });
  await withLock(join(state, 'lock'), async () => {
    if (!isInstalled()) await install();
    if (installOnly) return;
    const sources = listSources();
    if (force || !isBuilt(sources)) await build(sources);
    for (const bundle of bundles) if (force || !bundle.isCurrent()) await bundle.build();
  });
}

function isInstalled() {
  return read(installStamp) === installedDigest();
}

/** Returns a digest of package-lock.json and of npm's record of node_modules. A changed digest causes another check. */
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
      'could not install the dependencies',
    );
    rmSync(buildStamp, { force: true });
  }
  replace(installStamp, installedDigest());
}

/** Returns whether exactly the locked packages are installed, independent of the npm command that installed them. */
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

function sourceFolders() {
  return compilerInput('include').filter((folder) => existsSync(join(root, folder)));
}

/** Returns a list of tsconfig.json: `include`, or `exclude`, which may be absent. */
function compilerInput(member) {
  return JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))[member] ?? [];
}

/** Returns, by path, `<mtime>:<size>` of every source file and of every other file that affects the outputs. */
function listSources() {
  const sources = new Map();
  const note = (path) => {
    const { mtimeMs, size } = statSync(join(root, path));
    sources.set(path, `${mtimeMs}:${size}`);
  };
  // A plugin with a package.json of its own is compiled by its author, and is not loaded by default.
  const excluded = new Set([...compilerInput('exclude'), ...frontEndFolders(root)].map((folder) => join(root, folder)));
  for (const folder of sourceFolders())
    walk(join(root, folder), excluded, (file) => {
      note(relative(root, file));
    });
  note('tsconfig.json');
  note(join('scripts', 'prepare.mjs'));
  note('package.json');
  return sources;
}

function walk(folder, excluded, visit) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules' || excluded.has(path)) continue;
    if (entry.isDirectory()) walk(path, excluded, visit);
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
    // Outputs were deleted by hand, so the compiler's record of its outputs is invalid.
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

/** Sets the executable bit of the package's programs, which npx sets only when it links the programs. */
function makeRunnable() {
  const { bin = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const program of Object.values(bin)) if (existsSync(join(root, program))) chmodSync(join(root, program), 0o755);
}

/** Returns the files in dist/ after a build of `sources`. */
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

/** Removes the outputs of deleted sources, so that deleted tests are not run and deleted plugins are not loaded. */
function removeOthers(expected) {
  const bundled = new Set(['console', ...frontEndFolders(root)].map((folder) => join(dist, folder)));
  const sweep = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (path === state || bundled.has(path)) continue;
      if (entry.isDirectory()) sweep(path);
      else if (!expected.has(relative(dist, path))) rmSync(path, { force: true });
    }
    if (folder !== dist && readdirSync(folder).length === 0) rmdirSync(folder);
  };
  sweep(dist);
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces a file atomically: readers get either the old text or the new text. */
function replace(path, text) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

function run(command, args, failure) {
  const program = command === 'npm' ? 'npm' : basename(args[0] ?? command);
  return new Promise((resolve, reject) => {
    // The output goes to standard error, because standard output belongs to the program that runs afterwards.
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
    child.on('error', (cause) => {
      reject(new Failure(`${failure}: ${cause.message}`));
    });
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Failure(`${failure} (${program}: ${signal ?? `exit ${code}`})`));
    });
  });
}
