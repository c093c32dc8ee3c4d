import { existsSync, unlinkSync } from 'node:fs';
import { resolve } from 'node:path';

import { parseExportLine, type ExportHeader } from '../../audit/proof/export-lines.ts';
import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { CommandFailure, commandError, usageError } from '../failure.ts';
import { printable } from '../text-table.ts';
import { begunExport, cutToLines, type BegunExport } from './begun-export.ts';
import { openOutput, type ExportOutput, type OutputFile } from './export-output.ts';

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
  if (resume || gzip) throw usageError('--resume and --gzip need --output: standard output is text, from its start');
  await received(options, queryOf(from, until), { context, begun: undefined, output: textOutput(context) });
}

async function writtenTo(name: string, options: ExportOptions, context: CommandContext): Promise<void> {
  const { gzip = false, from, until } = options;
  const path = resolve(context.folder, name);
  if (existsSync(path)) throw usageError(`${printable(name)} exists: --resume continues it, or choose another name`);
  await inFile(name, { path, gzip, keep: undefined }, async (output) => {
    const header = await received(options, queryOf(from, until), { context, begun: undefined, output });
    context.stderr.write(`exported leaves ${rangeText(header)} to ${printable(name)}\n`);
  });
}

async function continuedIn(name: string, options: ExportOptions, context: CommandContext): Promise<void> {
  const path = resolve(context.folder, name);
  const begun = await begunExport(path);
  if (begun === undefined) {
    if (existsSync(path)) unlinkSync(path);
    await writtenTo(name, options, context);
    return;
  }
  const range = `leaves ${rangeText(begun.header)}`;
  if (begun.isComplete) {
    context.stderr.write(`${printable(name)} is complete: ${range}\n`);
    return;
  }
  if (options.from !== undefined || options.until !== undefined)
    throw usageError('--resume continues with the range of the file: omit --from and --until');
  cutToLines(path, begun);
  await inFile(name, { path, gzip: begun.isGzipped, keep: begun }, async (output) => {
    await received(options, restOf(begun), { context, begun, output });
    context.stderr.write(`exported ${range} to ${printable(name)}, from leaf ${String(begun.next)} on\n`);
  });
}

/** Closes the file even if `write` fails; the file then ends with a complete line. */
async function inFile(name: string, file: OutputFile, write: (output: ExportOutput) => Promise<void>): Promise<void> {
  try {
    const output = await openOutput(file);
    try {
      await write(output);
    } finally {
      await output.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw typeof code === 'string' ? commandError(`cannot write ${printable(name)} (${code})`) : error;
  }
}

type Receiving = {
  readonly context: CommandContext;
  readonly begun: BegunExport | undefined;
  readonly output: ExportOutput;
};

/** Writes the lines of the response to `output`, and returns the header of the export. */
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
  try {
    for await (const line of lines) {
      if (startsWith(line, failureOpening)) throw commandError(`the server could not go on: ${messageOf(line)}`);
      last = line;
      if (header !== undefined || begun === undefined) await output.write(line);
      header ??= headerIn(line, begun);
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw lost(error);
  }
  if (header === undefined || !startsWith(last, endOpening)) throw lost(undefined);
  return header;
}

function headerIn(line: Uint8Array, begun: BegunExport | undefined): ExportHeader {
  const parsed = parseExportLine(line);
  if (!parsed.ok || parsed.record.kind !== 'Export')
    throw commandError('the server answered with something that is no export: is it of another version?');
  const header = parsed.record;
  if (begun === undefined) return header;
  for (const name of ['log', 'epoch', 'origin', 'until'] as const)
    if (header[name] !== begun.header[name])
      throw commandError(
        `the file cannot be continued: its ${name} is ${printable(String(begun.header[name]))}, ` +
          `and the server's ${printable(String(header[name]))}`,
      );
  if (header.from !== begun.next) throw commandError('the server does not continue where the file ends');
  return header;
}

/** Returns the query parameters of a range. `from` is inclusive; the server's parameter `after` is exclusive. */
function queryOf(from: string | undefined, until: string | undefined): Readonly<Record<string, string>> {
  return { ...(from === undefined ? {} : afterOf(from)), ...(until === undefined ? {} : { until }) };
}

function afterOf(from: string): Readonly<Record<string, string>> {
  const [, leaf] = /^leaf:(\d{1,15})$/u.exec(from) ?? [];
  if (leaf !== undefined) return Number(leaf) === 0 ? {} : { after: `leaf:${String(Number(leaf) - 1)}` };
  if (/^\d{1,40}$/u.test(from)) return BigInt(from) === 0n ? {} : { after: (BigInt(from) - 1n).toString() };
  return { after: from };
}

/** Returns the query parameters of the leaves that the file lacks. */
function restOf({ header: { until }, next }: BegunExport): Readonly<Record<string, string>> {
  return { ...afterOf(`leaf:${String(next)}`), ...(until === 0 ? {} : { until: `leaf:${String(until - 1)}` }) };
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
  return from === until ? 'none' : `${String(from)} to ${String(until - 1)}`;
}

function lost(cause: unknown): CommandFailure {
  const reason = cause instanceof Error ? ` (${printable(cause.message)})` : '';
  return commandError(`the connection was lost before the end of the export${reason}: continue with --resume`);
}
