import { createWriteStream, renameSync, rmSync, truncateSync, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { createGzip, type Gzip } from 'node:zlib';

import { linesOfFile, BrokenFileError } from './export-file.ts';

/** The destination of an export, which is written line by line. */
export type ExportOutput = {
  /**
   * Writes `line`, which has no line feed at the end. Resolves when the destination accepts the next line, or has
   * failed. After a failure, the next call of `write` or `close` rejects.
   */
  write(line: Uint8Array): Promise<void>;
  close(): Promise<void>;
};

export type OutputFile = {
  readonly path: string;
  readonly gzip: boolean;
  /**
   * The number of lines to keep in an existing file, and their uncompressed size in bytes, with line feeds. If
   * undefined, the file must not exist.
   */
  readonly keep: { readonly lines: number; readonly bytes: number } | undefined;
};

const newline = Buffer.from('\n');

/** Returns an output that opens or creates its file when the first line is written. */
export function lazyOutput(file: OutputFile): ExportOutput & { isBegun(): boolean } {
  let opened: Promise<ExportOutput> | undefined;
  return {
    isBegun: () => opened !== undefined,
    write: async (line) => (await (opened ??= openOutput(file))).write(line),
    close: async () => (await opened)?.close(),
  };
}

/**
 * Opens the file. With `keep`, an existing file is continued. Otherwise, an existing file is an error. Rejects with the
 * system's error.
 */
async function openOutput({ path, gzip, keep }: OutputFile): Promise<ExportOutput> {
  if (!gzip) {
    if (keep !== undefined) truncateSync(path, keep.bytes);
    const flags = keep === undefined ? 'wx' : 'r+';
    const file = createWriteStream(path, { flags, mode: 0o600, start: keep?.bytes ?? 0 });
    return outputTo(file, file);
  }
  // A gzipped file cannot be truncated after a line. Therefore the kept lines are written to a second file, which
  // replaces the first file on `close`.
  const target = keep === undefined ? path : `${path}.resumed`;
  const file = createWriteStream(target, { flags: keep === undefined ? 'wx' : 'w', mode: 0o600 });
  const packer = createGzip();
  packer.pipe(file);
  const output = outputTo(packer, file);
  if (keep === undefined) return output;
  const replacing = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      rmSync(target, { force: true });
      throw error;
    }
  };
  await replacing(async () => copyLines(path, keep.lines, output));
  return {
    write: (line) => output.write(line),
    close: async () =>
      replacing(async () => {
        await output.close();
        renameSync(target, path);
      }),
  };
}

function outputTo(into: WriteStream | Gzip, file: WriteStream): ExportOutput {
  let failure: Error | undefined;
  for (const stream of [into, file])
    stream.on('error', (error: Error) => {
      failure ??= error;
    });
  return {
    write: async (line) => {
      if (failure !== undefined) throw failure;
      if (into.write(Buffer.concat([line, newline]))) return;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          for (const event of ['drain', 'close', 'error']) into.off(event, go);
          resolve();
        };
        for (const event of ['drain', 'close', 'error']) into.once(event, go);
      });
    },
    close: async () => {
      into.end();
      await finished(file);
    },
  };
}

async function copyLines(path: string, count: number, output: ExportOutput): Promise<void> {
  let copied = 0;
  try {
    for await (const line of linesOfFile(path)) {
      if (copied === count) return;
      await output.write(line);
      copied += 1;
    }
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
  }
}
