import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * Reads a file without following a symbolic link. Resolves with `irregular` if the path is not a regular file, and with
 * `too-large` if the file has more than `bytesMax` bytes.
 */
export async function readPlainFile(path: string, bytesMax: number): Promise<Buffer | 'irregular' | 'too-large'> {
  // Without O_NONBLOCK, opening a pipe waits until another process writes to the pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const entry = await file.stat();
    if (!entry.isFile()) return 'irregular';
    return entry.size <= bytesMax ? await file.readFile() : 'too-large';
  } finally {
    await file.close();
  }
}
