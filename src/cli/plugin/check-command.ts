import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { Command } from 'commander';

import { targetOf } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import type { CommandContext } from '../command-context.ts';
import { counted, printable } from '../text-table.ts';

/**
 * Returns the problems of the plugin in a folder. The caller passes this function, because src/cli must not import the
 * code that reads plugins.
 */
export type PluginCheck = (folder: string, domain: string) => Promise<readonly CheckedProblem[]>;

/** A problem in one line. A warning is printed, and does not fail the check. */
export type CheckedProblem = { readonly text: string; readonly isWarning: boolean };

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
  const found = await (await pluginCheck())(path, domain);
  for (const { text } of found) context.output.write(`${printable(text)}\n`);
  const warnings = found.filter(({ isWarning }) => isWarning).length;
  const problems = found.length - warnings;
  if (problems > 0) throw commandError(`the plugin has ${counted(problems, 'problem')}`);
  context.stderr.write(`the plugin has no problems${warnings === 0 ? '' : `, and ${counted(warnings, 'warning')}`}\n`);
}
