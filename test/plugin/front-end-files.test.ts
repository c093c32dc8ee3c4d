import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { test, type Test } from 'tap';

import {
  frontEndBytesMax,
  frontEndDepthMax,
  frontEndFilesMax,
  frontEndNameLengthMax,
} from '../../src/limits/plugins.ts';
import { readFrontEnd, type FrontEndRead } from '../../src/plugin/folders/front-end-files.ts';
import { decodeManifest } from '../../src/plugin/load/manifest.ts';
import { temporaryFolder } from './host/host-stage.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

async function reading(t: Test, files: Files, inner = 'console'): Promise<FrontEndRead> {
  const path = await temporaryFolder(t);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return readFrontEnd({ path, name: 'garden', bundled: false }, inner);
}

async function problemOf(t: Test, files: Files, inner?: string): Promise<string | undefined> {
  const read = await reading(t, files, inner);
  return read.ok ? undefined : read.problem;
}

async function digestOf(t: Test, files: Files): Promise<string> {
  const read = await reading(t, files);
  return read.ok ? read.frontEnd.digest : read.problem;
}

const entry = { 'console/index.js': 'export default {}' };

test('only files that the console serves, and their compressed forms, are parts of a front end', async (t) => {
  const read = await reading(t, {
    ...entry,
    'console/index.js.br': brotliCompressSync('export default {}'),
    'console/index.js.map': '{}',
    'console/page.html': '<p>',
    'console/.env.js': 'x',
    'console/run.sh': 'x',
    'console/assets/leaf.svg': '<svg/>',
    'main.js': 'x',
  });
  t.strictSame(read.ok && [...read.frontEnd.files.keys()].sort(), ['assets/leaf.svg', 'index.js', 'index.js.br']);
});

test('the digest changes with every name and content, and only then', async (t) => {
  const first = await digestOf(t, { ...entry, 'console/a.css': '1' });
  t.match(first, /^[0-9a-f]{24}$/u);
  t.equal(await digestOf(t, { 'console/a.css': '1', ...entry, 'console/notes.txt': 'x' }), first);
  t.not(await digestOf(t, { ...entry, 'console/a.css': '2' }), first);
  t.not(await digestOf(t, { ...entry, 'console/b.css': '1' }), first);
});

test('a front end that is missing, or leads out of the plugin, is refused', async (t) => {
  t.match(await problemOf(t, {}), /^spec.console "console": the folder does not exist; build the front end first$/u);
  t.match(await problemOf(t, { 'console/index.css': '' }), /has no index\.js; build the front end first/u);
  const path = await temporaryFolder(t);
  await mkdir(join(path, 'elsewhere'));
  await writeFile(join(path, 'elsewhere', 'index.js'), '');
  await symlink('elsewhere', join(path, 'console'));
  const linked = await readFrontEnd({ path, name: 'garden', bundled: false }, 'console');
  t.match(linked, { ok: false, problem: /must not be a symbolic link/u });
  const inside = await temporaryFolder(t);
  await mkdir(join(inside, 'console'));
  await writeFile(join(inside, 'secret.js'), '');
  await symlink('../secret.js', join(inside, 'console', 'index.js'));
  t.match(await readFrontEnd({ path: inside, name: 'garden', bundled: false }, 'console'), {
    problem: /no index\.js/u,
  });
});

test('a front end has limits', async (t) => {
  const many = (count: number): Files =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`console/f${String(index)}.js`, '']));
  t.equal(await problemOf(t, { ...entry, ...many(frontEndFilesMax - 1) }), undefined);
  t.match(await problemOf(t, { ...entry, ...many(frontEndFilesMax) }), /has more than 256 files/u);
  const sized = (bytes: number): Files => ({ 'console/index.js': new Uint8Array(bytes) });
  t.equal(await problemOf(t, sized(frontEndBytesMax)), undefined);
  t.match(await problemOf(t, sized(frontEndBytesMax + 1)), /has more than 8388608 bytes/u);
  const deep = (depth: number): Files => ({ ...entry, [`console/${'d/'.repeat(depth)}a.js`]: '' });
  t.equal(await problemOf(t, deep(frontEndDepthMax)), undefined);
  t.match(await problemOf(t, deep(frontEndDepthMax + 1)), /more than 4 folders deep/u);
  const named = (length: number): Files => ({ ...entry, [`console/${'n'.repeat(length - 3)}.js`]: '' });
  t.equal(await problemOf(t, named(frontEndNameLengthMax)), undefined);
  t.match(await problemOf(t, named(frontEndNameLengthMax + 1)), /names must have at most 128 characters/u);
  t.match(await problemOf(t, { ...entry, 'console/a b.js': '' }), /only letters, digits/u);
});

test('a compressed form that is not that of its file is refused', async (t) => {
  const wrong = /^spec.console "console": index.js.(?:br|gz) is not the compressed form of the file; build/u;
  t.match(await problemOf(t, { ...entry, 'console/index.js.br': 'not brotli' }), wrong);
  t.match(await problemOf(t, { ...entry, 'console/index.js.gz': gzipSync('of an earlier build') }), wrong);
  t.match(await problemOf(t, { 'console/index.js': '', 'console/index.js.gz': gzipSync(Buffer.alloc(9e6)) }), wrong);
  const right = { 'console/index.js.br': brotliCompressSync('export default {}'), 'console/gone.js.gz': 'x' };
  t.equal(await problemOf(t, { ...entry, ...right }), undefined);
  t.equal(await problemOf(t, { 'console/index.js': '', 'console/index.js.gz': gzipSync('') }), undefined);
});

test('a file is read only if it is still the same, and never through a link or a pipe', async (t) => {
  const path = await temporaryFolder(t);
  const file = join(path, 'console', 'index.js');
  await mkdir(dirname(file));
  await writeFile(file, 'one');
  await writeFile(join(path, 'other'), 'one');
  const opened = await readFrontEnd({ path, name: 'garden', bundled: false }, 'console');
  const read = async (): Promise<string | undefined> =>
    opened.ok ? (await opened.frontEnd.files.get('index.js')?.read())?.toString() : opened.problem;
  t.equal(await read(), 'one');
  await writeFile(file, 'two');
  t.equal(await read(), undefined);
  await rm(file);
  t.equal(await read(), undefined);
  await symlink('../other', file);
  t.equal(await read(), undefined);
  await rm(file);
  execFileSync('mkfifo', [file]);
  t.equal(await read(), undefined);
  await rm(file);
  await writeFile(file, 'one');
  t.equal(await read(), 'one');
});

test('spec.console is the path of a folder named console', async (t) => {
  const problems = (console: unknown): readonly string[] => {
    const document = {
      apiVersion: 'plugin.svc.run/v1alpha1',
      kind: 'Plugin',
      metadata: { name: 'a' },
      spec: { console },
    };
    const decoded = decodeManifest(JSON.stringify(document), 'svc.run');
    return decoded.ok ? [] : decoded.problems;
  };
  for (const path of ['console', 'dist/console', 'a.b/c-d/console/']) t.strictSame(problems(path), [], path);
  for (const path of ['', '/console', '../console', 'a/../console', 'dist', 'console/index.js', 'xconsole', 7, {}])
    t.match(problems(path).join(), /spec\.console: must be the path of a folder named console/u, JSON.stringify(path));
});
