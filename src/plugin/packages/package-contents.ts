import {
  packageDepthMax,
  packageEntriesMax,
  packageFileBytesMax,
  packageNameBytesMax,
  packagePathBytesMax,
  packageUnpackedBytesMax,
} from './package-limits.ts';

/** The error for a refused archive. The message is for the user, and names an invalid entry. */
export class ArchiveRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ArchiveRefused';
  }
}

export type EntryKind = 'file' | 'folder';

type AddedPath = {
  readonly kind: EntryKind;
  readonly isImplied: boolean;
};

/** Checks the entries of an archive. Each entry is checked before its content is read. */
export class PackageContents {
  /**
   * The checked entries, and the folders that contain them, by the result of `foldedPath`. `path` has the original
   * spelling. `isImplied` is true for a folder that is not itself an entry, or whose entry was not checked yet.
   */
  readonly #paths = new Map<string, { readonly path: string; readonly kind: EntryKind; readonly isImplied: boolean }>();
  #entries = 0;
  #bytes = 0;

  get entries(): number {
    return this.#entries;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Checks an entry. Returns the segments of the entry's path, or an empty array for the archive's root. Throws
   * `ArchiveRefused` if the entry is invalid or exceeds a limit.
   */
  admit(name: string, kind: EntryKind, size: number): readonly string[] {
    this.#entries += 1;
    if (this.#entries > packageEntriesMax)
      throw new ArchiveRefused(`the archive has more than ${String(packageEntriesMax)} files and folders`);
    const names = namesOf(name);
    if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveRefused(`${shown(name)} has an invalid size`);
    if (kind === 'folder' && size > 0) throw new ArchiveRefused(`${shown(name)} is a folder with content`);
    if (kind === 'file' && (names.length === 0 || name.endsWith('/')))
      throw new ArchiveRefused(`${shown(name)} is a file without a name`);
    if (size > packageFileBytesMax)
      throw new ArchiveRefused(
        `${shown(name)} has ${String(size)} bytes; the limit for a file is ${String(packageFileBytesMax)}`,
      );
    this.#bytes += size;
    if (this.#bytes > packageUnpackedBytesMax)
      throw new ArchiveRefused(`the archive unpacks to more than ${String(packageUnpackedBytesMax)} bytes`);
    this.#take(names, kind, name);
    return names;
  }

  #take(names: readonly string[], kind: EntryKind, name: string): void {
    for (let depth = 1; depth <= names.length; depth += 1) {
      const path = names.slice(0, depth).join('/');
      const isLast = depth === names.length;
      this.#put(path, { kind: isLast ? kind : 'folder', isImplied: !isLast }, name);
    }
  }

  #put(path: string, { kind, isImplied }: AddedPath, name: string): void {
    const folded = foldedPath(path);
    const present = this.#paths.get(folded);
    if (present === undefined) {
      // Implied folders count as entries, because they are created on disk.
      if (isImplied) this.#entries += 1;
      this.#paths.set(folded, { path, kind, isImplied });
      return;
    }
    if (present.path !== path)
      throw new ArchiveRefused(
        `${shown(path)} and ${shown(present.path)} are the same path on file systems that ignore ` +
          'case or Unicode normalization',
      );
    if (present.kind !== kind) throw new ArchiveRefused(`${shown(path)} is both a file and a folder`);
    if (isImplied) return;
    if (!present.isImplied) throw new ArchiveRefused(`${shown(name)} is in the archive twice`);
    this.#paths.set(folded, { path, kind, isImplied: false });
  }
}

/** Escapes and shortens a name for messages. The names in an archive may contain any characters. */
export function shown(name: string): string {
  const text = name.length > packagePathBytesMax ? `${name.slice(0, packagePathBytesMax)}…` : name;
  return JSON.stringify(text);
}

/**
 * Returns the path in lower case and in Unicode normalization form C. File systems that ignore case or normalization
 * treat paths with the same result as one path.
 */
function foldedPath(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

function namesOf(name: string): readonly string[] {
  const problem = pathProblem(name);
  if (problem !== undefined) throw new ArchiveRefused(`${shown(name)} ${problem}`);
  // Removes the slash at the end of a folder's name, and `./` at the start. `tar` adds `./` if its argument is `.`.
  const inner = name.replace(/^(?:\.\/)+/u, '').replace(/\/$/u, '');
  const names = inner === '' || inner === '.' ? [] : inner.split('/');
  if (names.length > packageDepthMax)
    throw new ArchiveRefused(`${shown(name)} has more than ${String(packageDepthMax)} path segments`);
  for (const part of names) {
    const wrong = nameProblem(part);
    if (wrong !== undefined) throw new ArchiveRefused(`${shown(name)} ${wrong}`);
  }
  return names;
}

function pathProblem(name: string): string | undefined {
  if (name === '') return 'is an entry without a name';
  if (name.includes('\0')) return 'contains a NUL character';
  // U+FFFD replaces invalid UTF-8, so that two different names could become equal.
  if (/[\p{Cc}\p{Cs}\ufffd]/u.test(name)) return 'is not valid text';
  if (name.includes('\\')) return 'contains a backslash';
  if (name.startsWith('/')) return 'is an absolute path';
  if (/^[A-Za-z]:/u.test(name)) return 'begins with a drive letter';
  if (Buffer.byteLength(name) > packagePathBytesMax) return `is longer than ${String(packagePathBytesMax)} bytes`;
  return undefined;
}

function nameProblem(part: string): string | undefined {
  if (part === '..') return 'leads out of the package';
  if (part === '' || part === '.') return 'contains an empty name or "."';
  return Buffer.byteLength(part) > packageNameBytesMax
    ? `contains a name longer than ${String(packageNameBytesMax)} bytes`
    : undefined;
}
