import type { Command } from 'commander';

import type { ConnectionOptions } from '../connection.ts';
import type { CommandContext } from '../command-context.ts';
import { gathered } from '../audit/gathered.ts';
import { addPartCommands } from './add-part.ts';
import { addCheckCommand, type PluginCheck } from './check-command.ts';
import type { DevOptions } from './dev/dev-command.ts';
import type { LogsOptions } from './logs-command.ts';
import { addNewPlugin } from './new-plugin.ts';
import type { InstallOptions, UpgradeOptions } from './package-commands.ts';
import type { UninstallOptions } from './uninstall-command.ts';

export type PluginCommandsOptions = {
  readonly context: CommandContext;
  readonly version: string;
  readonly pluginCheck: () => Promise<PluginCheck>;
  /** Adds the options of commands that call a server. */
  readonly connected: (command: Command) => Command;
};

/** Adds the commands of `ledgerplane plugin`: commands for authors, and commands that call a server. */
export function addPluginCommands(program: Command, options: PluginCommandsOptions): void {
  const plugin = program
    .command('plugin')
    .description('create, extend and check plugins; install, list, enable, disable, upgrade and uninstall them');
  addNewPlugin(plugin, options);
  addPartCommands(plugin, options.context);
  addCheckCommand(plugin, options);
  addDevCommand(plugin, options.context);
  addPackageCommands(plugin, options);
  addServerCommands(plugin, options);
}

function addDevCommand(plugin: Command, context: CommandContext): void {
  plugin
    .command('dev [folder]')
    .description('compile a plugin, serve it and run its tests, and do so again after each change of its sources')
    .option('--compile <command>', 'command that compiles the plugin; by default the script build of package.json')
    .option('--test <command>', 'command that runs its tests; by default node --test with dist/test or test')
    .option('--watch <folder>', 'folder with sources of the plugin; default: its folder; may be repeated', gathered)
    .option('--with <folder>', 'folder of another plugin to serve; may be repeated', gathered)
    .addHelpText(
      'after',
      '\nThe settings are those of serve; by default, DATA_DIR is .dev/data in the folder of the plugin.',
    )
    .action(async (folder: string | undefined, options: DevOptions) =>
      (await import('./dev/dev-command.ts')).developPlugin(folder, options, context),
    );
}

function addServerCommands(plugin: Command, { context, connected }: PluginCommandsOptions): void {
  connected(plugin.command('list').description('list the plugins with version, phase and reason')).action(
    async (options: ConnectionOptions) => (await import('./plugin-commands.ts')).listPlugins(options, context),
  );
  connected(plugin.command('enable <name>').description('enable a plugin and wait until it has started')).action(
    async (name: string, options: ConnectionOptions) =>
      (await import('./plugin-commands.ts')).enablePlugin(name, options, context),
  );
  connected(
    plugin.command('disable <name>').description('disable a plugin and wait until it has stopped; its data is kept'),
  ).action(async (name: string, options: ConnectionOptions) =>
    (await import('./plugin-commands.ts')).disablePlugin(name, options, context),
  );
  connected(plugin.command('logs <name>').description('print the last log lines of a plugin on the node that responds'))
    .option('--follow', 'also print new lines, until Ctrl-C')
    .action(async (name: string, options: LogsOptions) =>
      (await import('./logs-command.ts')).printPluginLogs(name, options, context),
    );
}

function addPackageCommands(plugin: Command, { context, connected }: PluginCommandsOptions): void {
  connected(plugin.command('install <file>').description('install a package: a file of npm pack, or a zip'))
    .option('--dry-run', 'only check the package, and the stored objects of its types')
    .action(async (file: string, options: InstallOptions) =>
      (await import('./package-commands.ts')).installPlugin(file, options, context),
    );
  connected(
    plugin
      .command('upgrade <name> <file>')
      .description('replace an installed plugin with another version, newer or older'),
  )
    .option(
      '--check',
      'only report the changes, and the stored objects that break the new schemas; exits with 1 if there are any',
    )
    .action(async (name: string, file: string, options: UpgradeOptions) =>
      (await import('./package-commands.ts')).upgradePlugin(name, file, options, context),
    );
  connected(plugin.command('uninstall <name>').description('uninstall a plugin and wait until it is removed'))
    .option('--delete-data', 'also delete the objects of its types')
    .option('--dry-run', 'only print the objects that would be removed or kept')
    .action(async (name: string, options: UninstallOptions) =>
      (await import('./uninstall-command.ts')).uninstallPlugin(name, options, context),
    );
}
