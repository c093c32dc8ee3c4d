import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { createInterface } from 'node:readline';

import { isObject } from '../../../base/guards.ts';
import type { CommandContext } from '../../command-context.ts';
import { packageFolder } from '../template-files.ts';

export type DevServerOptions = {
  readonly folder: string;
  readonly name: string;
  /** The folders of other plugins to serve. */
  readonly others: readonly string[];
  readonly context: CommandContext;
  readonly say: (text: string) => void;
};

export type DevServer = {
  /** Resolves when `stop` has ended the server. Rejects if the server ends by itself. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
};

/** Log lines of this level and above are printed for all plugins. */
const warnLevel = 40;

/**
 * Starts a server with this plugin, and prints its address and the log lines about the plugin. Unless DATA_DIR is set,
 * the data is in the hidden folder `.dev` of the plugin's folder. For a bundled plugin, `.dev` is in the working
 * folder.
 */
export async function startDevServer({ folder, name, others, context, say }: DevServerOptions): Promise<DevServer> {
  const place = join(isBundled(folder) ? context.folder : folder, '.dev');
  const plugins = join(place, 'plugins');
  await rm(plugins, { recursive: true, force: true });
  await mkdir(plugins, { recursive: true });
  for (const [index, each] of [...(isBundled(folder) ? [] : [folder]), ...others].entries())
    await symlink(each, join(plugins, index === 0 ? basename(each) : `${basename(each)}.${String(index)}`));
  const [program = process.execPath, ...args] = context.program;
  const { variables } = context;
  const dirs = [variables['PLUGINS_DIRS'] ?? '', plugins].filter((each) => each !== '').join(',');
  const child = spawn(program, [...args, 'serve'], {
    cwd: context.folder,
    env: { DATA_DIR: join(place, 'data'), ...variables, PLUGINS_DIRS: dirs },
    // The server has its own process group, so that Ctrl-C in the terminal interrupts only this command. This command
    // then stops the server.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    say(`server: ${line}`);
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    const shown = shownLine(line, name);
    if (shown !== undefined) say(`server: ${shown}`);
  });
  let isStopping = false;
  const ended = once(child, 'close').then(([code, signal]) => {
    if (!isStopping) throw new Error(`the server has ended (${String(code ?? signal)})`);
  });
  return {
    ended,
    stop: async () => {
      isStopping = true;
      child.kill('SIGTERM');
      await ended.catch(() => undefined);
    },
  };
}

/** The members of log lines that are printed in another form or are of no use to an author. */
const commonMembers = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'plugin']);

/**
 * Returns the text to print for a line of the server's log; undefined if the line is not printed. A line is printed if
 * it is about the plugin, is a warning or an error, or is not a JSON object.
 */
function shownLine(line: string, name: string): string | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  if (!isObject(entry)) return line;
  const { level, msg, plugin } = entry;
  if (plugin !== name && !(typeof level === 'number' && level >= warnLevel)) return undefined;
  const more = Object.entries(entry)
    .filter(([member]) => !commonMembers.has(member))
    .map(([member, value]) => `\n  ${member}: ${textOf(value).replaceAll('\n', '\n  ')}`);
  return `${String(msg)}${typeof plugin === 'string' && plugin !== name ? ` (${plugin})` : ''}${more.join('')}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether the plugin is bundled, so that the server loads the plugin without PLUGINS_DIRS. */
function isBundled(folder: string): boolean {
  return folder.startsWith(join(packageFolder, 'dist', 'plugins') + sep);
}
