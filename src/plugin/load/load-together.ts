import { within, type Clock } from '../../base/clock.ts';
import type { HostedPlugin } from '../lifecycle/hosted-plugin.ts';
import { loadTogetherMs } from '../lifecycle/life-limits.ts';
import type { PluginStep } from '../lifecycle/plugin-step.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

export type LoadTogetherOptions = {
  readonly step: PluginStep;
  readonly registry: TypeRegistry;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/**
 * Starts to load the given plugins at the same time. Registers the plugins that load in time, in the given order. The
 * reconciliation of a slower plugin registers the result later.
 */
export async function loadTogether(
  plugins: readonly HostedPlugin[],
  { step, registry, clock, signal }: LoadTogetherOptions,
): Promise<void> {
  const loads = plugins.map(async (plugin) => step.loads.begin(plugin)?.done);
  await within(Promise.all(loads), { clock, ms: loadTogetherMs, signal });
  if (signal.aborted) return;
  const loaded = plugins.filter(({ module }) => module.loading?.isDone === true);
  for (const plugin of loaded) await step.load(plugin);
  for (const plugin of loaded) step.fail(plugin, plugin.incarnation?.registerTypes());
  for (const plugin of loaded)
    if (plugin.ownFailure === undefined) step.fail(plugin, plugin.incarnation?.announceRoutes());
  for (const { name } of loaded) registry.markKnown(name);
}
