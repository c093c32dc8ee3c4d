import { readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

import { syntaxCheckedFilesMax } from '../lifecycle/life-limits.ts';

/**
 * The path of this file, which runs in a separate process with `--experimental-vm-modules` for `vm.SourceTextModule`.
 * The process parses the plugin's main module and its imported files, but does not run them. The first syntax error
 * with the expected message ends the process, so that Node prints the location of the error. An error of `import` does
 * not contain the location.
 */
export const syntaxCheckPath: string = fileURLToPath(import.meta.url);

/**
 * Parses a module. Returns undefined if the file is unreadable, is not a module, or has another error.
 *
 * @throws SyntaxError if the module has a syntax error with the message `wanted`; Node prints `file` as the location.
 */
function parsed(folder: string, file: string, wanted: string): vm.SourceTextModule | undefined {
  try {
    return new vm.SourceTextModule(readFileSync(join(folder, file), 'utf8'), { identifier: file });
  } catch (error) {
    if (error instanceof SyntaxError && error.message === wanted) throw error;
    return undefined;
  }
}

function check(folder: string, main: string, wanted: string): void {
  const files = new Set([main]);
  for (const file of files) {
    const imported = parsed(folder, file, wanted)?.dependencySpecifiers ?? [];
    for (const specifier of imported.filter((each) => /^\.{1,2}\//u.test(each))) {
      const path = resolve(folder, dirname(file), specifier);
      if (path.startsWith(folder + sep) && files.size < syntaxCheckedFilesMax) files.add(path.slice(folder.length + 1));
    }
  }
}

const [, program, folder, main, wanted] = argv;
if (program === syntaxCheckPath && folder !== undefined && main !== undefined && wanted !== undefined) {
  check(folder, main, wanted);
  exit(0);
}
