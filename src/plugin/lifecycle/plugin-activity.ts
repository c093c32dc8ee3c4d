import { delay, type Clock } from '../../base/clock.ts';
import type { HostedPlugin } from './hosted-plugin.ts';
import type { Failure } from './status/plugin-status.ts';
import type { PluginPhase } from '../objects/plugin-type.ts';

export type PluginActivity = {
  readonly name: string;
  readonly phase: PluginPhase;
  readonly failure: Failure | undefined;
};

/** The name in the registry's list of expected plugins that stands for all undiscovered plugins. */
export const undiscovered = '';

/** Returns the plugins that are not reconciled yet, with their present activities. */
export function pendingActivities(plugins: Iterable<HostedPlugin>): readonly string[] {
  return [...plugins]
    .filter(
      ({ reconciliation, isWaiting, phase }) =>
        reconciliation.running !== undefined || isWaiting || phase === 'discovered',
    )
    .map(describeActivity);
}

function describeActivity({ name, phase, module, isWaiting, failure, progress }: HostedPlugin): string {
  if (isWaiting) return `${name} (${failure?.message ?? 'waiting for another plugin'})`;
  if (module.loading !== undefined) return `${name} (loading the module)`;
  return progress === undefined ? `${name} (${phase})` : `${name} (building indexes: ${String(progress)} %)`;
}

/**
 * Returns whether `other` must be notified after a step of `plugin`. A waiting dependent is always notified. Other
 * dependents, and dependencies that wait to stop, are notified only if the state of `plugin` has changed (`isNews`).
 * Without this condition, two plugins could notify each other endlessly.
 */
export function isConcerned(other: HostedPlugin, plugin: HostedPlugin, isNews: boolean): boolean {
  return needs(other, plugin) ? isNews || other.isWaiting : isNews && other.isLeaving;
}

function needs({ manifest }: HostedPlugin, { name }: HostedPlugin): boolean {
  return manifest?.dependencies.has(name) === true;
}

/** Resolves when no step of the plugin runs, or after the timeout. */
export async function waitUntilIdle(
  running: () => Promise<void> | undefined,
  clock: Clock,
  timeoutMs: number,
): Promise<void> {
  const timeUp = new AbortController();
  const rest = async (): Promise<void> => {
    for (let step = running(); step !== undefined && !timeUp.signal.aborted; step = running()) await step;
  };
  await Promise.race([rest(), delay(clock, timeoutMs, timeUp.signal)]);
  timeUp.abort();
}

export function activityOf({ name, phase, failure }: HostedPlugin): PluginActivity {
  return { name, phase, failure };
}
