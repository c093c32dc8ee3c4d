import type { IdlePlugin } from '../../auth/authorization/authorize.ts';
import type { LifeState } from './life.ts';

const descriptions: Readonly<Record<LifeState, string | undefined>> = {
  discovered: 'has not started yet',
  'not-started': 'has not started yet',
  started: undefined,
  stopping: 'is stopping',
  stopped: 'is stopped',
  failed: 'has failed',
  uninstalling: 'is being uninstalled',
};

/** Describes the state of a plugin that does not serve its types and routes; undefined for other plugins. */
export function describeUnavailable(name: string, state: LifeState): IdlePlugin | undefined {
  const description = descriptions[state];
  if (description === undefined) return undefined;
  return {
    state: `the plugin ${JSON.stringify(name)} ${description}`,
    isTransient: state === 'discovered' || state === 'not-started',
  };
}
