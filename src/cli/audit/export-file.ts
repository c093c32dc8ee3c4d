import { createReadStream } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { exportLineBytesMax, exportUnpackedFreeBytes, exportUnpackedRatioMax } from '../../limits/audit.ts';

/** Thrown if the file is truncated, damaged or not an export. */
export class BrokenFileError extends Error {
  /** Whether the file is truncated, so that it may be the beginning of an export. */
  readonly isCut: boolean;
  /** The first bytes of the incomplete line; empty if the bytes are unknown. */
  readonly rest: Uint8Array;

  /** Whether zlib stopped at damaged bytes. The last lines before these bytes may then be missing. */
  readonly isPacked: boolean;

  constructor(detail: string, isCut: boolean, { rest = new Uint8Array(), isPacked = false }: Found = {}) {
    super(detail);
    this.name = 'BrokenFileError';
    this.isCut = isCut;
    this.rest = rest;
    this.isPacked = isPacked;
  }
}

type Found = { readonly rest?: Uint8Array | undefined; readonly isPacked?: boolean };

const readBytes = 1_048_576;
const gzipMagic = [0x1f, 0x8b] as const;

/**
 * Yields the lines of a file of any size, gzipped or not, without their line feeds.
 *
 * @throws BrokenFileError, or the system's error.
 */
export async function* linesOfFile(path: string): AsyncGenerator<Uint8Array> {
  for await (const lines of blocksOfFile(path)) yield* lines;
}

/**
 * Yields the lines of `linesOfFile` in blocks. The file is read in pieces of `pieceBytes`. A block contains the lines
 * that end in one chunk of the unpacked content.
 *
 * @throws BrokenFileError, or the system's error.
 */
export function blocksOfFile(path: string, pieceBytes = readBytes): AsyncGenerator<readonly Uint8Array[]> {
  return wholeLines(unpacked(createReadStream(path, { highWaterMark: pieceBytes })));
}

async function* unpacked(file: Readable & { readonly bytesRead: number }): AsyncGenerator<Uint8Array> {
  const source: AsyncIterable<Uint8Array> = file;
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  if (gzipMagic.some((byte, at) => first.value[at] !== byte)) {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
    return;
  }
  const gunzip = createGunzip({ chunkSize: readBytes });
  const packed = async function* (): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  // The pipeline passes an error to the reader of `gunzip`, so the callback ignores the error.
  pipeline(packed, gunzip, () => undefined);
  const plain: AsyncIterable<Uint8Array> = gunzip;
  let bytes = 0;
  try {
    for await (const chunk of plain) {
      bytes += chunk.length;
      if (bytes > exportUnpackedFreeBytes && bytes > exportUnpackedRatioMax * file.bytesRead)
        throw new BrokenFileError(
          `the file is not an export: it unpacks to more than ${String(exportUnpackedRatioMax)} times its size`,
          false,
        );
      yield chunk;
    }
  } catch (error) {
    throw brokenGzip(error);
  } finally {
    gunzip.destroy();
    file.destroy();
  }
}

function brokenGzip(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'Z_BUF_ERROR') return new BrokenFileError('the gzipped file is truncated', true);
  if (typeof code === 'string' && code.startsWith('Z_'))
    return new BrokenFileError(`the gzipped file is damaged (${code})`, false, { isPacked: true });
  return error;
}

async function* wholeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Uint8Array[]> {
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  try {
    for await (const chunk of chunks) {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
        const tail = chunk.subarray(from, end);
        lines.push(rest.length === 0 ? tail : Buffer.concat([...rest, tail]));
        rest = [];
        restBytes = 0;
        from = end + 1;
      }
      if (lines.length > 0) yield lines;
      const left = chunk.subarray(from);
      restBytes += left.length;
      if (restBytes > exportLineBytesMax)
        throw new BrokenFileError(
          `the file is not an export: a line is longer than ${String(exportLineBytesMax)} bytes`,
          false,
        );
      if (left.length > 0) rest.push(left);
    }
  } catch (error) {
    // Adds the incomplete line, from which the caller can recognize the beginning of an export.
    throw error instanceof BrokenFileError && error.isCut
      ? new BrokenFileError(error.message, true, { rest: rest[0] })
      : error;
  }
  if (restBytes > 0) throw new BrokenFileError('the file is truncated: it ends within a line', true, { rest: rest[0] });
}

const newline = 0x0a;
