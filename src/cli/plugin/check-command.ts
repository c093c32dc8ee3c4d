import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { Command } from 'commander';

import { targetOf } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import type { CommandContext } from '../command-context.ts';
import { printable } from '../text-table.ts';

/**
 * Finds the problems of the plugin in a folder, each as one line of text. The caller passes this function, because
 * src/cli may import only settings and HTTP.
 */
export type PluginCheck = (folder: string, domain: string) => Promise<readonly string[]>;

export type CheckOptions = { readonly domain?: string | undefined };

export type Checking = {
  readonly context: CommandContext;
  /** Loads the check, on first use. */
  readonly pluginCheck: () => Promise<PluginCheck>;
};

export function addCheckCommand(plugin: Command, { context, pluginCheck }: Checking): void {
  plugin
    .command('check [folder]')
    .description('print every problem of a plugin that can be found without a server; exits with 1 if there are any')
    .option('--domain <domain>', 'platform domain; by default PLATFORM_DOMAIN of the settings')
    .action(async (folder: string | undefined, options: CheckOptions) => {
      await check(folder ?? '.', options, { context, pluginCheck });
    });
}

async function check(folder: string, options: CheckOptions, { context, pluginCheck }: Checking): Promise<void> {
  const path = resolve(context.folder, folder);
  const isFolder = await stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (!isFolder) throw usageError(`${printable(folder)} is not a folder`);
  const { domain } = targetOf(options, context);
  const problems = await (await pluginCheck())(path, domain);
  for (const problem of problems) context.output.write(`${printable(problem)}\n`);
  const count = String(problems.length);
  if (problems.length > 0) throw commandError(`the plugin has ${count} problem${problems.length === 1 ? '' : 's'}`);
  context.stderr.write('the plugin has no problems\n');
}
