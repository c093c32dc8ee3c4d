import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The suffix of the name of a file that is not complete yet. */
export const draftSuffix = '.new';

/**
 * Creates or replaces a file that only its owner can read. When the promise resolves, the new content is on disk. After
 * a crash, the file has the old or the new content.
 */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}${draftSuffix}`;
  try {
    await writeDraft(draft, content);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Writes the entries of a folder to disk, for example new and renamed files. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeDraft(draft: string, content: string | Uint8Array): Promise<void> {
  // The draft of a killed process may be readable by other users, or may be a link.
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
