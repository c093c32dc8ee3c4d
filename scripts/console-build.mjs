import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The sources of the bundle: the console, and the parts of the package that it imports. */
const sources = ['console', 'src/client', 'src/sdk/ui.ts', 'src/base', 'src/plugin/api'];

/** Files that are no part of the bundle. */
const notBundled = /(?:^|\/)node_modules$|\.md$/u;

/**
 * The bundle of the web console. It is built only if the content of its sources has changed, so a change of other
 * sources, or another checkout of the same sources, costs nothing.
 */
export class ConsoleBuild {
  #parts;
  #output;
  #stamp;

  /** `parts` are the functions of `prepare.mjs` for files and processes, and the root of the tree. */
  constructor(parts) {
    this.#parts = parts;
    this.#output = join(parts.root, 'dist', 'console');
    this.#stamp = join(parts.root, 'dist', '.prepare', 'console.stamp');
  }

  /** Whether the bundle is that of the present sources. A tree without the console's sources needs no bundle. */
  isCurrent() {
    const { root, read } = this.#parts;
    if (!existsSync(join(root, 'console', 'index.html'))) return true;
    return existsSync(join(this.#output, 'index.html')) && read(this.#stamp) === this.#digest();
  }

  /** Builds beside the present bundle and then replaces it, so that a running server never reads a half bundle. */
  async build() {
    const { root, run, replace } = this.#parts;
    console.error('building the console …');
    const digest = this.#digest();
    rmSync(this.#stamp, { force: true });
    const draft = join(root, 'dist', '.prepare', 'console');
    rmSync(draft, { recursive: true, force: true });
    const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
    const args = [vite, 'build', 'console', '--outDir', draft, '--logLevel', 'warn'];
    await run(process.execPath, args, 'the console cannot be built');
    rmSync(this.#output, { recursive: true, force: true });
    renameSync(draft, this.#output);
    replace(this.#stamp, digest);
  }

  #digest() {
    const { root } = this.#parts;
    const hash = createHash('sha256');
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
