import type { Incarnation } from './incarnation.ts';
import type { LifeState } from './life.ts';
import type { Failure } from './status/plugin-status.ts';

/** Registered code. `isApplied`: this node applied its objects as the leader. */
export type PluginCode = { readonly incarnation: Incarnation; readonly isApplied: boolean };

/** The actual state of a plugin on one node: a member for each state of the life table, with the data of that state. */
export type PluginState =
  /** The plugin is known, and nothing happens until the next check of its desired state. */
  | { readonly phase: 'discovered' }
  /**
   * Its module loads, or its indexes are built, or it waits for a dependency. Without `code` the module has not loaded.
   * `progress`: the share of its indexes that are built, in percent; present during the build.
   */
  | { readonly phase: 'not-started'; readonly code?: PluginCode; readonly progress?: number }
  /** Its paths are served. `isLeaving`: it is to stop, and waits for its dependents to stop. */
  | { readonly phase: 'started'; readonly code: PluginCode; readonly isLeaving: boolean }
  /** Its registrations are being removed. `runsOn`: the dependencies of its code, which stop after it. */
  | { readonly phase: 'stopping'; readonly runsOn: ReadonlySet<string> }
  /** Disabled. */
  | { readonly phase: 'stopped' }
  /** It cannot run. The desired state holds the reason. */
  | { readonly phase: 'failed' }
  /** Its objects are being removed. `problem`: the reason why the last removal was incomplete. */
  | { readonly phase: 'uninstalling'; readonly problem?: Failure };

/** The desired state as last checked, with the reason why the plugin does not run; `wait`: for a dependency. */
export type DesiredState =
  | { readonly kind: 'run' | 'uninstall' | 'forget'; readonly failure?: undefined }
  | { readonly kind: 'off'; readonly failure: Failure | undefined }
  | { readonly kind: 'fail' | 'wait'; readonly failure: Failure };

/** States without data. */
export type RestingPhase = 'discovered' | 'stopped' | 'failed';

export type PluginChange =
  /** Moves to a state without data. The plugin has no registrations, or they are removed. */
  | { readonly type: 'rest'; readonly phase: RestingPhase }
  /** Its module begins to load. */
  | { readonly type: 'load' }
  | { readonly type: 'loaded'; readonly incarnation: Incarnation }
  /** `progress` is undefined once the build has ended. */
  | { readonly type: 'build'; readonly progress: number | undefined }
  /** Whether this node, as the leader, has applied its objects; false for a new leader. */
  | { readonly type: 'apply'; readonly isApplied: boolean }
  | { readonly type: 'serve' }
  /** Whether it waits for its dependents to stop. */
  | { readonly type: 'leave'; readonly isLeaving: boolean }
  /** The plugin's registrations are about to be removed. */
  | { readonly type: 'release' }
  | { readonly type: 'uninstall'; readonly problem?: Failure };

/**
 * The only function that makes a state from another one. A change that does not fit the present state returns that
 * state, for example progress that arrives after the build.
 */
export function nextState(state: PluginState, change: PluginChange): PluginState {
  switch (change.type) {
    case 'rest':
      return { phase: change.phase };
    case 'load':
      return { phase: 'not-started' };
    case 'loaded':
      return loaded(state, change.incarnation);
    case 'build':
      return built(state, change.progress);
    case 'apply':
      return applied(state, change.isApplied);
    case 'serve':
      return served(state);
    case 'leave':
      return state.phase === 'started' ? { ...state, isLeaving: change.isLeaving } : state;
    case 'release':
      return { phase: 'stopping', runsOn: runsOn(state) };
    case 'uninstall':
      return { phase: 'uninstalling', ...(change.problem === undefined ? {} : { problem: change.problem }) };
  }
}

function loaded(state: PluginState, incarnation: Incarnation): PluginState {
  if (state.phase !== 'not-started') return state;
  return { phase: 'not-started', code: { incarnation, isApplied: false } };
}

function served(state: PluginState): PluginState {
  if (state.phase !== 'not-started' || state.code === undefined) return state;
  return { phase: 'started', code: state.code, isLeaving: false };
}

function built(state: PluginState, progress: number | undefined): PluginState {
  if (state.phase !== 'not-started' || state.code === undefined) return state;
  return { phase: 'not-started', code: state.code, ...(progress === undefined ? {} : { progress }) };
}

function applied(state: PluginState, isApplied: boolean): PluginState {
  if ((state.phase !== 'not-started' && state.phase !== 'started') || state.code === undefined) return state;
  return { ...state, code: { ...state.code, isApplied } };
}

/** Its registered code; only `not-started` and `started` have any. */
export function codeOf(state: PluginState): PluginCode | undefined {
  return 'code' in state ? state.code : undefined;
}

/** The dependencies of its code until its release is complete. The present manifest may list others. */
export function runsOn(state: PluginState): ReadonlySet<string> {
  if (state.phase === 'stopping') return state.runsOn;
  return new Set(codeOf(state)?.incarnation.is.manifest.dependencies.keys());
}

export function isRestingPhase(phase: LifeState): phase is RestingPhase {
  return phase === 'discovered' || phase === 'stopped' || phase === 'failed';
}
