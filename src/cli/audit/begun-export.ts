import { closeSync, existsSync, openSync, readSync, truncateSync } from 'node:fs';

import { parseExportLine, type ExportHeader } from '../../audit/proof/export-lines.ts';
import { usageError } from '../failure.ts';
import { printable } from '../text-table.ts';
import { BrokenFileError, linesOfFile } from './export-file.ts';

/** An export file that an interrupted command left behind. */
export type BegunExport = {
  readonly header: ExportHeader;
  /** The index of the first leaf that the file lacks. */
  readonly next: number;
  readonly isComplete: boolean;
  readonly isGzipped: boolean;
  /** The number of complete lines in the file, and their size in bytes. */
  readonly lines: number;
  readonly bytes: number;
};

/**
 * Returns undefined if the file does not exist or has no complete line.
 *
 * @throws CommandFailure if the file is not an export.
 */
export async function begunExport(path: string): Promise<BegunExport | undefined> {
  if (!existsSync(path)) return undefined;
  let begun: BegunExport | undefined;
  const isGzipped = beginsGzip(path);
  try {
    for await (const line of linesOfFile(path)) {
      const parsed = parseExportLine(line);
      if (!parsed.ok) throw notContinued(path, `line ${String((begun?.lines ?? 0) + 1)} is no line of an export`);
      begun = advanced(begun, parsed.record, { path, isGzipped, bytes: line.length + 1 });
    }
  } catch (error) {
    if (!(error instanceof BrokenFileError && error.isCut)) throw error;
  }
  return begun;
}

/** Removes the incomplete line at the end of the file. */
export function cutToLines(path: string, { isGzipped, bytes }: BegunExport): void {
  if (!isGzipped) truncateSync(path, bytes);
}

type Line = { readonly path: string; readonly isGzipped: boolean; readonly bytes: number };

function advanced(
  begun: BegunExport | undefined,
  record: Extract<ReturnType<typeof parseExportLine>, { ok: true }>['record'],
  { path, isGzipped, bytes }: Line,
): BegunExport {
  if (begun === undefined) {
    if (record.kind !== 'Export') throw notContinued(path, 'it does not begin with a header');
    return { header: record, next: record.from, isComplete: false, isGzipped, lines: 1, bytes };
  }
  const grown = { ...begun, lines: begun.lines + 1, bytes: begun.bytes + bytes };
  if (record.kind === 'End') return { ...grown, isComplete: true };
  if (record.kind === 'Checkpoint') return grown;
  if (record.kind === 'Event' && record.index === begun.next && !begun.isComplete)
    return { ...grown, next: begun.next + 1 };
  throw notContinued(path, `line ${String(grown.lines)} does not continue the lines before it`);
}

function notContinued(path: string, detail: string): Error {
  return usageError(`${printable(path)} cannot be continued: ${detail}`);
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
