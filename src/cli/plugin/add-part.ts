import { rename, writeFile } from 'node:fs/promises';
import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { Command } from 'commander';

import { commandError, usageError } from '../failure.ts';
import type { CommandContext } from '../command-context.ts';
import { editMain, type MainAddition } from './edit-main.ts';
import { typeVersion } from './new-plugin.ts';
import { checkLabel, exportOf, kindWords, pluginWords, typeWords } from './part-words.ts';
import { presentGroup, presentName, presentType, readText } from './present-plugin.ts';
import { filesOf, writeFiles, type NewFile, type Words } from './template-files.ts';

type FolderOptions = { readonly folder?: string | undefined };
type TypeOptions = FolderOptions & {
  readonly plural?: string | undefined;
  readonly group?: string | undefined;
  readonly apiVersion?: string | undefined;
};
type PartOptions = FolderOptions & { readonly type: string; readonly verbs?: string | undefined };

/** A part to generate: its files, and the edits that add the part to the plugin. */
type Part = {
  readonly template: 'type' | 'route' | 'reconciler' | 'role';
  readonly words: Words;
  /** The entry to add to the plugin's main module; undefined for a part that consists only of YAML files. */
  readonly addition: MainAddition | undefined;
  /** Descriptions of edits that the author must make in other files. */
  readonly edits: readonly string[];
};

const mainFile = join('src', 'main.ts');

/**
 * Adds the commands of `plugin add`, which add parts to a plugin in TypeScript. Of the plugin's existing files, the
 * commands change only the main module.
 */
export function addPartCommands(plugin: Command, context: CommandContext): void {
  const add = plugin
    .command('add')
    .description('add a type, a route, a reconciler or a role to a plugin in TypeScript');
  inFolder(add.command('type <Kind>').description('add a type with roles and a test'))
    .option('--plural <plural>', 'plural of the type; by default the kind in lower case, followed by "s"')
    .option('--group <group>', "group of the type; by default that of the plugin's first type")
    .option('--api-version <version>', `version of the type; by default ${typeVersion}`)
    .action(async (kind: string, options: TypeOptions) => addType(kind, options, context));
  withType(
    add.command('route <name>').description('add the route GET …/<plural>/{name}/<name>, a role and a test'),
  ).action(async (name: string, options: PartOptions) => addRoute(name, options, context));
  withType(
    add.command('reconciler <name>').description('add a reconciler that sets status.observedGeneration, and a test'),
  ).action(async (name: string, options: PartOptions) => addReconciler(name, options, context));
  withType(add.command('role <name>').description('add a role template for a type, and a test'))
    .option('--verbs <verbs>', 'verbs that the role allows, separated by commas; by default get,list,watch')
    .action(async (name: string, options: PartOptions) => addRole(name, options, context));
}

async function addType(kind: string, options: TypeOptions, context: CommandContext): Promise<void> {
  const folder = folderOf(options, context);
  const name = await presentName(folder);
  const {
    plural,
    group = (await presentGroup(folder)) ?? `${name}.example.com`,
    apiVersion: version = typeVersion,
  } = options;
  const words = { ...pluginWords(name), ...typeWords({ kind, plural, group, version }) };
  const { file, camel } = kindWords(kind);
  const addition: MainAddition = { name: camel, from: `./${file}.ts`, member: 'types' };
  await addPart(folder, { template: 'type', words, addition, edits: [] }, context);
}

async function addRoute(part: string, options: PartOptions, context: CommandContext): Promise<void> {
  const { folder, words, name, from } = await partOf(part, options, context);
  const addition: MainAddition = { name, from, member: 'controllers' };
  await addPart(folder, { template: 'route', words, addition, edits: [] }, context);
}

async function addReconciler(part: string, options: PartOptions, context: CommandContext): Promise<void> {
  const { folder, words, name, from } = await partOf(part, options, context);
  const addition: MainAddition = { name, from, member: 'reconcilers' };
  const typeFile = join('src', `${words['file'] ?? ''}.ts`);
  const declared = (await readText(join(folder, typeFile))) ?? '';
  const edits = declared.includes('observedGeneration')
    ? []
    : [
        `${typeFile}: add observedGeneration: { type: 'integer' } to the properties of status, ` +
          'and statusSubresource: true',
      ];
  await addPart(folder, { template: 'reconciler', words, addition, edits }, context);
}

