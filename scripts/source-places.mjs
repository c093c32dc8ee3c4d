/**
 * Replaces places in compiled files by the places in the sources, in a text with stacks. This reads maps only for
 * texts that are printed: with `--enable-source-maps` each process would read the map of each module that it loads.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const compiledPlace = /(?<file>(?:(?:file:\/\/)?\/[^\s()'"]*\/|\b)dist\/[^\s()'"]*\.js):(?<line>\d+):(?<column>\d+)/gu;
/** By the path of a compiled file: its map; undefined if it has none. */
const maps = new Map();

export function withSourcePlaces(text, root) {
  return text.replaceAll(compiledPlace, (compiled, file, line, column) => {
    const path = file.startsWith('file:') ? fileURLToPath(file) : resolve(root, file);
    const origin = mapOf(path)?.findOrigin(Number(line), Number(column));
    if (origin?.fileName === undefined) return compiled;
    const source = resolve(dirname(path), origin.fileName);
    return `${relative(root, source)}:${String(origin.lineNumber)}:${String(origin.columnNumber)}`;
  });
}

function mapOf(path) {
  if (!maps.has(path)) maps.set(path, readMap(path));
  return maps.get(path);
}

function readMap(path) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
