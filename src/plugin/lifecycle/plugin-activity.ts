import { delay, type Clock } from '../../base/clock.ts';
import type { HostedPlugin } from './hosted-plugin.ts';
import type { Failure } from './status/plugin-status.ts';
import type { PluginPhase } from '../objects/plugin-type.ts';

/** A plugin's state on this node. */
export type PluginActivity = {
  readonly name: string;
  readonly phase: PluginPhase;
  readonly failure: Failure | undefined;
};

/** The name for all plugins in the list of expected ones, until the discovery is complete. */
export const undiscovered = '';

/** The plugins that are not reconciled yet, each with its present activity. */
export function pendingActivities(plugins: Iterable<HostedPlugin>): readonly string[] {
  return [...plugins]
    .filter(
      ({ reconciliation, isWaiting, phase }) =>
        reconciliation.running !== undefined || isWaiting || phase === 'discovered',
    )
    .map(describeActivity);
}

function describeActivity({ name, phase, module, isWaiting, failure, progress }: HostedPlugin): string {
  if (isWaiting) return `${name} (${failure?.message ?? 'it waits for another plugin'})`;
  if (module.loading !== undefined) return `${name} (loading its module)`;
  return progress === undefined ? `${name} (${phase})` : `${name} (building its indexes: ${String(progress)} %)`;
}

/**
 * Whether `other` must be notified of a change of `plugin`. A waiting dependent is notified every time, a leaving
 * dependency only of changes: otherwise the two would notify each other endlessly.
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
