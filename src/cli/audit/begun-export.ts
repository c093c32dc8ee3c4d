import { closeSync, existsSync, openSync, readSync } from 'node:fs';

import { parseExportLine, type ExportHeader } from '../../audit/proof/export-lines.ts';
import { usageError } from '../failure.ts';
import { printable } from '../text-table.ts';
import { BrokenFileError, linesOfFile } from './export-file.ts';

/** Describes a complete or partial export file of an earlier command. */
export type BegunExport = {
  readonly header: ExportHeader;
  /** The index of the first leaf that the file lacks. */
  readonly next: number;
  readonly isComplete: boolean;
  readonly isGzipped: boolean;
  /** The number of complete lines in the file, and their uncompressed size in bytes, with line feeds. */
  readonly lines: number;
  readonly bytes: number;
};

/**
 * Reads the complete lines of an export file, which may be truncated. Returns undefined if the file does not exist, is
 * empty, or ends within the header. `name` is the name of the file in error messages.
 *
 * @throws CommandFailure if the file is damaged in another way, is not an export, or cannot be read.
 */
export async function begunExport(path: string, name: string): Promise<BegunExport | undefined> {
  if (!existsSync(path)) return undefined;
  let begun: BegunExport | undefined;
  try {
    const isGzipped = beginsGzip(path);
    for await (const line of linesOfFile(path)) {
      const parsed = parseExportLine(line);
      if (!parsed.ok) throw notContinued(name, `line ${String((begun?.lines ?? 0) + 1)} is not a line of an export`);
      begun = advanced(begun, parsed.record, { name, isGzipped, bytes: line.length + 1 });
    }
  } catch (error) {
    if (!isCut(error, begun)) throw failureOf(error, name);
  }
  return begun;
}

/** Whether the error only means that the file ends early, either after the header or within it. */
function isCut(error: unknown, begun: BegunExport | undefined): boolean {
  return error instanceof BrokenFileError && error.isCut && (begun !== undefined || mayBecomeHeader(error.rest));
}

function failureOf(error: unknown, name: string): unknown {
  if (error instanceof BrokenFileError)
    return notContinued(name, error.isCut ? 'the file is not an export' : error.message);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? usageError(`${printable(name)} cannot be read (${code})`) : error;
}

const headerOpening = '{"kind":"Export",';

/** Whether an incomplete line may be the beginning of a header. */
function mayBecomeHeader(rest: Uint8Array): boolean {
  const text = Buffer.from(rest).toString();
  return text.startsWith(headerOpening) || headerOpening.startsWith(text);
}

type Line = {
  readonly name: string;
  readonly isGzipped: boolean;
  readonly bytes: number;
};

function advanced(
  begun: BegunExport | undefined,
  record: Extract<ReturnType<typeof parseExportLine>, { ok: true }>['record'],
  { name, isGzipped, bytes }: Line,
): BegunExport {
  if (begun === undefined) {
    if (record.kind !== 'Export') throw notContinued(name, 'the file does not begin with the header of an export');
    return {
      header: record,
      next: record.from,
      isComplete: false,
      isGzipped,
      lines: 1,
      bytes,
    };
  }
  const grown = { ...begun, lines: begun.lines + 1, bytes: begun.bytes + bytes };
  if (record.kind === 'End') return { ...grown, isComplete: true };
  if (record.kind === 'Checkpoint') return grown;
  if (record.kind === 'Event' && record.index === begun.next && !begun.isComplete)
    return { ...grown, next: begun.next + 1 };
  throw notContinued(name, `line ${String(grown.lines)} does not continue the previous lines`);
}

function notContinued(name: string, detail: string): Error {
  return usageError(`${printable(name)} cannot be continued: ${detail}`);
}

function beginsGzip(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const magic = Buffer.alloc(2);
    return readSync(file, magic) === magic.length && magic[0] === 0x1f && magic[1] === 0x8b;
  } finally {
    closeSync(file);
  }
}
