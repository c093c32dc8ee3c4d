/**
 * The lifecycle of a plugin on one node, as a table without side effects. The host compares the actual state with the
 * desired state, and looks up the transition for the resulting event. Then the host performs the act of the transition.
 * An interrupted act is repeated.
 */
export const lifeStates = [
  'discovered',
  'not-started',
  'started',
  'stopping',
  'stopped',
  'failed',
  'uninstalling',
] as const;

export type LifeState = (typeof lifeStates)[number];

export const lifeEvents = [
  'wanted',
  'unwanted',
  'changed',
  'failed',
  'served',
  'released',
  'deleted',
  'forgotten',
] as const;

export type LifeEvent =
  /** The plugin should run with its present files. */
  | 'wanted'
  /** The plugin is disabled, by `spec.enabled` or on this node by the operator. */
  | 'unwanted'
  /** The loaded files are not the present files, or the plugin must wait for a dependency. */
  | 'changed'
  /** The plugin cannot run, for example because a dependency stopped. The reason is stored in the desired state. */
  | 'failed'
  /** The plugin's indexes are built, the leader has applied its objects, and its paths are mounted. */
  | 'served'
  /** All registrations of the plugin are removed. */
  | 'released'
  /** The plugin's object has a deletion timestamp. */
  | 'deleted'
  /** The plugin's object was deleted, or the plugin has neither an object nor a folder. */
  | 'forgotten';

/**
 * The act of a transition. `load` reads, runs and registers the plugin. `release` removes all registrations, after
 * which the plugin is `discovered`. `erase` removes, on the leader, the objects that the plugin created. `forget`
 * removes the plugin from the host.
 */
export type LifeAct = 'none' | 'load' | 'release' | 'erase' | 'forget';

export type Transition = {
  readonly to: LifeState;
  readonly act: LifeAct;
};

/** Whether a plugin in the state may have registrations. */
export const holding: Readonly<Record<LifeState, boolean>> = {
  discovered: false,
  'not-started': true,
  started: true,
  stopping: true,
  stopped: false,
  failed: false,
  uninstalling: false,
};

const stay = (to: LifeState): Transition => ({ to, act: 'none' });
const load: Transition = { to: 'not-started', act: 'load' };
const release: Transition = { to: 'stopping', act: 'release' };
const erase: Transition = { to: 'uninstalling', act: 'erase' };
const forget: Transition = { to: 'discovered', act: 'forget' };

/** While a plugin stops, only `released` has an effect. The desired state is checked again after the release. */
const untilReleased = stay('stopping');

export const life: Readonly<Record<LifeState, Readonly<Record<LifeEvent, Transition>>>> = {
  discovered: {
    wanted: load,
    unwanted: stay('stopped'),
    changed: stay('discovered'),
    failed: stay('failed'),
    served: stay('discovered'),
    released: stay('discovered'),
    deleted: erase,
    forgotten: forget,
  },
  'not-started': {
    wanted: stay('not-started'),
    unwanted: release,
    changed: release,
    failed: release,
    served: stay('started'),
    released: stay('discovered'),
    deleted: release,
    forgotten: release,
  },
  started: {
    wanted: stay('started'),
    unwanted: release,
    changed: release,
    failed: release,
    served: stay('started'),
    released: stay('discovered'),
    deleted: release,
    forgotten: release,
  },
  stopping: {
    wanted: untilReleased,
    unwanted: untilReleased,
    changed: untilReleased,
    failed: untilReleased,
    served: untilReleased,
    released: stay('discovered'),
    deleted: untilReleased,
    forgotten: untilReleased,
  },
  stopped: {
    wanted: load,
    unwanted: stay('stopped'),
    changed: stay('discovered'),
    failed: stay('failed'),
    served: stay('stopped'),
    released: stay('stopped'),
    deleted: erase,
    forgotten: forget,
  },
  failed: {
    wanted: load,
    unwanted: stay('stopped'),
    changed: stay('discovered'),
    failed: stay('failed'),
    served: stay('failed'),
    released: stay('failed'),
    deleted: erase,
    forgotten: forget,
  },
  uninstalling: {
    wanted: stay('uninstalling'),
    unwanted: stay('uninstalling'),
    changed: stay('uninstalling'),
    failed: stay('uninstalling'),
    served: stay('uninstalling'),
    released: stay('uninstalling'),
    deleted: erase,
    forgotten: forget,
  },
};

/** The desired state, derived from the object, the files and the other plugins. */
export type Desire = { readonly kind: 'run' | 'off' | 'fail' | 'uninstall' | 'forget' };

const eventOf: Readonly<Record<Desire['kind'], LifeEvent>> = {
  run: 'wanted',
  off: 'unwanted',
  fail: 'failed',
  uninstall: 'deleted',
  forget: 'forgotten',
};

/** Returns the event for the difference between the actual and the desired state. */
export function eventFor(state: LifeState, desire: Desire['kind'], isCurrent: boolean): LifeEvent {
  return desire === 'run' && holding[state] && !isCurrent ? 'changed' : eventOf[desire];
}
