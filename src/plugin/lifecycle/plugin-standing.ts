import { delay, type Clock } from '../../base/clock.ts';
import type { HostedPlugin } from './hosted-plugin.ts';
import type { Failure } from './plugin-status.ts';
import type { PluginPhase } from '../objects/plugin-type.ts';

/** How a plugin stands on this node. */
export type PluginStanding = { readonly name: string; readonly phase: PluginPhase; readonly failure: Failure | undefined };

/** Stands among the plugins that are expected until they are found. */
export const unfound = '';

/** Those that have not come to rest, and what each is doing. */
export function activitiesOf(plugins: Iterable<HostedPlugin>): readonly string[] {
  return [...plugins].filter(({ running, isWaiting, state }) => running !== undefined || isWaiting || state === 'discovered').map(activityOf);
}

function activityOf({ name, state, loading, isWaiting, failure, progress }: HostedPlugin): string {
  if (isWaiting) return `${name} (${failure?.message ?? 'it waits for another plugin'})`;
  if (loading !== undefined) return `${name} (its module is being loaded)`;
  return progress === undefined ? `${name} (${state})` : `${name} (its indexes are being built: ${String(progress)} %)`;
}

/** One that waits is told of each standstill, one that is to leave only of what is new: it would else be asked for ever by those it asks. */
export function isConcerned(other: HostedPlugin, plugin: HostedPlugin, isNews: boolean): boolean {
  return needs(other, plugin) ? isNews || other.isWaiting : isNews && other.isLeaving;
}

function needs({ manifest }: HostedPlugin, { name }: HostedPlugin): boolean {
  return manifest?.dependencies.has(name) === true;
}

/** Resolves when nothing of it runs any more, or the time is up. */
export async function restOf(running: () => Promise<void> | undefined, clock: Clock, timeoutMs: number): Promise<void> {
  const timeUp = new AbortController();
  const rest = async (): Promise<void> => {
    for (let step = running(); step !== undefined && !timeUp.signal.aborted; step = running()) await step;
  };
  await Promise.race([rest(), delay(clock, timeoutMs, timeUp.signal)]);
  timeUp.abort();
}

export function standingOf({ name, state, failure }: HostedPlugin): PluginStanding {
  return { name, phase: state, failure };
}
