import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

import type { Command } from 'commander';

import { usageError } from '../failure.ts';
import type { CommandContext } from '../command-context.ts';
import { checkLabel, pluginWords, typeWords } from './part-words.ts';
import { filesOf, packageFolder, writeFiles, type NewFile, type Words } from './template-files.ts';

export type NewPluginOptions = {
  readonly type?: string | undefined;
  readonly plural?: string | undefined;
  readonly group?: string | undefined;
  readonly console?: boolean | undefined;
};

type GeneratorContext = {
  readonly context: CommandContext;
  readonly version: string;
};

export function addNewPlugin(plugin: Command, { context, version }: GeneratorContext): void {
  plugin
    .command('new <name>')
    .description('write a plugin in TypeScript, with a test, into a new folder of this name')
    .option('--type <Kind>', 'generate this type with roles and a test, instead of the example with notes')
    .option('--plural <plural>', 'plural of the type; by default the kind in lower case, followed by "s"')
    .option('--group <group>', 'group of the type; by default <name>.example.com')
    .option('--console', 'also generate a front end for the console, with a page and a test')
    .action(async (name: string, options: NewPluginOptions) => {
      await writePlugin(name, options, { context, version });
    });
}

type Generator = { readonly context: CommandContext; readonly version: string };

async function writePlugin(
  name: string,
  options: NewPluginOptions,
  { context: { folder, stderr }, version }: Generator,
): Promise<void> {
  checkLabel(name, 'the name of a plugin');
  const target = join(folder, name);
  const words = { ...pluginWords(name), platformVersion: version, ledgerplane: dependency(target, version) };
  const files = await filesFor(name, options, words);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw usageError(`${target} already exists`);
  // The folder is renamed after all files are written, so it is complete or absent.
  const draft = join(folder, `.${name}-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(draft);
    await writeFiles(draft, files);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (error instanceof Error && 'syscall' in error) throw usageError(`${target} cannot be written: ${error.message}`);
    throw error;
  }
  stderr.write(`wrote the plugin ${name}; next:\n\n  cd ${name}\n  npm install\n  npm test\n\n`);
}

async function filesFor(
  name: string,
  { type, plural, group = `${name}.example.com`, console = false }: NewPluginOptions,
  plugin: Words,
): Promise<readonly NewFile[]> {
  const words = { ...plugin, ...consoleWords(console) };
  const front = console ? ['console'] : [];
  if (type === undefined) {
    if (plural !== undefined) throw usageError('--plural needs --type');
    const notes = {
      ...words,
      ...typeWords({ kind: 'Note', plural, group, version: typeVersion }),
      description: 'Notes, each with a summary.',
      viewPermission: `plugin:${name}:view`,
    };
    return (await Promise.all(['base', 'notes', ...front].map(async (part) => filesOf(part, notes)))).flat();
  }
  const named = typeWords({ kind: type, plural, group, version: typeVersion });
  const typed = {
    ...words,
    ...named,
    description: `The type ${type}.`,
    viewPermission: `plugin:${name}:${named['plural'] ?? ''}:view`,
  };
  const parts = ['base', 'typed', join('parts', 'type'), ...front];
  return (await Promise.all(parts.map(async (part) => filesOf(part, typed)))).flat();
}

/** Returns the texts that a front end adds to the generated files; empty texts for a plugin without a front end. */
function consoleWords(hasConsole: boolean): Words {
  const words = {
    consoleFiles: ',\n    "dist/console"',
    consoleBuild: ' && vue-tsc -p console && vite build --logLevel warn',
    consolePreset: '    "@tanstack/vue-query": "^5.104.0",\n',
    consoleTools: [
      ['@vitejs/plugin-vue', '^6.0.0'],
      ['vite', '^8.0.0'],
      ['vue', '^3.5.0'],
      ['vue-tsc', '^3.0.0'],
    ]
      .map(([tool, range]) => `,\n    "${String(tool)}": "${String(range)}"`)
      .join(''),
    consoleFolder: '\n  console: dist/console',
    consoleRow: '\n| `console/` | the front end for the console, which Vite builds into `dist/console` |',
  };
  return hasConsole ? words : Object.fromEntries(Object.keys(words).map((word) => [word, '']));
}

/**
 * The version of a new type. An alpha version means that the type may still change incompatibly with stored objects.
 */
export const typeVersion = 'v1alpha1';

/**
 * Returns the dependency of the plugin on this package, for package.json. The dependency is a version range or, in a
 * clone of the repository, a relative path, because the package may not be in a registry.
 */
function dependency(target: string, version: string): string {
  const isInstalled = packageFolder.split(sep).includes('node_modules');
  const path = relative(target, packageFolder).split(sep).join('/');
  return JSON.stringify(isInstalled ? `^${version}` : `file:${path}`);
}
