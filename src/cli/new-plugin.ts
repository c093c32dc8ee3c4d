import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

import type { Command } from 'commander';

import { usageError } from './failure.ts';
import type { CommandContext } from './command-context.ts';

/**
 * The longest name of a plugin. The name must be one label of a DNS name, because it becomes the first label of the
 * plugin's group.
 */
const nameLengthMax = 63;

/** The path is relative to dist/src/cli/new-plugin.js, the compiled form of this file. */
const packageFolder = resolve(import.meta.dirname, '../../..');

export function addNewPlugin(
  plugin: Command,
  { context, version }: { readonly context: CommandContext; readonly version: string },
): void {
  plugin
    .command('new <name>')
    .description('write a plugin in TypeScript, with a test, into a new folder of this name')
    .action(async (name: string) => {
      await writePlugin(name, context, version);
    });
}

async function writePlugin(name: string, { folder, stderr }: CommandContext, version: string): Promise<void> {
  if (!/^[a-z](?:[a-z0-9-]*[a-z0-9])?$/u.test(name) || name.length > nameLengthMax) {
    throw usageError(
      `the name of a plugin must have at most ${String(nameLengthMax)} lowercase letters, digits and "-", ` +
        'begin with a letter and end with a letter or digit',
    );
  }
  const target = join(folder, name);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw usageError(`${target} already exists`);
  // All files are written to a draft folder, which is then renamed. Thus the target is either complete or absent.
  const draft = join(folder, `.${name}-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(draft);
    await fill(draft, wordsOf(name, version));
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (error instanceof Error && 'syscall' in error) throw usageError(`${target} cannot be written: ${error.message}`);
    throw error;
  }
  stderr.write(`wrote the plugin ${name}; next:\n\n  cd ${name}\n  npm install\n  npm test\n\n`);
}

type Words = Readonly<Record<string, string>>;

/** The values of the templates' `{{…}}` placeholders. */
function wordsOf(name: string, version: string): Words {
  return {
    name,
    version,
    title: `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`,
    group: `${name}.example.com`,
    // If this program runs from a clone of the repository, the dependency is a path, because the package may not be in
    // a registry.
    ledgerplane: JSON.stringify(
      packageFolder.split(sep).includes('node_modules') ? `^${version}` : `file:${packageFolder}`,
    ),
  };
}

async function fill(draft: string, words: Words): Promise<void> {
  const templates = join(packageFolder, 'templates', 'plugin');
  const entries = await readdir(templates, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const source = join(entry.parentPath, entry.name);
    const path = join(draft, relative(templates, dirname(source)), nameOf(basename(source)));
    const text = await readFile(source, 'utf8');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(
      path,
      text.replaceAll(/\{\{(\w+)\}\}/gu, (whole, word: string) => words[word] ?? whole),
    );
  }
}

/**
 * Returns the name of the file of a template. Templates have special names, because npm does not pack a .gitignore, and
 * because tools must not treat templates as sources.
 */
function nameOf(template: string): string {
  return template.replace(/\.template$/u, '').replace(/^dot-/u, '.');
}
