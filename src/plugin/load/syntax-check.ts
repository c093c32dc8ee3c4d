import { readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

import { syntaxCheckedFilesMax } from '../lifecycle/life-limits.ts';

/**
 * The path of this file, which runs as a separate process with `--experimental-vm-modules` (required for
 * `vm.SourceTextModule`). The process parses a plugin's main module and the module's imports in the plugin's folder,
 * without running them, and exits at the first syntax error with the expected message. For an error that ends the
 * process, Node prints the location, which is missing in an error of `import`.
 */
export const syntaxCheckPath: string = fileURLToPath(import.meta.url);

/**
 * Parses a module. `identifier` is the file name that Node prints.
 *
 * @throws SyntaxError if the module has a syntax error with the message `wanted`.
 */
function parsed(folder: string, file: string, wanted: string): vm.SourceTextModule | undefined {
  try {
    return new vm.SourceTextModule(readFileSync(join(folder, file), 'utf8'), { identifier: file });
  } catch (error) {
    if (error instanceof SyntaxError && error.message === wanted) throw error;
    // The file is not a module, or has another error.
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
