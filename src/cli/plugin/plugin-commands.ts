import { readFile, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';

import { delay } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import { listOf, memberOf, textOf, textsOf } from '../answer-member.ts';
import { connect } from '../connection.ts';
import type { Connection, ConnectionOptions } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import type { Call } from '../server-client.ts';
import type { CommandContext } from '../command-context.ts';
import { printable, textTable } from '../text-table.ts';

export type UninstallOptions = ConnectionOptions & { readonly deleteData?: boolean | undefined };

/** The largest package that the command reads, to limit its memory. The server has a lower limit. */
const fileBytesMax = 268_435_456;
/**
 * The interval at which the command polls the server, and the time limits for the start and the removal of a plugin.
 */
const pollIntervalMs = 200;
const startedWaitMs = 30_000;
const removedWaitMs = 60_000;
/** The time after which the command prints why it is waiting. Most removals are faster. */
const quietMs = 1_000;

export async function installPlugin(file: string, options: ConnectionOptions, context: CommandContext): Promise<void> {
  const upload = await readPackage(file, context);
  const connection = await connect(options, context);
  const plugin = await connection.client.send({
    method: 'POST',
    path: [...consolePath(connection), 'install'],
    file: upload,
  });
  printState('installed', plugin, context);
}

export async function upgradePlugin(
  name: string,
  file: string,
  options: ConnectionOptions,
  context: CommandContext,
): Promise<void> {
  checkName(name);
  const upload = await readPackage(file, context);
  const connection = await connect(options, context);
  const plugin = await connection.client.send({
    method: 'POST',
    path: [...consolePath(connection), name, 'upgrade'],
    file: upload,
  });
  printState('upgraded', plugin, context);
}

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
 * Changes `spec.enabled`, and polls the server until the plugin has the resulting phase. The change takes effect after
 * the response.
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

export async function uninstallPlugin(name: string, options: UninstallOptions, context: CommandContext): Promise<void> {
  checkName(name);
  const { clock, stderr } = context;
  const connection = await connect(options, context);
  const path = [...objectPath(connection), name];
  if (options.deleteData === true)
    await connection.client.send({ method: 'PATCH', path, body: { spec: { deleteData: true } } });
  const deletion = await connection.client.send({ method: 'DELETE', path });
  const uid = textOf(deletion, 'metadata', 'uid');
  const began = clock.monotonic();
  let printed = '';
  for (;;) {
    const plugin = await connection.client.find({ method: 'GET', path });
    // A plugin with another uid was created with the same name after the removal.
    if (plugin === undefined || textOf(plugin, 'metadata', 'uid') !== uid) break;
    const holds = `waiting: ${heldUpBy(plugin)}`;
    const waited = clock.monotonic() - began;
    if (waited > removedWaitMs)
      throw commandError(`the plugin ${printable(name)} is still being uninstalled; ${heldUpBy(plugin)}`);
    if (waited > quietMs && holds !== printed) stderr.write(`${holds}\n`);
    if (waited > quietMs) printed = holds;
    await delay(clock, pollIntervalMs);
  }
  stderr.write(`uninstalled ${printable(name)}${options.deleteData === true ? ' and its data' : ''}\n`);
}

/** Returns a text with the finalizers and the state that delay the removal. */
function heldUpBy(plugin: Json): string {
  const finalizers = textsOf(plugin, 'metadata', 'finalizers').map(printable);
  const held =
    finalizers.length === 0 ? 'no finalizers remain' : `the plugin has the finalizers ${finalizers.join(', ')}`;
  const reason = reasonOf(plugin);
  return `${held}; the phase is ${phaseOf(plugin)}${reason === '' ? '' : ` (${printable(reason)})`}`;
}

/** Prints only the plugin's name to standard output, for scripts. Fails if the plugin has failed. */
function printState(done: string, plugin: Json, { output, stderr }: CommandContext): void {
  const name = printable(nameOf(plugin));
  output.write(`${name}\n`);
  if (!isObserved(plugin)) {
    stderr.write(`${done} ${name}: the plugin is not ready yet\n`);
    return;
  }
  if (phaseOf(plugin) === 'failed') throw commandError(`${name} is ${done}, and ${describe(plugin)}`);
  stderr.write(`${done} ${name}: the plugin is ${describe(plugin)}\n`);
}

function describe(plugin: Json): string {
  const version = versionOf(plugin);
  const reason = troubleOf(plugin);
  const versioned = version === '' ? '' : `, version ${printable(version)}`;
  return `${printable(phaseOf(plugin))}${versioned}${reason === '' ? '' : `: ${printable(reason)}`}`;
}

function nameOf(plugin: Json): string {
  return textOf(plugin, 'metadata', 'name') ?? '';
}

/** Returns the running version; the version of the spec if the status has no version. */
function versionOf(plugin: Json): string {
  return textOf(plugin, 'status', 'version') ?? textOf(plugin, 'spec', 'version') ?? '';
}

function phaseOf(plugin: Json): string {
  if (memberOf(plugin, 'metadata', 'deletionTimestamp') !== undefined) return 'uninstalling';
  return textOf(plugin, 'status', 'phase') ?? 'not-started';
}

/** Whether the status describes this generation of the object. A status without a generation is treated as current. */
function isObserved(plugin: Json): boolean {
  const observed = memberOf(plugin, 'status', 'observedGeneration');
  return observed === undefined || observed === memberOf(plugin, 'metadata', 'generation');
}

/**
 * Enables the plugin, and makes the server load its files again if a load was unfinished. Returns undefined if the
 * plugin does not exist.
 */
async function askToRun(change: Call, { client }: Connection): Promise<Json | undefined> {
  const plugin = await client.find(change);
  if (plugin === undefined || !isUnfinished(plugin)) return plugin;
  // The server loads the files again only after a change of the object. The plugin may be enabled already, so it is
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

/**
 * Returns the reason why the plugin does not run. For a running plugin, returns the warnings, such as failing
 * reconcilers and pending changes.
 */
function troubleOf(plugin: Json): string {
  if (phaseOf(plugin) !== 'started') return reasonOf(plugin);
  const notices = listOf(plugin, 'status', 'conditions').filter(
    (condition) => textOf(condition, 'type') !== 'Ready' && textOf(condition, 'status') === 'True',
  );
  return notices
    .map((notice) =>
      [textOf(notice, 'type'), textOf(notice, 'message')]
        .filter((part) => part !== undefined && part !== '')
        .join(': '),
    )
    .join('; ');
}

function reasonOf(plugin: Json): string {
  const ready = readyOf(plugin);
  const [reason, message] = [textOf(ready, 'reason'), textOf(ready, 'message')];
  return [reason, message].filter((part) => part !== undefined && part !== '').join(': ');
}

function readyOf(plugin: Json): Json | undefined {
  return listOf(plugin, 'status', 'conditions').find((condition) => textOf(condition, 'type') === 'Ready');
}

function objectPath({ domain }: Connection): readonly string[] {
  return ['apis', `plugin.${domain}`, 'v1alpha1', 'plugins'];
}

function consolePath({ domain }: Connection): readonly string[] {
  return ['apis', `api.console.${domain}`, 'v1alpha1', 'plugins'];
}

async function readPackage(
  file: string,
  { folder }: CommandContext,
): Promise<{ readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }> {
  const path = resolve(folder, file);
  try {
    const { size } = await stat(path);
    if (size > fileBytesMax) throw new Error(`the file has ${String(size)} bytes, more than a package may have`);
    return { name: basename(path), bytes: new Uint8Array(await readFile(path)) };
  } catch (error) {
    throw usageError(
      `${printable(file)} cannot be read: ${error instanceof Error ? printable(error.message) : 'not a file'}`,
    );
  }
}

/** Refuses names that would change the path of the request. The server checks all other rules. */
export function checkName(name: string): void {
  if (/^(?:|\.{1,2})$/u.test(name)) throw usageError(`${JSON.stringify(name)} is not a plugin's name`);
}
