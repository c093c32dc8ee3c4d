import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file by one that only its owner can read. When this resolves, the new text is on disk under its name; a
 * crash before that leaves the old file.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  const written = await open(draft, 'w', 0o600);
  try {
    await written.writeFile(text);
    await written.sync();
  } finally {
    await written.close();
  }
  await rename(draft, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
