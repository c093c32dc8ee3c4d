import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parse } from 'yaml';

import { isObject } from '../../base/guards.ts';
import { commandError, usageError } from '../failure.ts';
import { checkKind, checkLabel, kindWords } from './part-words.ts';
import type { Words } from './template-files.ts';

/** Returns the name in the folder's plugin.yaml. Refuses a folder that is not a plugin in TypeScript. */
export async function presentName(folder: string): Promise<string> {
  const manifest = await readText(join(folder, 'plugin.yaml'));
  if (manifest === undefined)
    throw usageError(
      `${folder} has no plugin.yaml: run the command in a plugin's folder, or give the folder with --folder`,
    );
  if ((await readText(join(folder, 'tsconfig.json'))) === undefined)
    throw usageError(`${folder} has no tsconfig.json: only plugins in TypeScript can be extended`);
  const name = nameIn(manifest);
  if (name === undefined) throw usageError(`${join(folder, 'plugin.yaml')} has no metadata.name`);
  checkLabel(name, `${join(folder, 'plugin.yaml')}: the name of a plugin`);
  return name;
}

/**
 * Returns the values of the placeholders for a type in `src`. The file of the type must have the form that `plugin new`
 * and `plugin add type` write.
 */
export async function presentType(folder: string, kind: string): Promise<Words> {
  checkKind(kind);
  const { file, camel } = kindWords(kind);
  const path = join('src', `${file}.ts`);
  const text = await readText(join(folder, path));
  if (text === undefined) throw commandError(`${path} does not exist: add the type with plugin add type ${kind}`);
  const [group, version, plural] = ['group', 'version', 'plural'].map((member) => literalOf(text, member));
  if (!new RegExp(`\\bexport const ${camel}\\b`, 'u').test(text))
    throw commandError(`${path} must export the type as ${camel}: other parts import the type by this name`);
  if (group === undefined || version === undefined || plural === undefined)
    throw commandError(`${path} must have the group, version and plural of the type as string literals`);
  return { kind, file, camel, group, version, plural, singular: kind.toLowerCase() };
}

/** Returns the group of the first type in `src`; undefined if `src` has no type. */
export async function presentGroup(folder: string): Promise<string | undefined> {
  const names = await readdir(join(folder, 'src')).catch(() => []);
  for (const name of names.filter((each) => each.endsWith('.ts')).sort()) {
    const text = (await readText(join(folder, 'src', name))) ?? '';
    const group = /\bdefineType\b/u.test(text) ? literalOf(text, 'group') : undefined;
    if (group !== undefined) return group;
  }
  return undefined;
}

export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function literalOf(text: string, member: string): string | undefined {
  return new RegExp(`\\b${member}: ['"]([^'"\\n]+)['"]`, 'u').exec(text)?.[1];
}

function nameIn(manifest: string): string | undefined {
  let value: unknown;
  try {
    value = parse(manifest);
  } catch {
    return undefined;
  }
  const metadata = isObject(value) ? value['metadata'] : undefined;
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}
