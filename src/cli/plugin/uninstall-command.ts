import { delay } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import { listOf, memberOf, textOf, textsOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect } from '../connection.ts';
import type { Connection, ConnectionOptions } from '../connection.ts';
import { commandError } from '../failure.ts';
import { counted, printable } from '../text-table.ts';
import { checkName, objectPath, phaseOf, reasonOf } from './plugin-state.ts';

export type UninstallOptions = ConnectionOptions & {
  readonly deleteData?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
};

const pollIntervalMs = 200;
const removedWaitMs = 60_000;
/** The time after which the command prints why it is waiting. Most removals are faster. */
const quietMs = 1_000;
const dryRun = { dryRun: 'All' };

export async function uninstallPlugin(name: string, options: UninstallOptions, context: CommandContext): Promise<void> {
  checkName(name);
  const { clock, stderr } = context;
  const connection = await connect(options, context);
  const path = [...objectPath(connection), name];
  if (options.dryRun === true) {
    await printRemoved(await connection.client.send({ method: 'DELETE', path, query: dryRun }), options, {
      connection,
      context,
    });
    return;
  }
  if (options.deleteData === true)
    await connection.client.send({ method: 'PATCH', path, body: { spec: { deleteData: true } } });
  const deletion = await connection.client.send({ method: 'DELETE', path });
  const uid = textOf(deletion, 'metadata', 'uid');
  const began = clock.monotonic();
  let printed = '';
  for (;;) {
    const plugin = await connection.client.find({ method: 'GET', path });
    // The plugin has been removed. A plugin of this name with another uid was created later.
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

type Printing = { readonly connection: Connection; readonly context: CommandContext };

/**
 * Prints the applied objects that an uninstall would remove. Also prints the number of objects of each type of the
 * plugin, and whether the uninstall would remove these objects. `plugin` is the response to the dry run of the
 * deletion.
 */
async function printRemoved(
  plugin: Json,
  { deleteData = false }: UninstallOptions,
  { connection, context }: Printing,
): Promise<void> {
  for (const { apiVersion, kind, names } of listOf(plugin, 'status', 'applied').map(objectsIn))
    for (const name of names) context.output.write(`removed: ${printable(`${kind} ${name} of ${apiVersion}`)}\n`);
  for (const type of listOf(plugin, 'status', 'types')) {
    const [group = '', version = '', plural = ''] = ['group', 'version', 'plural'].map((member) =>
      textOf(type, member),
    );
    const path = ['apis', group, version, plural];
    const list = await connection.client.find({ method: 'GET', path, query: { size: '1' } });
    const total = memberOf(list, 'total');
    const objects = typeof total === 'number' ? counted(total, 'object') : 'objects that are not served now';
    const outcome = deleteData ? 'removed' : 'kept';
    context.output.write(`${outcome}: ${printable(`${plural}.${group}`)}, ${objects}\n`);
  }
}

function objectsIn(applied: Json): { readonly apiVersion: string; readonly kind: string; names: readonly string[] } {
  return {
    apiVersion: textOf(applied, 'apiVersion') ?? '',
    kind: textOf(applied, 'kind') ?? '',
    names: textsOf(applied, 'names'),
  };
}
