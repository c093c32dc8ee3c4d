/**
 * Replaces places in compiled files with places in the sources, in a text with stacks. Source maps are read only for
 * printed texts. With `--enable-source-maps`, each process would read the map of each module that it loads.
 */
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { sourcePlace } from '../dist/src/plugin/errors/source-maps.js';

const compiledPlace = /(?<file>(?:(?:file:\/\/)?\/[^\s()'"]*\/|\b)dist\/[^\s()'"]*\.js):(?<line>\d+):(?<column>\d+)/gu;

export function withSourcePlaces(text, root) {
  return text.replaceAll(compiledPlace, (compiled, file, line, column) => {
    const path = file.startsWith('file:') ? fileURLToPath(file) : resolve(root, file);
    const source = sourcePlace({ path, line: Number(line), column: Number(column) }, root);
    if (source === undefined) return compiled;
    return `${relative(root, source.path)}:${String(source.line)}:${String(source.column)}`;
  });
}
