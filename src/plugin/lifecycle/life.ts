/**
 * A plugin's life on one node, as a pure table. The host reads what is (this state) and what is wanted (its `Plugin` object,
 * its files, the plugins it needs) and takes the one step that the event of that difference asks for; so a step that was
 * lost is asked for again, and none needs to remember what came before it.
 */
export const lifeStates = ['discovered', 'not-started', 'started', 'stopping', 'stopped', 'failed', 'uninstalling'] as const;

export type LifeState = (typeof lifeStates)[number];

export const lifeEvents = ['wanted', 'unwanted', 'changed', 'failed', 'served', 'released', 'deleted', 'forgotten'] as const;

export type LifeEvent =
  /** It is to run as it lies there now. */
  | 'wanted'
  /** `spec.enabled` is false. */
  | 'unwanted'
  /** What is loaded is not what lies there now: files changed, or the object names another package. */
  | 'changed'
  /** It cannot run: why is kept beside the state. A dependency that is lost is one reason of many. */
  | 'failed'
  /** Its indexes are built, its objects applied, its paths open. */
  | 'served'
  /** All it had registered is taken back. */
  | 'released'
  /** Its object has a deletion timestamp. */
  | 'deleted'
  /** Its object is gone. */
  | 'forgotten';

/**
 * `load`: read, run and register it. `release`: take everything back, then tell `released`. `erase`: remove what it declared.
 * `forget`: the host knows it no more. `none`: the event changes nothing here.
 */
export type LifeAct = 'none' | 'load' | 'release' | 'erase' | 'forget';

export type Transition = { readonly to: LifeState; readonly act: LifeAct };

/** States in which something of the plugin may be registered; in all others nothing is. */
export const holding: Readonly<Record<LifeState, boolean>> = {
  'discovered': false, 'not-started': true, 'started': true, 'stopping': true, 'stopped': false, 'failed': false, 'uninstalling': false,
};

const stay = (to: LifeState): Transition => ({ to, act: 'none' });
const load: Transition = { to: 'not-started', act: 'load' };
const release: Transition = { to: 'stopping', act: 'release' };
const erase: Transition = { to: 'uninstalling', act: 'erase' };
const forget: Transition = { to: 'discovered', act: 'forget' };

/** While it is stopping nothing else can happen: what is wanted then is looked at again once it has let go. */
const untilReleased = stay('stopping');

export const life: Readonly<Record<LifeState, Readonly<Record<LifeEvent, Transition>>>> = {
  'discovered': {
    wanted: load, unwanted: stay('stopped'), changed: stay('discovered'), failed: stay('failed'),
    served: stay('discovered'), released: stay('discovered'), deleted: erase, forgotten: forget,
  },
  'not-started': {
    wanted: stay('not-started'), unwanted: release, changed: release, failed: release,
    served: stay('started'), released: stay('discovered'), deleted: release, forgotten: release,
  },
  'started': {
    wanted: stay('started'), unwanted: release, changed: release, failed: release,
    served: stay('started'), released: stay('discovered'), deleted: release, forgotten: release,
  },
  'stopping': {
    wanted: untilReleased, unwanted: untilReleased, changed: untilReleased, failed: untilReleased,
    served: untilReleased, released: stay('discovered'), deleted: untilReleased, forgotten: untilReleased,
  },
  'stopped': {
    wanted: load, unwanted: stay('stopped'), changed: stay('discovered'), failed: stay('failed'),
    served: stay('stopped'), released: stay('stopped'), deleted: erase, forgotten: forget,
  },
  'failed': {
    wanted: load, unwanted: stay('stopped'), changed: stay('discovered'), failed: stay('failed'),
    served: stay('failed'), released: stay('failed'), deleted: erase, forgotten: forget,
  },
  'uninstalling': {
    wanted: stay('uninstalling'), unwanted: stay('uninstalling'), changed: stay('uninstalling'), failed: stay('uninstalling'),
    served: stay('uninstalling'), released: stay('uninstalling'), deleted: erase, forgotten: forget,
  },
};

/** What the object, the files and the other plugins come to. */
export type Desire = { readonly kind: 'run' | 'off' | 'fail' | 'uninstall' | 'gone' };

const eventOf: Readonly<Record<Desire['kind'], LifeEvent>> = { run: 'wanted', off: 'unwanted', fail: 'failed', uninstall: 'deleted', gone: 'forgotten' };

/** The event that the difference between what is and what is wanted comes to. */
export function eventFor(state: LifeState, desire: Desire['kind'], isCurrent: boolean): LifeEvent {
  return desire === 'run' && holding[state] && !isCurrent ? 'changed' : eventOf[desire];
}
