import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file with a file that only its owner can read. When the promise resolves, the new text is on disk at
 * `path`. An earlier crash leaves the old or the new file.
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
