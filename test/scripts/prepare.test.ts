import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { test } from 'tap';

import { repository } from '../architecture/repository.ts';

/** A small tree with the real scripts and installed dependencies. */
function plant(folder: string): void {
  cpSync(join(repository, 'scripts'), join(folder, 'scripts'), { recursive: true });
  write(folder, 'package.json', '{"type":"module"}');
  write(folder, 'package-lock.json', '{"packages":{"":{}}}');
  write(folder, 'node_modules/.package-lock.json', '{"packages":{}}');
  symlinkSync(join(repository, 'node_modules', 'typescript'), join(folder, 'node_modules', 'typescript'));
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    rootDir: '.',
    outDir: 'dist',
    declaration: true,
    sourceMap: true,
    incremental: true,
    tsBuildInfoFile: 'dist/.tsbuildinfo',
    types: [],
    lib: ['es2023'],
  };
  write(folder, 'tsconfig.json', JSON.stringify({ compilerOptions, include: ['src', 'plugins', 'absent'] }));
  write(folder, 'src/one.ts', 'export const one: number = 1;\n');
  write(folder, 'src/two.ts', 'export const two: number = 2;\n');
  write(folder, 'plugins/a/plugin.yaml', 'kind: Plugin\n');
  write(folder, 'plugins/a/src/main/resources/extensions/roles.yaml', 'kind: Role\n');
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function prepare(folder: string): Promise<{ readonly code: number; readonly output: string }> {
  try {
    // Not in the tree's own folder: the scripts find it by their place.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, 'scripts', 'prepare.mjs')], {
      cwd: '/',
    });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as {
      readonly code: number;
      readonly stdout: string;
      readonly stderr: string;
    };
    return { code, output: stdout + stderr };
  }
}

test('a tree is built once, and again only for what changed', async (t) => {
  const folder = join(t.testdir(), 'with spaces');
  plant(folder);
  t.match(await prepare(folder), { code: 0, output: /building/u });
  for (const path of [
    'src/one.js',
    'src/one.d.ts',
    'src/one.js.map',
    'plugins/a/plugin.yaml',
    'plugins/a/src/main/resources/extensions/roles.yaml',
  ])
    t.ok(existsSync(join(folder, 'dist', path)), path);
  const built = statSync(join(folder, 'dist/src/one.js')).mtimeMs;
  t.strictSame(await prepare(folder), { code: 0, output: '' }, 'nothing to do');

  write(folder, 'src/two.ts', 'export const two: number = 22;\n');
  write(folder, 'plugins/a/plugin.yaml', 'kind: Plugin # changed\n');
  t.match(await prepare(folder), { code: 0, output: /building/u });
  t.match(readFileSync(join(folder, 'dist/src/two.js'), 'utf8'), '22');
  t.match(readFileSync(join(folder, 'dist/plugins/a/plugin.yaml'), 'utf8'), 'changed');
  t.equal(statSync(join(folder, 'dist/src/one.js')).mtimeMs, built, 'what did not change is not written again');
});

test('a program can be run however often it is built', async (t) => {
  const folder = t.testdir();
  plant(folder);
  write(folder, 'package.json', '{"type":"module","bin":{"one":"dist/src/one.js","none":"dist/src/none.js"}}');
  for (const round of ['first', 'again']) {
    t.match(await prepare(folder), { code: 0 }, round);
    t.equal(statSync(join(folder, 'dist/src/one.js')).mode & 0o111, 0o111, round);
    rmSync(join(folder, 'dist'), { recursive: true });
  }
});

test('outputs of deleted sources are removed', async (t) => {
  const folder = t.testdir();
  plant(folder);
  await prepare(folder);
  rmSync(join(folder, 'src/two.ts'));
  rmSync(join(folder, 'plugins/a'), { recursive: true });
  t.match(await prepare(folder), { code: 0 });
  for (const path of ['src/two.js', 'src/two.d.ts', 'src/two.js.map', 'plugins'])
    t.notOk(existsSync(join(folder, 'dist', path)), path);
  t.ok(existsSync(join(folder, 'dist/src/one.js')));
});

test('outputs deleted behind its back are made again with the next build', async (t) => {
  const folder = t.testdir();
  plant(folder);
  await prepare(folder);
  rmSync(join(folder, 'dist/src'), { recursive: true });
  write(folder, 'src/two.ts', 'export const two: number = 3;\n');
  t.match(await prepare(folder), { code: 0 });
  t.ok(existsSync(join(folder, 'dist/src/one.js')));
});

test('what does not compile fails, until it does', async (t) => {
  const folder = t.testdir();
  plant(folder);
  await prepare(folder);
  write(folder, 'src/one.ts', 'export const one: number = "one";\n');
  for (const attempt of [1, 2])
    t.match(
      await prepare(folder),
      { code: 1, output: /src\/one\.ts\(1,14\).*do not compile/su },
      `attempt ${attempt.toString()}`,
    );
  write(folder, 'src/one.ts', 'export const one: number = 1;\n');
  t.match(await prepare(folder), { code: 0 });
});

test('several at once build once', async (t) => {
  const folder = t.testdir();
  plant(folder);
  const all = await Promise.all(Array.from({ length: 4 }, () => prepare(folder)));
  t.strictSame(
    all.map(({ code }) => code),
    [0, 0, 0, 0],
  );
  t.equal(all.filter(({ output }) => output.includes('building')).length, 1);
  t.ok(existsSync(join(folder, 'dist/src/one.js')));
  t.notOk(existsSync(join(folder, 'dist/.prepare/lock')));
});

test('a lock of a killed holder is taken over', async (t) => {
  const folder = t.testdir();
  plant(folder);
  // No process has the highest id there is.
  write(folder, 'dist/.prepare/lock', `${hostname()} 4194304 0`);
  t.match(await prepare(folder), { code: 0, output: /building/u });
});
