import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';

/** The root folder of this package. This file is compiled into dist/src/cli/plugin/template-files.js. */
export const packageFolder: string = resolve(import.meta.dirname, '../../../..');

/** The values of the templates' `{{…}}` placeholders. */
export type Words = Readonly<Record<string, string>>;

/** A file to write: its path, relative to the plugin's folder, and its text. */
export type NewFile = { readonly path: string; readonly text: string };

/** Returns the files of a folder in `templates`, with the placeholders of their paths and texts filled in. */
export async function filesOf(template: string, words: Words): Promise<readonly NewFile[]> {
  const root = join(packageFolder, 'templates', template);
  const entries = (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  return Promise.all(
    entries.map(async (entry) => {
      const source = join(entry.parentPath, entry.name);
      const path = join(relative(root, dirname(source)), nameOf(basename(source)));
      return { path: filled(path, words), text: filled(await readFile(source, 'utf8'), words) };
    }),
  );
}

/** Writes the files into the folder. If a file exists or cannot be written, removes the written files and rejects. */
export async function writeFiles(folder: string, files: readonly NewFile[]): Promise<void> {
  const written: string[] = [];
  try {
    for (const { path, text } of files) {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      const file = await open(target, 'wx');
      written.push(target);
      await file.writeFile(text).finally(async () => file.close());
    }
  } catch (error) {
    await Promise.all(written.map(async (path) => rm(path, { force: true })));
    throw error;
  }
}

function filled(text: string, words: Words): string {
  return text.replaceAll(/\{\{(\w+)\}\}/gu, (whole, word: string) => words[word] ?? whole);
}

/**
 * Returns the name of the generated file. Template files have other names, because npm does not pack a .gitignore, and
 * tools must not treat templates as sources.
 */
function nameOf(template: string): string {
  return template.replace(/\.template$/u, '').replace(/^dot-/u, '.');
}
