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

/** Describes a plugin in a state in which its types and routes are not served; undefined if they are served. */
export function describeUnavailable(name: string, state: LifeState): IdlePlugin | undefined {
  const description = descriptions[state];
  if (description === undefined) return undefined;
  return {
    state: `the plugin ${JSON.stringify(name)} ${description}`,
    isTransient: state === 'discovered' || state === 'not-started',
  };
}
