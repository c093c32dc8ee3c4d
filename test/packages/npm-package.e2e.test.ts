import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { test, type Test } from 'tap';

import { repository } from '../architecture/repository.ts';
import { temporaryFolder } from '../plugin/host/host-stage.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { run } from '../support/server/plugin-workshop.ts';

type Package = {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
};

/** A folder outside of the repository with the packed package in its node_modules, as `npm install` would unpack it. */
type Installed = {
  readonly app: string;
  /** The folder of the unpacked package. */
  readonly root: string;
  readonly manifest: Package;
  /** The paths of all files of the package. */
  readonly paths: readonly string[];
};

async function installed(t: Test): Promise<Installed> {
  const app = await temporaryFolder(t);
  const packing = ['pack', '--ignore-scripts', '--pack-destination', app, '--cache', join(app, '.npm')];
  const packed = await run(repository, 'npm', packing);
  t.equal(packed.code, 0, packed.printed);
  const modules = join(app, 'node_modules');
  const root = join(modules, 'ledgerplane');
  await mkdir(root, { recursive: true });
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as Package;
  const tarball = join(app, `ledgerplane-${version}.tgz`);
  const unpacked = await run(app, 'tar', ['-xzf', tarball, '-C', root, '--strip-components=1']);
  t.equal(unpacked.code, 0, unpacked.printed);
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Package;
  // Only declared dependencies are linked, so that an import of any other package fails.
  for (const name of [...Object.keys(manifest.dependencies), 'typescript', '@types/node']) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(repository, 'node_modules', name), join(modules, name));
  }
  await mkdir(join(modules, '.bin'));
  await symlink('../typescript/bin/tsc', join(modules, '.bin', 'tsc'));
  for (const [name, path] of Object.entries(manifest.bin))
    await symlink(join('../ledgerplane', path), join(modules, '.bin', name));
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return { app, root, manifest, paths };
}

/** Returns the names of the packages that a module imports. */
function importedIn(module: string): readonly string[] {
  const specifiers = [...module.matchAll(/(?:from|import\()\s*'([^'.][^']*)'/gu)].map(
    ([, specifier = '']) => specifier,
  );
  return specifiers
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) => /^(?:@[^/]+\/)?[^/]+/u.exec(specifier)?.[0] ?? '');
}

