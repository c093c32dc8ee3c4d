import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { execPath } from 'node:process';

import { syntaxCheckMs } from '../lifecycle/life-limits.ts';
import { syntaxCheckPath } from '../load/syntax-check.ts';
import { withSourcePlaces } from './source-maps.ts';

type CodePlace = {
  readonly folder: string;
  readonly main: string;
};

/**
 * Returns the place in a plugin's folder where an error was thrown, as ` (at <file>:<line>)`; '' if the place is
 * unknown.
 */
export async function thrownPlace(error: unknown, { folder, main }: CodePlace): Promise<string> {
  const root = await realpath(folder).catch(() => folder);
  const text = decoded(withSourcePlaces(stackOf(error), [root]));
  const place = placeIn(text, `${root}${sep}`);
  if (place !== undefined) return shown(place);
  // Node's message about a syntax error contains the location in a JSON file, but not the location in a module.
  const message = error instanceof SyntaxError && !text.includes(root) ? messageOf(error) : undefined;
  const printed = message === undefined ? undefined : await checked([root, relative(root, main), message]);
  const found = printed === undefined ? undefined : placeIn(printed, '');
  return found === undefined ? '' : shown(found);
}

/**
 * Returns the place of a stack's first frame in the plugin's code, as ` (at <file>:<line>)`, or ''. `folders` contains
 * the real paths of the plugin's folders. The first folder in the list with a frame in the stack is used.
 */
export function placeInStack(stack: string, folders: readonly string[]): string {
  const text = decoded(withSourcePlaces(stack, folders));
  for (const folder of folders) {
    const place = placeOfFrame(text, `${folder}${sep}`);
    if (place !== undefined) return shown(place);
  }
  return '';
}

/** Replaces the absolute paths of a plugin's files with paths relative to the folder. */
export function withoutFolder(text: string, folder: string): string {
  return text.replaceAll(`file://${folder}/`, '').replaceAll(`${folder}/`, '');
}

type SourceLocation = {
  readonly path: string;
  readonly line: string;
  readonly source: string | undefined;
};

/** The maximum length of the shown part of a source line. A bundled file may consist of a single line. */
const sourceLengthMax = 80;

/**
 * Finds the location in the text of an error. The text of a syntax error starts with the location and the underlined
 * source line. The text of any other error contains the location in a stack frame. `root` is the path of the plugin's
 * folder and a separator, or '' if the text contains relative paths.
 */
function placeIn(text: string, root: string): SourceLocation | undefined {
  const [first = '', source = '', underline = ''] = text.split('\n', 3);
  const [, path, line] = /^(?:file:\/\/)?([^?]+?)(?:\?[^:]*)?:(\d+)$/u.exec(first) ?? [];
  const column = /^\s*\^+\s*$/u.test(underline) ? underline.indexOf('^') : -1;
  if (path?.startsWith(root) === true && line !== undefined && column >= 0)
    return {
      path: path.slice(root.length),
      line,
      source: around(source, column),
    };
  return root === '' ? undefined : placeOfFrame(text, root);
}

function placeOfFrame(text: string, root: string): SourceLocation | undefined {
  // Tries all lines, because the error's message may contain a path in the plugin's folder without a line number.
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

/**
 * Returns the stack, or '' without a readable stack. A plugin may throw any value, even an object that throws when a
 * property is read.
 */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  } catch {
    return '';
  }
}

/** Decodes the URLs in stack frames. An error's message may contain a literal %, which is kept. */
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
 * Parses the plugin's code in a process without running the code. Returns the standard error of the process; undefined
 * if the process finds no error.
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
