import { createHash, hash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { extname, join } from 'node:path';

import { messageOf } from '../../base/error-message.ts';
import { frontEndBytesMax, frontEndDepthMax, frontEndFilesMax, frontEndNameLengthMax } from '../../limits/plugins.ts';
import { frontEndModule, webEncodings, webTypes, type FrontEnd, type FrontEndFile } from '../api/front-end.ts';
import { wrongForm } from './compressed-forms.ts';
import { readPlainFile } from './plain-file.ts';
import type { PluginFolder } from './plugin-folder.ts';

export type FrontEndRead =
  { readonly ok: true; readonly frontEnd: FrontEnd } | { readonly ok: false; readonly problem: string };

/** The error for a front end that cannot be served. The message is for the author. */
class FrontEndRefused extends Error {}

const namePattern = /^[\w-][\w.-]*$/u;

/**
 * Reads the files of a plugin's front end. `inner` is `spec.console`, a path without `..`. Only plain files with known
 * extensions and their compressed forms count; other files are ignored.
 */
export async function readFrontEnd(folder: PluginFolder, inner: string): Promise<FrontEndRead> {
  const refuse = (problem: string): FrontEndRead => ({
    ok: false,
    problem: `spec.console ${JSON.stringify(inner)}: ${problem}`,
  });
  const root = join(folder.path, inner).replace(/[/\\]$/u, '');
  const real = await realpath(root).catch(() => undefined);
  if (real === undefined) return refuse('the folder does not exist; build the front end first');
  if (real !== root) return refuse('must not be a symbolic link or below one');
  try {
    const files = await new FrontEndReading(root).read();
    if (!files.has(frontEndModule)) return refuse(`has no ${frontEndModule}; build the front end first`);
    return { ok: true, frontEnd: { digest: digestOf(files), files } };
  } catch (error) {
    if (error instanceof FrontEndRefused) return refuse(error.message);
    if (error instanceof Error && 'code' in error) return refuse(`cannot be read: ${messageOf(error)}`);
    throw error;
  }
}

/** Returns whether the console serves files of this name, so that a change of the file changes the front end. */
export function isWebFile(name: string): boolean {
  const extension = extname(plainName(name));
  // A front end extends the console's page, so its HTML files are not served.
  return webTypes.has(extension) && extension !== '.html';
}

class FrontEndReading {
  readonly #root: string;
  readonly #files = new Map<string, FrontEndFile>();
  readonly #contents = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(root: string) {
    this.#root = root;
  }

  async read(): Promise<ReadonlyMap<string, FrontEndFile>> {
    await this.#readFolder([]);
    const wrong = await wrongForm(this.#contents);
    if (wrong !== undefined)
      throw new FrontEndRefused(`${wrong} is not the compressed form of the file; build the front end again`);
    return this.#files;
  }

  async #readFolder(names: readonly string[]): Promise<void> {
    if (names.length > frontEndDepthMax)
      throw new FrontEndRefused(`${names.join('/')} is more than ${String(frontEndDepthMax)} folders deep`);
    for (const entry of await readdir(join(this.#root, ...names), { withFileTypes: true }))
      await this.#take(names, entry);
  }

  async #take(names: readonly string[], entry: Dirent): Promise<void> {
    if (entry.name.startsWith('.')) return;
    const inside = [...names, entry.name];
    if (entry.isDirectory()) {
      await this.#readFolder(inside);
      return;
    }
    if (!entry.isFile() || !isWebFile(entry.name)) return;
    const name = inside.join('/');
    if (inside.some((part) => !namePattern.test(part) || part.length > frontEndNameLengthMax))
      throw new FrontEndRefused(
        `${JSON.stringify(name)}: names must have at most ${String(frontEndNameLengthMax)} characters, ` +
          'only letters, digits, "-", "_" and "."',
      );
    if (this.#files.size >= frontEndFilesMax)
      throw new FrontEndRefused(`has more than ${String(frontEndFilesMax)} files`);
    const path = join(this.#root, ...inside);
    const bytes = await readPlainFile(path, frontEndBytesMax - this.#bytes);
    if (bytes === 'irregular') throw new FrontEndRefused(`${name} is not a regular file`);
    if (bytes === 'too-large') throw new FrontEndRefused(`has more than ${String(frontEndBytesMax)} bytes`);
    this.#bytes += bytes.length;
    this.#contents.set(name, bytes);
    const sha256 = hash('sha256', bytes);
    this.#files.set(name, { bytes: bytes.length, sha256, read: async () => readUnchanged(path, sha256) });
  }
}

async function readUnchanged(path: string, sha256: string): Promise<Buffer | undefined> {
  const bytes = await readPlainFile(path, frontEndBytesMax).catch(() => 'irregular' as const);
  return typeof bytes !== 'string' && hash('sha256', bytes) === sha256 ? bytes : undefined;
}

/** Returns the name without the extension of a compressed form. */
function plainName(name: string): string {
  const compressed = webEncodings.find(({ extension }) => name.endsWith(extension));
  return compressed === undefined ? name : name.slice(0, -compressed.extension.length);
}

function digestOf(files: ReadonlyMap<string, FrontEndFile>): string {
  const digest = createHash('sha256');
  for (const [name, { sha256 }] of [...files].sort(([left], [right]) => (left < right ? -1 : 1)))
    digest.update(`${name} ${sha256}\n`);
  return digest.digest('hex').slice(0, digestLength);
}

/**
 * The length of a digest in hexadecimal digits. With 96 bits, two versions of a plugin practically never have equal
 * digests.
 */
const digestLength = 24;
