import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';

import { webEncodings } from '../api/front-end.ts';

const unpackers = { br: promisify(brotliDecompress), gzip: promisify(gunzip) };

/**
 * Returns the name of a compressed form, such as `index.js.br`, that does not decompress to its plain file. Browsers
 * would get a broken file, or the file of an earlier build. A form without a plain file is never served.
 */
export async function wrongForm(files: ReadonlyMap<string, Uint8Array>): Promise<string | undefined> {
  for (const [name, plain] of files)
    for (const { name: encoding, extension } of webEncodings) {
      const form = files.get(name + extension);
      if (form !== undefined && !(await unpacksTo(form, encoding, plain))) return name + extension;
    }
  return undefined;
}

async function unpacksTo(form: Uint8Array, encoding: keyof typeof unpackers, plain: Uint8Array): Promise<boolean> {
  try {
    // The limit stops the decompression of a form that would expand to gigabytes.
    return (await unpackers[encoding](form, { maxOutputLength: Math.max(1, plain.length) })).equals(plain);
  } catch {
    return false;
  }
}
