import { delay } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import { listOf, textOf } from '../answer-member.ts';
import { connect } from '../connection.ts';
import type { Connection, ConnectionOptions } from '../connection.ts';
import { commandError } from '../failure.ts';
import type { Call } from '../server-client.ts';
import type { CommandContext } from '../command-context.ts';
import { printable, textTable } from '../text-table.ts';
import {
  checkName,
  describe,
  isObserved,
  nameOf,
  objectPath,
  phaseOf,
  printState,
  readyOf,
  troubleOf,
  versionOf,
} from './plugin-state.ts';

const pollIntervalMs = 200;
const startedWaitMs = 30_000;

export async function listPlugins(options: ConnectionOptions, context: CommandContext): Promise<void> {
  const connection = await connect(options, context);
  const answer = await connection.client.send({ method: 'GET', path: objectPath(connection) });
  const rows = listOf(answer, 'items')
    .map((plugin) => [nameOf(plugin), versionOf(plugin), phaseOf(plugin), troubleOf(plugin)])
    .sort(([left = ''], [right = '']) => (left < right ? -1 : Number(left > right)));
  context.output.write(textTable(['NAME', 'VERSION', 'PHASE', 'REASON'], rows));
}

export async function enablePlugin(name: string, options: ConnectionOptions, context: CommandContext): Promise<void> {
  await switchPlugin(name, { enabled: true, phases: ['started', 'failed'] }, { options, context });
}

export async function disablePlugin(name: string, options: ConnectionOptions, context: CommandContext): Promise<void> {
  await switchPlugin(name, { enabled: false, phases: ['stopped'] }, { options, context });
}

type PluginAction = { readonly options: ConnectionOptions; readonly context: CommandContext };

/**
 * Changes `spec.enabled`. The change takes effect only after the response. Therefore the function polls the server
 * until the plugin has one of `phases`, or until a setting of the server disables the plugin.
 */
async function switchPlugin(
  name: string,
  { enabled, phases }: { readonly enabled: boolean; readonly phases: readonly string[] },
  { options, context }: PluginAction,
): Promise<void> {
  checkName(name);
  const { clock } = context;
  const connection = await connect(options, context);
  const path = [...objectPath(connection), name];
  const change: Call = { method: 'PATCH', path, body: { spec: { enabled } } };
  let plugin = enabled ? await askToRun(change, connection) : await connection.client.send(change);
  if (plugin === undefined) throw commandError(howItComesBack(name, connection));
  const deadline = clock.monotonic() + startedWaitMs;
  while (plugin !== undefined && !(isObserved(plugin) && (phases.includes(phaseOf(plugin)) || isKeptOff(plugin)))) {
    if (clock.monotonic() > deadline) throw commandError(`the plugin ${printable(name)} is still ${describe(plugin)}`);
    await delay(clock, pollIntervalMs);
    plugin = await connection.client.find({ method: 'GET', path });
  }
  if (plugin === undefined) throw commandError(`the plugin ${printable(name)} was removed`);
  if (!phases.includes(phaseOf(plugin)))
    throw commandError(`the plugin ${printable(name)} is still ${describe(plugin)}`);
  printState(enabled ? 'enabled' : 'disabled', plugin, context);
}

/**
 * Enables the plugin. If the server's process ended during the last load, also makes the server load the plugin's files
 * again. Returns undefined if the plugin does not exist.
 */
async function askToRun(change: Call, { client }: Connection): Promise<Json | undefined> {
  const plugin = await client.find(change);
  if (plugin === undefined || !isUnfinished(plugin)) return plugin;
  // The server loads the files again only after a change of the object. The plugin may already be enabled, so it is
  // first disabled.
  await client.send({ ...change, body: { spec: { enabled: false } } });
  return client.find(change);
}

/** Whether the server's process ended while it loaded the plugin's files. The server does not load such files again. */
function isUnfinished(plugin: Json): boolean {
  return textOf(readyOf(plugin), 'reason') === 'LoadUnfinished';
}

/** Whether a setting of the server disables the plugin, independently of its object. */
function isKeptOff(plugin: Json): boolean {
  return textOf(readyOf(plugin), 'reason') === 'KeptOff';
}

/**
 * Returns advice for a missing plugin. An uninstalled plugin with files on the server is restored only when its object
 * is created.
 */
function howItComesBack(name: string, connection: Connection): string {
  const path = objectPath(connection);
  const object = { apiVersion: path.slice(1, 3).join('/'), kind: 'Plugin', metadata: { name }, spec: {} };
  return (
    `the plugin ${printable(name)} does not exist (404). To restore an uninstalled plugin that is bundled ` +
    'or in a plugin folder, create its object:\n' +
    `POST /${path.join('/')} ${printable(JSON.stringify(object))}\nTo install a plugin from a package: ` +
    'ledgerplane plugin install <file>'
  );
}
