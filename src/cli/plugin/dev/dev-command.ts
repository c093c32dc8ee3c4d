import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

import { parse } from 'yaml';

import { isObject } from '../../../base/guards.ts';
import { commandError, usageError } from '../../failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { printable } from '../../text-table.ts';
import { DevLoop } from './dev-loop.ts';
import { startDevServer, type DevServer } from './dev-server.ts';
import type { ShellCommand } from './dev-step.ts';
import { followSources } from './follow-sources.ts';

export type DevOptions = {
  readonly compile?: string | undefined;
  readonly test?: string | undefined;
  readonly watch?: readonly string[] | undefined;
  readonly with?: readonly string[] | undefined;
};

/**
 * Compiles a plugin, serves it, and runs its tests. Compiles and tests again after each change of the plugin's sources,
 * until SIGINT or SIGTERM. The server itself reloads the plugin when the plugin's files have changed.
 */
export async function developPlugin(
  folder: string | undefined,
  options: DevOptions,
  context: CommandContext,
): Promise<void> {
  const path = resolve(context.folder, folder ?? '.');
  const name = await nameOf(path);
  const say = (text: string): void => {
    context.output.write(`${text}\n`);
  };
  const stopping = new AbortController();
  const stop = (): void => {
    stopping.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  let server: DevServer | undefined;
  const compile = options.compile ?? (await buildScript(path));
  const loop = new DevLoop({
    // The command of an option runs in the working folder. The script `build` runs in the plugin's folder.
    compile: compile === undefined ? undefined : stepOf(compile, options.compile === undefined ? path : context.folder),
    test: async () =>
      options.test === undefined ? testsIn(path, context.program) : stepOf(options.test, context.folder),
    variables: context.variables,
    onCompiled: async () => {
      server ??= await startDevServer({ folder: path, name, others: othersOf(options, context), context, say });
      server.ended.catch(stop);
    },
    say,
  });
  const sources = (options.watch ?? [path]).map((each) => resolve(context.folder, each));
  const following = followSources(sources, context.clock, (changed) => {
    loop.changed(changed.map((file) => relative(context.folder, file)));
  });
  stopping.signal.addEventListener('abort', () => {
    loop.stop();
  });
  try {
    await loop.run();
  } finally {
    following.stop();
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await server?.stop();
  }
  await server?.ended.catch((error: unknown) => {
    throw commandError(error instanceof Error ? error.message : String(error));
  });
}

function othersOf(options: DevOptions, { folder }: CommandContext): readonly string[] {
  return (options.with ?? []).map((each) => resolve(folder, each));
}

function stepOf(command: string, folder: string): ShellCommand {
  return { file: command, args: [], isShell: true, folder };
}

async function nameOf(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'plugin.yaml'), 'utf8').catch(() => undefined);
  if (text === undefined) throw usageError(`${printable(folder)} contains no plugin.yaml that can be read`);
  let manifest: unknown;
  try {
    manifest = parse(text);
  } catch (error) {
    throw usageError(`plugin.yaml: ${error instanceof Error ? error.message : String(error)}`);
  }
  const metadata = isObject(manifest) ? manifest['metadata'] : undefined;
  const name = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string') throw usageError('plugin.yaml: metadata.name must be a string');
  return name;
}

/**
 * Returns the command that runs the script `build` of the plugin's package.json; undefined if there is no such script.
 */
async function buildScript(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  let described: unknown;
  try {
    described = JSON.parse(text);
  } catch {
    throw usageError('package.json is not JSON');
  }
  const scripts = isObject(described) ? described['scripts'] : undefined;
  return isObject(scripts) && typeof scripts['build'] === 'string' ? 'npm run --silent build' : undefined;
}

/**
 * Returns the command that runs the plugin's tests in `dist/test`, otherwise the tests in `test`. Returns undefined if
 * there are no tests.
 */
async function testsIn(
  folder: string,
  [node = process.execPath]: readonly string[],
): Promise<ShellCommand | undefined> {
  for (const part of [join('dist', 'test'), 'test']) {
    const path = join(folder, part);
    const isFolder = await stat(path).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    const names = isFolder ? await readdir(path, { recursive: true }) : [];
    const files = names.filter((name) => /\.test\.[cm]?js$/u.test(name)).map((name) => join(part, name));
    if (files.length > 0) {
      const args = ['--enable-source-maps', '--test', '--test-reporter=spec', ...files.sort()];
      return { file: node, args, isShell: false, folder };
    }
  }
  return undefined;
}
