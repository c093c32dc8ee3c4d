import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { messageOf } from '../../base/error-message.ts';
import { ArchiveRefused, PackageContents } from './package-contents.ts';
import { packageBytesMax } from './package-limits.ts';
import { sumOf } from './package-sum.ts';
import { tarEntries, type Unpacked } from './package-tar.ts';
import { PackageWriter } from './package-writer.ts';
import { zipEntries } from './package-zip.ts';

export type Unpacking =
  /**
   * `root`: the path of the folder with plugin.yaml, which is the target folder or its only subfolder. `sum`: the
   * checksum of the contents of `root`. `entries` and `bytes`: the number of entries and the unpacked size.
   */
  | { readonly ok: true; readonly root: string; readonly sum: string; readonly entries: number; readonly bytes: number }
  | { readonly ok: false; readonly problem: string };

/**
 * Unpacks a package (a gzipped tarball as created by `npm pack`, or a zip) into an existing, empty folder. Creates only
 * plain files and folders, with fixed modes, and never writes outside of the folder. After a problem, the caller must
 * remove the files that were already unpacked.
 */
export async function unpackArchive(archive: Uint8Array, folder: string): Promise<Unpacking> {
  if (archive.length > packageBytesMax)
    return {
      ok: false,
      problem: `a package has at most ${String(packageBytesMax)} bytes, this package has ${String(archive.length)}`,
    };
  const contents = new PackageContents();
  const entries = entriesOf(archive, contents);
  if (entries === undefined) return { ok: false, problem: 'the file is neither a gzipped tarball nor a zip' };
  const next = guarded(entries);
  const writer = new PackageWriter(folder);
  try {
    for (let entry = await next(); entry.kind !== 'end'; entry = await next()) {
      if (entry.kind === 'refused') return { ok: false, problem: entry.problem };
      await writer.take(entry.unpacked);
    }
    await writer.end();
  } finally {
    await writer.close();
    await entries.return(undefined);
  }
  const root = await rootOf(folder);
  if (root === undefined)
    return { ok: false, problem: 'the archive has no plugin.yaml, neither at the root nor in a single root folder' };
  return {
    ok: true,
    root: join(folder, ...root),
    sum: sumOf(writer.contents, root[0]),
    entries: contents.entries,
    bytes: contents.bytes,
  };
}

type Next =
  | { readonly kind: 'entry'; readonly unpacked: Unpacked }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'end' };

/** Returns a function that returns the next entry at each call. An error of the archive becomes a refusal. */
function guarded(entries: AsyncGenerator<Unpacked, undefined>): () => Promise<Next> {
  return async () => {
    try {
      const next = await entries.next();
      return next.done === true ? { kind: 'end' } : { kind: 'entry', unpacked: next.value };
    } catch (error) {
      if (error instanceof ArchiveRefused) return { kind: 'refused', problem: error.message };
      return {
        kind: 'refused',
        problem: `the archive is damaged: ${messageOf(error)}`,
      };
    }
  };
}

function entriesOf(archive: Uint8Array, contents: PackageContents): AsyncGenerator<Unpacked, undefined> | undefined {
  const [first, second, third, fourth] = archive;
  if (first === 0x1f && second === 0x8b) return tarEntries(archive, contents);
  const isZip = first === 0x50 && second === 0x4b && ((third === 3 && fourth === 4) || (third === 5 && fourth === 6));
  return isZip ? zipEntries(archive, contents) : undefined;
}

/**
 * Returns the path of the folder with plugin.yaml, as segments relative to `folder`; undefined if plugin.yaml is
 * missing. npm and many other tools put all files into one root folder, so the path may have one segment.
 */
async function rootOf(folder: string): Promise<readonly [] | readonly [string] | undefined> {
  if (await isFile(join(folder, 'plugin.yaml'))) return [];
  const [only, ...others] = await readdir(folder);
  if (only === undefined || others.length > 0) return undefined;
  return (await isFile(join(folder, only, 'plugin.yaml'))) ? [only] : undefined;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}
