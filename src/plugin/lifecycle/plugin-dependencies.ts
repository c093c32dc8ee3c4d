import type { HostedPlugin } from './hosted-plugin.ts';
import { isVersionInRange } from '../load/manifest.ts';
import type { Failure } from './status/plugin-status.ts';
import { startOrder } from './start-order.ts';

/**
 * Whether a plugin's dependencies are ready. `wait`: a dependency is starting or stopping. `fail`: a dependency is
 * missing, has an unsuitable version or does not run, or the dependencies contain a cycle.
 */
export type DependencyVerdict =
  { readonly kind: 'ready' } | { readonly kind: 'wait' | 'fail'; readonly failure: Failure };

/** Checks the dependencies of a plugin. `wanted` contains all enabled plugins, including this plugin. */
export function dependencyVerdict(
  plugin: HostedPlugin,
  find: (name: string) => HostedPlugin | undefined,
  wanted: readonly HostedPlugin[],
): DependencyVerdict {
  const dependencies = [...(plugin.manifest?.dependencies ?? [])];
  if (dependencies.length === 0) return { kind: 'ready' };
  const cycle = startOrder(
    wanted.map(({ name, manifest }) => ({ name, dependencies: [...(manifest?.dependencies.keys() ?? [])] })),
  ).cyclic.get(plugin.name);
  if (cycle !== undefined) return failed('DependencyCycle', `plugins depend on each other: ${cycle.join(' → ')}`);
  const verdicts = dependencies.map(([name, range]) => verdictOf(name, range, find(name)));
  return (
    verdicts.find(({ kind }) => kind === 'fail') ?? verdicts.find(({ kind }) => kind === 'wait') ?? { kind: 'ready' }
  );
}

function verdictOf(name: string, range: string, dependency: HostedPlugin | undefined): DependencyVerdict {
  if (dependency === undefined) return failed('DependencyMissing', `requires the plugin ${name}, which does not exist`);
  const { phase, isLeaving, reconciliation, version } = dependency;
  const isOnItsWay =
    reconciliation.running !== undefined ||
    reconciliation.isRequested ||
    isLeaving ||
    phase === 'discovered' ||
    phase === 'not-started' ||
    phase === 'stopping';
  const isServing = phase === 'started' && !isLeaving;
  if (!isServing) {
    return isOnItsWay
      ? {
          kind: 'wait',
          failure: { reason: 'WaitingForDependency', message: `waiting for the plugin ${name}, which is ${phase}` },
        }
      : failed('DependencyNotStarted', `requires the plugin ${name}, which is ${phase}`);
  }
  return isVersionInRange(version, range)
    ? { kind: 'ready' }
    : failed(
        'DependencyVersion',
        `requires version ${range} of the plugin ${name}; the present version is ${version ?? 'not declared'}`,
      );
}

function failed(reason: string, message: string): DependencyVerdict {
  return { kind: 'fail', failure: { reason, message } };
}
