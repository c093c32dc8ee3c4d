import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import type { Plugin } from 'vite';

/** Smaller files are not compressed, because compression would save too few bytes. */
const compressedBytesMin = 512;

/** Writes a gzip and a brotli form beside each text file of the build, so that the server never compresses. */
export function precompressed(): Plugin {
  return {
    name: 'precompressed',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true });
      const texts = entries.filter((entry) => entry.isFile() && /\.(?:html|js|css|svg|json)$/u.test(entry.name));
      await Promise.all(texts.map(async ({ parentPath, name }) => compress(join(parentPath, name))));
    },
  };
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path);
  if (bytes.length < compressedBytesMin) return;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
}
