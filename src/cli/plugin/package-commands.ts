import { readFile, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';

import { textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect } from '../connection.ts';
import type { ConnectionOptions } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import { printable } from '../text-table.ts';
import { checkName, consolePath, objectPath, printState } from './plugin-state.ts';
import { problemIn, reportLines } from './upgrade-report.ts';

/** The maximum size of a package that the command reads into memory. The server has a lower limit. */
const fileBytesMax = 268_435_456;
const dryRun = { dryRun: 'All' };

export type InstallOptions = ConnectionOptions & { readonly dryRun?: boolean | undefined };
export type UpgradeOptions = ConnectionOptions & { readonly check?: boolean | undefined };

export async function installPlugin(file: string, options: InstallOptions, context: CommandContext): Promise<void> {
  const upload = await readPackage(file, context);
  const connection = await connect(options, context);
  const call = { method: 'POST', path: [...consolePath(connection), 'install'], file: upload } as const;
  if (options.dryRun === true) {
    printReport(await connection.client.send({ ...call, query: dryRun }), context);
    return;
  }
  printState('installed', await connection.client.send(call), context);
}

export async function upgradePlugin(
  name: string,
  file: string,
  options: UpgradeOptions,
  context: CommandContext,
): Promise<void> {
  checkName(name);
  const upload = await readPackage(file, context);
  const connection = await connect(options, context);
  const call = { method: 'POST', path: [...consolePath(connection), name, 'upgrade'], file: upload } as const;
  if (options.check === true) {
    printReport(await connection.client.send({ ...call, query: dryRun }), context);
    return;
  }
  const before = await connection.client.find({ method: 'GET', path: [...objectPath(connection), name] });
  const plugin = await connection.client.send(call);
  // If the package equals the installed package, the server writes nothing, and the report in the status is that of an
  // earlier upgrade.
  if (textOf(before, 'metadata', 'resourceVersion') !== textOf(plugin, 'metadata', 'resourceVersion'))
    for (const line of reportLines(plugin)) context.stderr.write(`${line}\n`);
  printState('upgraded', plugin, context);
}

/**
 * Prints the report of a dry run. Fails if the report contains a problem, such as stored objects that break the new
 * schemas.
 */
function printReport(plugin: Parameters<typeof reportLines>[0], { output, stderr }: CommandContext): void {
  const lines = reportLines(plugin);
  for (const line of lines) output.write(`${line}\n`);
  if (lines.length === 0) stderr.write('no type, index or stored object is affected\n');
  const problem = problemIn(plugin);
  if (problem !== undefined) throw commandError(problem);
}

async function readPackage(
  file: string,
  { folder }: CommandContext,
): Promise<{ readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }> {
  const path = resolve(folder, file);
  try {
    const { size } = await stat(path);
    if (size > fileBytesMax) throw new Error(`the file has ${String(size)} bytes, more than a package may have`);
    return { name: basename(path), bytes: new Uint8Array(await readFile(path)) };
  } catch (error) {
    throw usageError(
      `${printable(file)} cannot be read: ${error instanceof Error ? printable(error.message) : 'not a file'}`,
    );
  }
}
