import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const generated = new Set(['node_modules', 'dist', 'data', '.git', '.tap', 'coverage']);

/** Every file of the tree that people write, by its path with forward slashes. */
export function sourceFiles(folder: string, pattern: RegExp): readonly string[] {
  const found: string[] = [];
  const walk = (inside: string): void => {
    for (const entry of readdirSync(inside, { withFileTypes: true })) {
      const path = join(inside, entry.name);
      if (entry.isDirectory() && !generated.has(entry.name)) walk(path);
      else if (entry.isFile() && entry.name !== '.env' && pattern.test(entry.name))
        found.push(relative(folder, path).split(sep).join('/'));
    }
  };
  walk(folder);
  return found.sort();
}

export function textOf(folder: string, path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}
