import { readFileSync, statSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve, sep } from 'node:path';

import { isList, isObject } from '../../base/guards.ts';
import { sourceMapBytesMax, sourceMapsMax } from '../lifecycle/life-limits.ts';

/** A place in a source file or a compiled file. The path is absolute. Line and column are counted from 1. */
export type SourcePlace = {
  readonly path: string;
  readonly line: number;
  readonly column: number;
};

type Entry = {
  readonly mark: string;
  readonly map: SourceMap | undefined;
};

/** Parsed maps by path, in the order of their last use. */
const cache = new Map<string, Entry>();

/**
 * Returns the place in the plugin's source that corresponds to a place in a compiled file. Uses the source map
 * `<file>.map`, which TypeScript writes with the option `sourceMap`. `folder` is the real path of the plugin's folder.
 *
 * Returns undefined if the map is missing, unreadable or too large, or does not contain the place. Also returns
 * undefined if the compiled file or the source is outside of `folder`.
 */
export function sourcePlace({ path, line, column }: SourcePlace, folder: string): SourcePlace | undefined {
  if (!path.startsWith(folder + sep)) return undefined;
  const found = mapOf(`${path}.map`)?.findEntry(line - 1, column - 1);
  if (found === undefined || !('originalSource' in found)) return undefined;
  const source = resolve(dirname(path), found.originalSource.replace(/^file:\/\//u, ''));
  return source.startsWith(folder + sep)
    ? { path: source, line: found.originalLine + 1, column: found.originalColumn + 1 }
    : undefined;
}

/** A place in a stack's text, as a path or as a URL with the version of a plugin's files. */
const placeForm = /(?:file:\/\/)?(\/[^\s()?:]+\.[cm]?js)(?:\?[^\s():]*)?:([0-9]+):([0-9]+)/gu;

/**
 * Returns the stack with places in sources instead of places in compiled files of these folders, where source maps
 * exist.
 */
export function withSourcePlaces(stack: string, folders: readonly string[]): string {
  return stack.replaceAll(placeForm, (whole, given: string, line: string, column: string) => {
    const path = decodedPath(given);
    for (const folder of folders) {
      const found = sourcePlace({ path, line: Number(line), column: Number(column) }, folder);
      if (found !== undefined) return `${found.path}:${String(found.line)}:${String(found.column)}`;
    }
    return whole;
  });
}

function decodedPath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function mapOf(path: string): SourceMap | undefined {
  const known = cache.get(path);
  const mark = markOf(path);
  const entry = mark !== undefined && known?.mark === mark ? known : { mark: mark ?? '', map: readMap(path, mark) };
  cache.delete(path);
  cache.set(path, entry);
  for (const oldest of [...cache.keys()].slice(0, -sourceMapsMax)) cache.delete(oldest);
  return entry.map;
}

/**
 * Returns a text that changes with the file. Returns undefined for a missing file, or a file above `sourceMapBytesMax`.
 */
function markOf(path: string): string | undefined {
  try {
    const { mtimeMs, size } = statSync(path);
    return size > sourceMapBytesMax ? undefined : `${String(mtimeMs)} ${String(size)}`;
  } catch {
    return undefined;
  }
}

function readMap(path: string, mark: string | undefined): SourceMap | undefined {
  if (mark === undefined) return undefined;
  try {
    const payload: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isPayload(payload) ? new SourceMap(payload) : undefined;
  } catch {
    // Maps only help authors, so a damaged map is ignored.
    return undefined;
  }
}

function isPayload(value: unknown): value is SourceMapPayload {
  return isObject(value) && isList(value['sources']) && typeof value['mappings'] === 'string';
}