async function addRole(
  part: string,
  { verbs = 'get,list,watch', ...options }: PartOptions,
  context: CommandContext,
): Promise<void> {
  const { folder, words } = await partOf(part, options, context);
  const allowed = verbs.split(',').map((verb) => verb.trim());
  const unknown = allowed.find((verb) => !knownVerbs.has(verb));
  if (unknown !== undefined)
    throw usageError(`${JSON.stringify(unknown)} is not a verb: use ${[...knownVerbs].join(', ')}`);
  const statusOf = (verb: string, served: number): string =>
    String(allowed.includes(verb) || allowed.includes('*') ? served : 403);
  const roleWords = {
    ...words,
    verbs: allowed.map((verb) => (verb === '*' ? '"*"' : verb)).join(', '),
    verbNames: allowed.join(', '),
    listStatus: statusOf('list', 200),
    getStatus: statusOf('get', 404),
    deleteStatus: statusOf('delete', 404),
  };
  await addPart(folder, { template: 'role', words: roleWords, addition: undefined, edits: [] }, context);
}

const knownVerbs = new Set(['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch', '*']);

/**
 * Writes the part's files, and adds the part to the main module.
 *
 * @throws CommandFailure before anything is written, if a file of the part exists. Also throws after everything is
 * written, if the author must make further edits, which the message lists.
 */
async function addPart(folder: string, part: Part, { stderr }: CommandContext): Promise<void> {
  const files = await filesOf(join('parts', part.template), part.words);
  const present = files.filter(({ path }) => lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined);
  if (present.length > 0)
    throw usageError(
      `nothing was changed, because files of the part already exist: ${present.map(({ path }) => path).join(', ')}`,
    );
  const main = part.addition === undefined ? undefined : await readText(join(folder, mainFile));
  const edited = part.addition === undefined || main === undefined ? undefined : editMain(main, part.addition);
  await writeAll(folder, files, edited);
  for (const { path } of files) stderr.write(`wrote ${path}\n`);
  if (edited !== undefined) stderr.write(`changed ${mainFile}\n`);
  const edits = [
    ...part.edits,
    ...(part.addition === undefined || edited !== undefined ? [] : [manual(part.addition)]),
  ];
  if (edits.length > 0)
    throw commandError(`the files are written; complete the part with these edits:\n${edits.join('\n')}`);
}

async function writeAll(folder: string, files: readonly NewFile[], main: string | undefined): Promise<void> {
  try {
    await writeFiles(folder, files);
    if (main === undefined) return;
    // Writes a draft and renames the draft, so that the author's file is never half written.
    const draft = join(folder, `${mainFile}.draft`);
    await writeFile(draft, main, { flag: 'wx' });
    await rename(draft, join(folder, mainFile));
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw usageError(`${folder} cannot be written: ${error.message}`);
    throw error;
  }
}

/** Describes the edit that the author must make, because `editMain` cannot edit the main module. */
function manual({ name, from, member }: MainAddition): string {
  return `${mainFile}: add import { ${name} } from '${from}'; and add ${name} to ${member} of definePlugin`;
}

type ChosenType = {
  readonly folder: string;
  readonly words: Words;
  readonly name: string;
  readonly from: string;
};

async function partOf(part: string, options: PartOptions, context: CommandContext): Promise<ChosenType> {
  checkLabel(part, 'the name');
  const folder = folderOf(options, context);
  const plugin = await presentName(folder);
  const type = await presentType(folder, options.type);
  const { camel = '', file = '' } = type;
  const name = exportOf(camel, part);
  const words = { ...pluginWords(plugin), ...type, part, export: name };
  return { folder, words, name, from: `./${file}-${part}.ts` };
}

function folderOf({ folder = '.' }: FolderOptions, context: CommandContext): string {
  return resolve(context.folder, folder);
}

function inFolder(command: Command): Command {
  return command.option('--folder <folder>', "the plugin's folder; by default the working folder");
}

function withType(command: Command): Command {
  return inFolder(command.requiredOption('--type <Kind>', 'the kind of the type'));
}
