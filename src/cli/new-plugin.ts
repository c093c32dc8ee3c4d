import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

import type { Command } from 'commander';

import { usageError } from './failure.ts';
import type { CommandContext } from './command-context.ts';

/** A name is one label of a DNS name, since it becomes the first label of the plugin's group. */
const nameLengthMax = 63;

/** Relative to dist/src/cli/new-plugin.js, into which this file is compiled. */
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
      `a plugin's name has at most ${String(nameLengthMax)} lowercase letters, digits and "-", ` +
        'begins with a letter and ends with a letter or digit',
    );
  }
  const target = join(folder, name);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw usageError(`${target} already exists`);
  // The folder is renamed once every file is written, so it is complete or absent.
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
    // A clone of the repository is a dependency by path, since the package may not be in a registry.
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

/** Templates have special names: npm does not pack a .gitignore, and tools must not treat them as sources. */
function nameOf(template: string): string {
  return template.replace(/\.template$/u, '').replace(/^dot-/u, '.');
}
