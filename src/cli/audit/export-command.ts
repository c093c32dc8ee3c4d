import { existsSync, statSync, unlinkSync } from 'node:fs';
import { resolve } from 'node:path';

import { parseExportLine, type ExportHeader } from '../../audit/proof/export-lines.ts';
import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { CommandFailure, commandError, usageError } from '../failure.ts';
import { printable } from '../text-table.ts';
import { begunExport, type BegunExport } from './begun-export.ts';
import { lazyOutput, type ExportOutput, type OutputFile } from './export-output.ts';

export type ExportOptions = ConnectionOptions & {
  readonly from?: string;
  readonly until?: string;
  readonly output?: string;
  readonly resume?: boolean;
  readonly gzip?: boolean;
};

/** Writes the events of the log with their proof to a file, or to standard output. */
export async function exportLog(options: ExportOptions, context: CommandContext): Promise<void> {
  const { output, resume = false, gzip = false, from, until } = options;
  if (output !== undefined) {
    await (resume ? continuedIn(output, options, context) : writtenTo(output, options, context));
    return;
  }
  if (resume || gzip)
    throw usageError(
      '--resume and --gzip require --output: an export to standard output is never continued or compressed',
    );
  await received(options, queryOf(from, until), { context, begun: undefined, output: textOutput(context) });
}

async function writtenTo(name: string, options: ExportOptions, context: CommandContext): Promise<void> {
  const { gzip = false, from, until } = options;
  const path = resolve(context.folder, name);
  if (existsSync(path))
    throw usageError(`${printable(name)} already exists: use --resume to continue the file, or choose another name`);
  await inFile(name, { path, gzip, keep: undefined }, async (output) => {
    const header = await received(options, queryOf(from, until), { context, begun: undefined, output });
    context.stderr.write(`exported ${rangeText(header)} to ${printable(name)}\n`);
  });
}

async function continuedIn(name: string, options: ExportOptions, context: CommandContext): Promise<void> {
  const path = resolve(context.folder, name);
  const begun = await begunExport(path, name);
  if (begun === undefined) {
    const isThere = existsSync(path);
    const found = isThere ? 'has no complete line of an export' : 'does not exist';
    context.stderr.write(`ledgerplane: ${printable(name)} ${found}: a new export begins\n`);
    if (isThere) unlinkSync(path);
    await writtenTo(name, options, context);
    return;
  }
  const range = rangeText(begun.header);
  if (begun.isComplete) {
    context.stderr.write(`${printable(name)} is complete: ${range}\n`);
    return;
  }
  if (options.from !== undefined || options.until !== undefined)
    throw usageError('--resume continues with the range of the file: omit --from and --until');
  await inFile(name, { path, gzip: begun.isGzipped, keep: begun }, async (output) => {
    await received(options, restOf(begun), { context, begun, output });
    context.stderr.write(
      `exported ${range} to ${printable(name)}: this command added the part from leaf ${String(begun.next)} on\n`,
    );
  });
}

/**
 * Calls `write`, and closes the file even after an error, so that the received lines are stored. If the command fails,
 * an empty file is removed.
 */
async function inFile(name: string, file: OutputFile, write: (output: ExportOutput) => Promise<void>): Promise<void> {
  const output = lazyOutput(file);
  try {
    try {
      await write(output);
    } finally {
      await output.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const failure = typeof code === 'string' ? commandError(`cannot write ${printable(name)} (${code})`) : error;
    if (!removedIfEmpty(file.path) || !output.isBegun() || !(failure instanceof CommandFailure)) throw failure;
    throw new CommandFailure(
      `${failure.message}\n${printable(name)} contains the lines that arrived: use --resume to continue the file`,
      failure.exitCode,
    );
  }
}

/** Removes the file if it is empty. Returns whether a file with content remains. */
function removedIfEmpty(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.size === 0) unlinkSync(path);
  return stats !== undefined && stats.size > 0;
}

type Receiving = {
  readonly context: CommandContext;
  readonly begun: BegunExport | undefined;
  readonly output: ExportOutput;
};

/**
 * Writes the lines of the response to `output`, and returns the header of the export. If a file is continued, the
 * header is compared with the header in the file and not written again.
 */
async function received(
  options: ExportOptions,
  query: Readonly<Record<string, string>>,
  { context, begun, output }: Receiving,
): Promise<ExportHeader> {
  const { client, domain } = await connect(options, context);
  const path = ['apis', `audit.${domain}`, 'v1alpha1', 'export'];
  const lines = client.lines({ method: 'GET', path, query, isCompressed: options.gzip === true });
  let header: ExportHeader | undefined;
  let last: Uint8Array = new Uint8Array();
  for await (const line of lines) {
    if (startsWith(line, failureOpening)) throw commandError(`the server stopped the export: ${messageOf(line)}`);
    last = line;
    const isHeader = header === undefined;
    header ??= headerIn(line, begun);
    if (!isHeader || begun === undefined) await output.write(line);
  }
  if (header === undefined || !startsWith(last, endOpening))
    throw commandError('the connection was lost before the end of the export');
  return header;
}

function headerIn(line: Uint8Array, begun: BegunExport | undefined): ExportHeader {
  const parsed = parseExportLine(line);
  if (!parsed.ok || parsed.record.kind !== 'Export')
    throw commandError('the response of the server is not an export: does the server have another version?');
  const header = parsed.record;
  if (begun === undefined) return header;
  for (const name of ['log', 'epoch', 'origin', 'until'] as const)
    if (header[name] !== begun.header[name])
      throw commandError(
        `the file cannot be continued: ${name} is ${printable(String(begun.header[name]))} in the file, ` +
          `and ${printable(String(header[name]))} on the server`,
      );
  if (header.from !== begun.next) throw commandError('the export of the server does not begin where the file ends');
  return header;
}

function queryOf(from: string | undefined, until: string | undefined): Readonly<Record<string, string>> {
  return { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) };
}

/**
 * Returns the query parameters that request the leaves that the file lacks. The parameter `after` is also valid if the
 * file lacks only the last line.
 */
function restOf({ header: { until }, next }: BegunExport): Readonly<Record<string, string>> {
  const after = next === 0 ? {} : { after: `leaf:${String(next - 1)}` };
  return { ...after, ...(until === 0 ? {} : { until: `leaf:${String(until - 1)}` }) };
}

function textOutput({ output }: CommandContext): ExportOutput {
  return {
    write: (line) => {
      output.write(`${Buffer.from(line).toString()}\n`);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
}

const failureOpening = Buffer.from('{"kind":"Failure",');
const endOpening = Buffer.from('{"kind":"End",');

function startsWith(line: Uint8Array, opening: Uint8Array): boolean {
  return Buffer.compare(line.subarray(0, opening.length), opening) === 0;
}

function messageOf(line: Uint8Array): string {
  return printable(Buffer.from(line).toString().slice(failureOpening.length, -1));
}

function rangeText({ from, until }: ExportHeader): string {
  if (from === until) return 'no leaves';
  return until - from === 1 ? `leaf ${String(from)}` : `leaves ${String(from)} to ${String(until - 1)}`;
}
