import type { Incarnation } from './incarnation.ts';
import type { LifeState } from './life.ts';
import type { Failure } from './status/plugin-status.ts';

/** Registered code. `isApplied`: whether this node, as the leader, has applied the objects that the code ships. */
export type PluginCode = {
  readonly incarnation: Incarnation;
  readonly isApplied: boolean;
};

/** The actual state of a plugin on one node, with the data of each state of the lifecycle table. */
export type PluginState =
  /** The plugin is known, and waits for the next check of its desired state. */
  | { readonly phase: 'discovered' }
  /**
   * The plugin starts, or waits for a dependency. `code` is undefined until the module has loaded. `progress` is the
   * progress of the index build in percent, present only during the build.
   */
  | { readonly phase: 'not-started'; readonly code?: PluginCode; readonly progress?: number }
  /** The plugin's paths are served. `isLeaving`: the plugin must stop, and waits until its dependents have stopped. */
  | { readonly phase: 'started'; readonly code: PluginCode; readonly isLeaving: boolean }
  /** The registrations are being removed. `runsOn`: the dependencies of the code, which must stop after this plugin. */
  | { readonly phase: 'stopping'; readonly runsOn: ReadonlySet<string> }
  | { readonly phase: 'stopped' }
  /** The plugin cannot run. The desired state contains the reason. */
  | { readonly phase: 'failed' }
  /** The plugin's objects are being removed. `problem`: the reason why the last attempt was incomplete. */
  | { readonly phase: 'uninstalling'; readonly problem?: Failure };

/**
 * The last checked desired state. `off`: the plugin is disabled. `forget`: the Plugin object was deleted, or there is
 * neither an object nor a folder. `wait`: a dependency is not ready yet. `failure`: the reason why the plugin does not
 * run; undefined if the plugin runs, is disabled by its object or its manifest, or is being removed.
 */
export type DesiredState =
  | { readonly kind: 'run' | 'uninstall' | 'forget'; readonly failure?: undefined }
  | { readonly kind: 'off'; readonly failure: Failure | undefined }
  | { readonly kind: 'fail' | 'wait'; readonly failure: Failure };

/** The states without data. */
export type RestingPhase = 'discovered' | 'stopped' | 'failed';

export type PluginChange =
  /** Moves to a state without data. The plugin has no registrations, or its registrations are removed. */
  | { readonly type: 'rest'; readonly phase: RestingPhase }
  | { readonly type: 'load' }
  | { readonly type: 'loaded'; readonly incarnation: Incarnation }
  /** `progress` is undefined after the build has ended. */
  | { readonly type: 'build'; readonly progress: number | undefined }
  /** Whether this node, as the leader, has applied the plugin's objects; false for a new leader. */
  | { readonly type: 'apply'; readonly isApplied: boolean }
  | { readonly type: 'serve' }
  /** Whether the plugin waits for its dependents to stop. */
  | { readonly type: 'leave'; readonly isLeaving: boolean }
  /** The plugin's registrations are about to be removed. */
  | { readonly type: 'release' }
  | { readonly type: 'uninstall'; readonly problem?: Failure };

/**
 * Returns the state after a change. A change that does not apply to the present state, such as progress after the
 * build, returns the present state.
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
  return {
    phase: 'not-started',
    code: state.code,
    ...(progress === undefined ? {} : { progress }),
  };
}

function applied(state: PluginState, isApplied: boolean): PluginState {
  if ((state.phase !== 'not-started' && state.phase !== 'started') || state.code === undefined) return state;
  return { ...state, code: { ...state.code, isApplied } };
}

/** Returns the registered code, which only the states `not-started` and `started` can have. */
export function codeOf(state: PluginState): PluginCode | undefined {
  return 'code' in state ? state.code : undefined;
}

/**
 * Returns the names of the plugins on which the registered code, or the code that is being removed, depends. The
 * present manifest may declare other dependencies.
 */
export function runsOn(state: PluginState): ReadonlySet<string> {
  if (state.phase === 'stopping') return state.runsOn;
  return new Set(codeOf(state)?.incarnation.is.manifest.dependencies.keys());
}

export function isRestingPhase(phase: LifeState): phase is RestingPhase {
  return phase === 'discovered' || phase === 'stopped' || phase === 'failed';
}
