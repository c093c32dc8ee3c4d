import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import { printable } from '../text-table.ts';
import { servedTypes, type ServedType } from './served-types.ts';
import { typesFile } from './types-file.ts';

export type TypesOptions = ConnectionOptions & {
  readonly type?: readonly string[] | undefined;
  readonly group?: readonly string[] | undefined;
  readonly out?: string | undefined;
};

/** Prints the TypeScript types of the server's types, or writes them to a file. */
export async function writeTypes(options: TypesOptions, context: CommandContext): Promise<void> {
  const { client } = await connect(options, context);
  const served = servedTypes(await client.text({ method: 'GET', path: ['v3', 'api-docs'] }));
  const selected = selectedOf(served, options);
  const text = typesFile(selected);
  if (options.out === undefined) {
    context.output.write(text);
    return;
  }
  const file = resolve(context.folder, options.out);
  await replaceFile(file, text);
  context.stderr.write(`wrote ${String(selected.length)} ${selected.length === 1 ? 'type' : 'types'} to ${file}\n`);
}

/** Returns the types that the options select by name or group; all types without these options. */
function selectedOf(
  served: readonly ServedType[],
  { type: types = [], group: groups = [] }: TypesOptions,
): readonly ServedType[] {
  if (types.length === 0 && groups.length === 0) return served;
  for (const type of types)
    if (!served.some((one) => isNamed(one, type))) throw missing('type', type, served.map(fullName));
  for (const group of groups)
    if (!served.some((one) => one.group === group))
      throw missing('group', group, [...new Set(served.map((one) => one.group || '""'))]);
  return served.filter((one) => groups.includes(one.group) || types.some((type) => isNamed(one, type)));
}

/**
 * Whether `name` selects the type. `name` is `<plural>.<group>`, or `<plural>` for the types of this name in all
 * groups.
 */
function isNamed(type: ServedType, name: string): boolean {
  return name === type.plural || name === fullName(type);
}

function fullName({ plural, group }: ServedType): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function missing(what: string, name: string, known: readonly string[]): Error {
  return commandError(`the server has no ${what} ${JSON.stringify(printable(name))}: use one of ${known.join(', ')}`);
}

/** Replaces the file atomically: a reader gets either the old file or the complete new file. */
async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof Error && 'syscall' in error) throw usageError(`${file} cannot be written: ${error.message}`);
    throw error;
  }
}
