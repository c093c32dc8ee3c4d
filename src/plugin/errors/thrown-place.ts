import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { execPath } from 'node:process';

import { syntaxCheckMs } from '../lifecycle/life-limits.ts';
import { syntaxCheckPath } from '../load/syntax-check.ts';

/**
 * The place in a plugin's folder where an error was thrown, for its author: ` (at <file>:<line>)`, with the line if
 * known.
 */
export async function thrownPlace(
  error: unknown,
  { folder, main }: { readonly folder: string; readonly main: string },
): Promise<string> {
  const root = await realpath(folder).catch(() => folder);
  const text = stackOf(error);
  const place = placeIn(text, `${root}${sep}`);
  if (place !== undefined) return shown(place);
  // The runtime's message contains the location in a JSON file, but not in a module.
  const message = error instanceof SyntaxError && !text.includes(root) ? messageOf(error) : undefined;
  const printed = message === undefined ? undefined : await checked([root, relative(root, main), message]);
  const found = printed === undefined ? undefined : placeIn(printed, '');
  return found === undefined ? '' : shown(found);
}

/**
 * The position for a stack given as text, in any of these folders (real paths): a plugin's code may have run from
 * several.
 */
export function placeInStack(stack: string, folders: readonly string[]): string {
  const text = decoded(stack);
  for (const folder of folders) {
    const place = placeOfFrame(text, `${folder}${sep}`);
    if (place !== undefined) return shown(place);
  }
  return '';
}

/** Replaces absolute paths of a plugin's files with their paths within the folder. */
export function withoutFolder(text: string, folder: string): string {
  return text.replaceAll(`file://${folder}/`, '').replaceAll(`${folder}/`, '');
}

type SourceLocation = { readonly path: string; readonly line: string; readonly source: string | undefined };

/** The longest part of a source line that is shown: a bundler may have put everything into one line. */
const sourceLengthMax = 80;

/**
 * For syntax errors, the text starts with the location and the underlined source line; otherwise a stack frame has the
 * location.
 */
function placeIn(text: string, root: string): SourceLocation | undefined {
  const [first = '', source = '', underline = ''] = text.split('\n', 3);
  const [, path, line] = /^(?:file:\/\/)?([^?]+?)(?:\?[^:]*)?:(\d+)$/u.exec(first) ?? [];
  const column = /^\s*\^+\s*$/u.test(underline) ? underline.indexOf('^') : -1;
  if (path?.startsWith(root) === true && line !== undefined && column >= 0)
    return { path: path.slice(root.length), line, source: around(source, column) };
  return root === '' ? undefined : placeOfFrame(text, root);
}

function placeOfFrame(text: string, root: string): SourceLocation | undefined {
  // The message itself may contain a path of the plugin, without a line.
  for (const frame of text.split('\n').filter((each) => each.includes(root))) {
    const [, path, line] = /^([^?:]+)(?:\?[^:]*)?:(\d+)/u.exec(frame.slice(frame.indexOf(root) + root.length)) ?? [];
    if (path !== undefined && line !== undefined) return { path, line, source: undefined };
  }
  return undefined;
}

function around(source: string, column: number): string {
  if (source.length <= sourceLengthMax) return source.trim();
  const from = Math.max(0, column - sourceLengthMax / 2);
  const to = from + sourceLengthMax;
  return `${from > 0 ? '…' : ''}${source.slice(from, to).trim()}${to < source.length ? '…' : ''}`;
}

function shown({ path, line, source }: SourceLocation): string {
  return ` (at ${path}:${line}${source === undefined ? '' : `: ${source}`})`;
}

/** A plugin may throw anything, even a value that throws when it is read. */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? decoded(error.stack) : '';
  } catch {
    return '';
  }
}

/** Frames contain URLs; a message may contain a literal %. */
function decoded(stack: string): string {
  return stack.replaceAll(/(?:%[0-9a-f]{2})+/giu, (escaped) => {
    try {
      return decodeURI(escaped);
    } catch {
      return escaped;
    }
  });
}

function messageOf(error: Error): string | undefined {
  try {
    return error.message;
  } catch {
    return undefined;
  }
}

/**
 * The output of the checking process, which parses the plugin's code but runs none of it. It takes as long as node
 * takes to start.
 */
async function checked(args: readonly string[]): Promise<string | undefined> {
  const options = { timeout: syntaxCheckMs, env: {}, windowsHide: true } as const;
  return new Promise((resolve) => {
    execFile(
      execPath,
      ['--experimental-vm-modules', '--no-warnings', syntaxCheckPath, ...args],
      options,
      (error, _output, printed) => {
        resolve(error === null ? undefined : printed);
      },
    );
  });
}
