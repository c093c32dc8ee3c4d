import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A build to compare with. `program`: the path of its server. */
export type EarlierBuild = { readonly name: string; readonly program: string };

const root = resolve(import.meta.dirname, '../../..');
const mainBranches = ['origin/main', 'main'];

/**
 * Returns the build in the folder `named`, or of the commit `named`, or of the merge base with the main branch. A
 * commit is built in a temporary worktree, which is removed when the process exits.
 */
export function earlierBuild(named: string | undefined): EarlierBuild {
  if (named !== undefined && statSync(named, { throwIfNoEntry: false })?.isDirectory() === true)
    return { name: named, program: programIn(resolve(named)) };
  const commit = named === undefined ? mergeBase() : commitOf(named);
  return { name: commit.slice(0, 10), program: programIn(buildCommit(commit)) };
}

function programIn(dir: string): string {
  const program = join(dir, 'dist/src/main.js');
  if (!existsSync(program)) throw new Error(`${dir} has no build: run "npm run build" there`);
  return program;
}

function commitOf(named: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${named}^{commit}`);
  } catch {
    throw new RangeError(`${JSON.stringify(named)} is neither a folder nor a commit`);
  }
}

function mergeBase(): string {
  const main = mainBranches.find((branch) => git('branch', '--all', '--list', branch, `remotes/${branch}`) !== '');
  if (main === undefined) throw new Error('no main branch is here: name a commit or a folder');
  const base = git('merge-base', 'HEAD', main);
  if (base === git('rev-parse', 'HEAD') && git('status', '--porcelain') === '')
    throw new Error(`HEAD is the merge base with ${main}: name a commit or a folder`);
  return base;
}

function buildCommit(commit: string): string {
  const dir = join(mkdtempSync(join(tmpdir(), 'ledgerplane-build-')), 'tree');
  process.once('exit', () => {
    rmSync(resolve(dir, '..'), { recursive: true, force: true });
    git('worktree', 'prune');
  });
  console.error(`building ${commit.slice(0, 10)} …`);
  git('worktree', 'add', '--detach', '--quiet', dir, commit);
  const lock = 'package-lock.json';
  // A build with the same lock file shares the installed dependencies; any other build installs its own.
  if (readFileSync(join(dir, lock), 'utf8') === readFileSync(join(root, lock), 'utf8'))
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  execFileSync(process.execPath, ['scripts/prepare.mjs'], { cwd: dir, stdio: ['ignore', 2, 2] });
  return dir;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}
