import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The sources of the console's bundle: the console, and the modules outside of `console` that it imports. */
const consoleSources = ['console', 'src/client', 'src/sdk/ui.ts', 'src/sdk/console', 'src/base', 'src/plugin/api'];

/** Paths that do not affect a bundle. */
const notBundled = /(?:^|\/)node_modules$|\.md$/u;

/**
 * Returns the bundles of the repository: the web console, and the front ends of its plugins. `parts` contains the root
 * of the repository, and the functions of `prepare.mjs` for files and processes.
 */
export function bundlesOf(parts) {
  const { root } = parts;
  // The repositories that tests create may have no console.
  const own = existsSync(join(root, 'console', 'index.html'))
    ? [{ name: 'console', output: 'console', result: 'index.html', sources: consoleSources, args: ['console'] }]
    : [];
  return [...own, ...frontEndsOf(root)].map((bundle) => new Bundle(parts, bundle));
}

/**
 * Returns the folders with the sources of plugins' front ends, relative to the root. Each output has the same path
 * within dist/.
 */
export function frontEndFolders(root) {
  const plugins = join(root, 'plugins');
  if (!existsSync(plugins)) return [];
  return readdirSync(plugins)
    .filter((plugin) => !existsSync(join(plugins, plugin, 'package.json')))
    .map((plugin) => join('plugins', plugin, 'console'))
    .filter((folder) => existsSync(join(root, folder, 'index.ts')));
}

function frontEndsOf(root) {
  const config = 'console/front-end.config.ts';
  return frontEndFolders(root).map((folder) => ({
    name: dirname(folder).replace(/[/\\]/gu, '-'),
    output: folder,
    result: 'index.js',
    sources: [folder, 'src/sdk/console', config],
    args: [dirname(folder), '--config', config],
  }));
}

/**
 * A bundle that Vite builds. The bundle is built only if the contents of its sources have changed. Other changes and
 * another checkout of the same sources do not cause a build.
 */
class Bundle {
  #parts;
  #bundle;
  #output;
  #stamp;

  constructor(parts, bundle) {
    this.#parts = parts;
    this.#bundle = bundle;
    this.#output = join(parts.root, 'dist', bundle.output);
    this.#stamp = join(parts.root, 'dist', '.prepare', `${bundle.name}.stamp`);
  }

  /** Returns whether the bundle was built from the present sources. */
  isCurrent() {
    return existsSync(join(this.#output, this.#bundle.result)) && this.#parts.read(this.#stamp) === this.#digest();
  }

  /**
   * Builds into a temporary folder, which then replaces the present bundle. A failed build leaves the present bundle
   * unchanged.
   */
  async build() {
    const { root, run, replace } = this.#parts;
    const { name, output, args } = this.#bundle;
    console.error(`building ${output} …`);
    const digest = this.#digest();
    rmSync(this.#stamp, { force: true });
    const draft = join(root, 'dist', '.prepare', name);
    rmSync(draft, { recursive: true, force: true });
    const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
    await run(
      process.execPath,
      [vite, 'build', ...args, '--outDir', draft, '--logLevel', 'warn'],
      `${output} cannot be built`,
    );
    rmSync(this.#output, { recursive: true, force: true });
    mkdirSync(dirname(this.#output), { recursive: true });
    renameSync(draft, this.#output);
    replace(this.#stamp, digest);
  }

  #digest() {
    const { root } = this.#parts;
    const hash = createHash('sha256');
    const { sources } = this.#bundle;
    for (const path of [...sources.flatMap((source) => filesIn(root, source)), 'package-lock.json'].sort())
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(root, path)))
        .update('\0');
    return hash.digest('hex');
  }
}

function filesIn(root, path) {
  if (notBundled.test(path) || !existsSync(join(root, path))) return [];
  const entries = path.includes('.') ? undefined : readdirSync(join(root, path), { withFileTypes: true });
  if (entries === undefined) return [path];
  return entries.flatMap((entry) => {
    const inside = `${path}/${entry.name}`;
    if (entry.isDirectory()) return filesIn(root, inside);
    return notBundled.test(inside) ? [] : [inside];
  });
}