test('the package has all files that its manifest names, and no others', async (t) => {
  const { app, root, manifest, paths } = await installed(t);
  for (const listed of manifest.files)
    t.ok(
      paths.some((path) => path.startsWith(`${listed}/`)),
      listed,
    );
  for (const [name, target] of Object.entries(manifest.exports))
    for (const path of typeof target === 'string' ? [target] : [target.types, target.default])
      t.ok(paths.includes(path.replace(/^\.\//u, '')), `${name}: ${path}`);
  for (const path of Object.values(manifest.bin)) {
    t.match(await readFile(join(root, path), 'utf8'), /^#!\/usr\/bin\/env node\n/u);
    t.ok(((await stat(join(root, path))).mode & 0o111) !== 0, `${path} is executable`);
  }
  t.same(
    paths.filter((path) =>
      /^(?!templates\/).*(?:^|\/)(?:test|bench|demo|node_modules)\/|\.tsbuildinfo$|(?<!\.d)\.ts$/u.test(path),
    ),
    [],
    'neither sources nor tests',
  );
  const own = new Set(['ledgerplane', ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })]);
  const { dependencies } = manifest;
  for (const path of paths.filter((each) => each.startsWith('dist/src/sdk/') && /\.(?:d\.ts|js)$/u.test(each)))
    for (const name of importedIn(await readFile(join(root, path), 'utf8'))) t.ok(own.has(name), `${path}: ${name}`);
  for (const name of Object.keys(manifest.peerDependencies)) {
    t.notOk(Object.hasOwn(dependencies, name), name);
    t.equal(manifest.peerDependenciesMeta[name]?.optional, true, `${name}: only front ends need it`);
  }
  for (const path of paths) {
    const isFree = !(await readFile(join(root, path), 'utf8')).includes(repository);
    if (!isFree) t.fail(`${path} contains the path of the repository`);
  }
  const version = await run(app, join(app, 'node_modules/.bin/ledgerplane'), ['--version']);
  t.match(version, { code: 0, printed: manifest.version });
});

test('each entry point can be imported, and its types compile without skipLibCheck', async (t) => {
  const { app, manifest } = await installed(t);
  const names = Object.keys(manifest.exports)
    .filter((name) => name !== './package.json')
    .map((name) => `ledgerplane${name.slice(1)}`);
  await writeFile(join(app, 'entries.mjs'), importing(names));
  t.match(await run(app, process.execPath, ['entries.mjs']), {
    code: 0,
    printed: `${names.map(() => 'true').join(' ')}\n`,
  });
  await writeFile(join(app, 'package.json'), '{"type":"module"}');
  // Front ends are built with Vue and Vite, whose types these entry points need: test/cli/plugin compiles one.
  const typed = names.filter((name) => !name.startsWith('ledgerplane/console-kit'));
  await writeFile(join(app, 'entries.ts'), `${importing(typed)}${typeChecks}`);
  for (const form of [
    ['--module', 'nodenext'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ]) {
    const args = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node', ...form, 'entries.ts'];
    const compiled = await run(app, join(app, 'node_modules/.bin/tsc'), ['--ignoreConfig', ...args]);
    t.match(compiled, { code: 0, printed: '' }, form.join(' '));
  }
});

/** A module that imports the entry points, and prints whether each has exports. */
function importing(names: readonly string[]): string {
  const script = names.map((name, index) => `import * as e${String(index)} from '${name}';`).join('\n');
  const used = names.map((_name, index) => `Object.keys(e${String(index)}).length > 0`).join(', ');
  return `${script}\nconsole.log(${used});\n`;
}

/** Lines that compile only if the declarations of the package have types, and not `any`. */
const typeChecks = `
import { defineType, type ObjectOf } from 'ledgerplane/plugin';
import { startPlugin } from 'ledgerplane/testing';
const link = defineType({
  group: 'links.example.com', version: 'v1', kind: 'Link', singular: 'link', plural: 'links',
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
});
export type Link = ObjectOf<typeof link>;
// @ts-expect-error size is a number
export const wrong: NonNullable<NonNullable<Link['spec']>['size']> = 'one';
// @ts-expect-error the folder is missing
export const started = startPlugin({});
`;

test('a plugin that depends on the tarball is generated, tested, and served by its program', async (t) => {
  const { app, root, manifest } = await installed(t);
  const program = join(app, 'node_modules/.bin/ledgerplane');
  const made = runCommandLine(['plugin', 'new', 'notes'], { cwd: app, program });
  t.equal(await made.exited(), 0, made.stderr());
  const plugin = join(app, 'notes');
  const described = await readFile(join(plugin, 'package.json'), 'utf8');
  t.ok(described.includes(`"ledgerplane": "^${manifest.version}"`), 'an installed package is a dependency by version');
  const byTarball = described.replace(`"^${manifest.version}"`, `"file:../ledgerplane-${manifest.version}.tgz"`);
  await writeFile(join(plugin, 'package.json'), byTarball);
  const tested = await run(plugin, 'npm', ['test']);
  t.match(tested, { code: 0, printed: /pass 4/u });
  const server = runCommandLine(['serve'], {
    cwd: app,
    program,
    env: { PORT: '0', DATA_DIR: join(app, 'data'), PLUGINS_DIRS: app, ADMIN_PASSWORD: 'of the test' },
  });
  t.teardown(() => server.child.kill('SIGKILL'));
  const url = /https?:\/\/\S+/u.exec(await server.ready())?.[0] ?? '';
  const headers = { authorization: `Basic ${Buffer.from('admin:of the test').toString('base64')}` };
  for (const name of ['notes', 'content', 'example']) {
    const response = await fetch(new URL(`/apis/plugin.svc.run/v1alpha1/plugins/${name}`, url), { headers });
    t.match(await response.json(), { status: { phase: 'started' } }, name);
  }
  const note = await fetch(new URL('/apis/notes.example.com/v1alpha1/notes/welcome', url), { headers });
  t.match(await note.json(), { kind: 'Note', metadata: { name: 'welcome' } });
  server.child.kill('SIGTERM');
  t.equal(await server.exited(), 0, server.stderr());
  t.notOk(server.stderr().includes(join(repository, 'dist')), `the code is that in ${root}`);
});
