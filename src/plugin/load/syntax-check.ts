import { readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

import { syntaxCheckedFilesMax } from '../lifecycle/life-limits.ts';

/**
 * Run as a program of its own, with `--experimental-vm-modules`: parses a plugin's main module and what that imports of its own
 * folder, without running any of it, and ends by the first error with the words it was given. Of an error that ends it the
 * runtime prints the place, which is nowhere in the error that an import throws. (Without that flag the class is not there.)
 */
export const syntaxCheckPath: string = fileURLToPath(import.meta.url);

/** With the name of the file as `identifier`, which is what is printed. */
function parsed(folder: string, file: string, wanted: string): vm.SourceTextModule | undefined {
  try {
    return new vm.SourceTextModule(readFileSync(join(folder, file), 'utf8'), { identifier: file });
  } catch (error) {
    if (error instanceof SyntaxError && error.message === wanted) throw error;
    // Another one's business, or no module at all.
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
