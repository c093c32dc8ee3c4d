import type { Json } from '../../base/json.ts';
import { listOf, memberOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import type { Connection } from '../connection.ts';
import { commandError, usageError } from '../failure.ts';
import { counted, printable } from '../text-table.ts';

/**
 * Prints the plugin's name to standard output, for scripts, and its state to standard error. Fails if the plugin has
 * failed.
 */
export function printState(done: string, plugin: Json, { output, stderr }: CommandContext): void {
  const name = printable(nameOf(plugin));
  output.write(`${name}\n`);
  if (!isObserved(plugin)) {
    stderr.write(`${done} ${name}: the plugin is not ready yet\n`);
    return;
  }
  if (phaseOf(plugin) === 'failed') throw commandError(`${name} is ${done}, but its phase is ${describe(plugin)}`);
  stderr.write(`${done} ${name}: the plugin is ${describe(plugin)}\n`);
}

export function describe(plugin: Json): string {
  const version = versionOf(plugin);
  const reason = troubleOf(plugin);
  const versioned = version === '' ? '' : `, version ${printable(version)}`;
  return `${printable(phaseOf(plugin))}${versioned}${reason === '' ? '' : `: ${printable(reason)}`}`;
}

export function nameOf(plugin: Json): string {
  return textOf(plugin, 'metadata', 'name') ?? '';
}

/** Returns the running version; the version of the spec if the status has no version. */
export function versionOf(plugin: Json): string {
  return textOf(plugin, 'status', 'version') ?? textOf(plugin, 'spec', 'version') ?? '';
}

export function phaseOf(plugin: Json): string {
  if (memberOf(plugin, 'metadata', 'deletionTimestamp') !== undefined) return 'uninstalling';
  return textOf(plugin, 'status', 'phase') ?? 'not-started';
}

/** Whether the status describes this generation of the object. A status without a generation is treated as current. */
export function isObserved(plugin: Json): boolean {
  const observed = memberOf(plugin, 'status', 'observedGeneration');
  return observed === undefined || observed === memberOf(plugin, 'metadata', 'generation');
}

/**
 * Returns the reason why the plugin does not run. For a running plugin, returns the warnings, such as failing
 * reconcilers and pending changes.
 */
export function troubleOf(plugin: Json): string {
  if (phaseOf(plugin) !== 'started') return reasonOf(plugin);
  const notices = listOf(plugin, 'status', 'conditions').filter(
    (condition) => textOf(condition, 'type') !== 'Ready' && textOf(condition, 'status') === 'True',
  );
  return notices
    .map((notice) => (textOf(notice, 'type') === 'Migrating' ? `Migrating: ${progressOf(plugin)}` : noticeText(notice)))
    .join('; ');
}

function noticeText(notice: Json): string {
  return [textOf(notice, 'type'), textOf(notice, 'message')]
    .filter((part) => part !== undefined && part !== '')
    .join(': ');
}

function progressOf(plugin: Json): string {
  return listOf(plugin, 'status', 'migrations')
    .filter((migration) => textOf(migration, 'phase') === 'running')
    .map((migration) => {
      const [visited, objects] = ['visited', 'objects'].map((member) => Number(memberOf(migration, member) ?? 0));
      const id = textOf(migration, 'id') ?? '';
      return `${id}, ${(visited ?? 0).toLocaleString('en')} of ${counted(objects ?? 0, 'object')}`;
    })
    .join('; ');
}

export function reasonOf(plugin: Json): string {
  const ready = readyOf(plugin);
  const [reason, message] = [textOf(ready, 'reason'), textOf(ready, 'message')];
  return [reason, message].filter((part) => part !== undefined && part !== '').join(': ');
}

export function readyOf(plugin: Json): Json | undefined {
  return listOf(plugin, 'status', 'conditions').find((condition) => textOf(condition, 'type') === 'Ready');
}

export function objectPath({ domain }: Connection): readonly string[] {
  return ['apis', `plugin.${domain}`, 'v1alpha1', 'plugins'];
}

export function consolePath({ domain }: Connection): readonly string[] {
  return ['apis', `api.console.${domain}`, 'v1alpha1', 'plugins'];
}

/** Refuses names that would change the path of the request. The server checks all other rules. */
export function checkName(name: string): void {
  if (/^(?:|\.{1,2})$/u.test(name)) throw usageError(`${JSON.stringify(name)} is not a plugin's name`);
}
