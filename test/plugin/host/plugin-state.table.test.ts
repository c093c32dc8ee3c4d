/** Every state with every change: the next state, and the data that it carries. */
import { test } from 'tap';

import type { Incarnation } from '../../../src/plugin/lifecycle/incarnation.ts';
import { life, type LifeEvent } from '../../../src/plugin/lifecycle/life.ts';
import {
  isRestingPhase,
  nextState,
  runsOn,
  type PluginChange,
  type PluginState,
} from '../../../src/plugin/lifecycle/plugin-state.ts';

const incarnation = { is: { manifest: { dependencies: new Map([['base', '>=1.0.0']]) } } } as unknown as Incarnation;
const code = { incarnation, isApplied: false };
const problem = { reason: 'NotRemoved', message: 'two objects are left' };
const needsBase = new Set(['base']);

const states = {
  discovered: { phase: 'discovered' },
  loading: { phase: 'not-started' },
  registered: { phase: 'not-started', code },
  building: { phase: 'not-started', code, progress: 40 },
  started: { phase: 'started', code, isLeaving: false },
  leaving: { phase: 'started', code, isLeaving: true },
  stopping: { phase: 'stopping', runsOn: needsBase },
  stopped: { phase: 'stopped' },
  failed: { phase: 'failed' },
  uninstalling: { phase: 'uninstalling', problem },
} satisfies Readonly<Record<string, PluginState>>;

const changes = {
  rest: { type: 'rest', phase: 'discovered' },
  load: { type: 'load' },
  loaded: { type: 'loaded', incarnation },
  build: { type: 'build', progress: 50 },
  'end of the build': { type: 'build', progress: undefined },
  apply: { type: 'apply', isApplied: true },
  serve: { type: 'serve' },
  leave: { type: 'leave', isLeaving: true },
  stay: { type: 'leave', isLeaving: false },
  release: { type: 'release' },
  uninstall: { type: 'uninstall' },
} satisfies Readonly<Record<string, PluginChange>>;

type Name = keyof typeof states;

const applied = { incarnation, isApplied: true };
const half = { phase: 'not-started', code, progress: 50 } as const;
const [none, base] = [
  { phase: 'stopping', runsOn: new Set<string>() },
  { phase: 'stopping', runsOn: needsBase },
] as const;

/** Changes with the same result in every state. */
const everywhere: Readonly<Partial<Record<keyof typeof changes, PluginState>>> = {
  rest: states.discovered,
  load: states.loading,
  uninstall: { phase: 'uninstalling' },
};

/** States in which the other changes have an effect; in all others the state stays as it is. */
const effects: Readonly<Partial<Record<keyof typeof changes, Readonly<Partial<Record<Name, PluginState>>>>>> = {
  loaded: { loading: states.registered, registered: states.registered, building: states.registered },
  build: { registered: half, building: half },
  'end of the build': { registered: states.registered, building: states.registered },
  apply: {
    registered: { phase: 'not-started', code: applied },
    building: { phase: 'not-started', code: applied, progress: 40 },
    started: { phase: 'started', code: applied, isLeaving: false },
    leaving: { phase: 'started', code: applied, isLeaving: true },
  },
  serve: { registered: states.started, building: states.started },
  leave: { started: states.leaving, leaving: states.leaving },
  stay: { started: states.started, leaving: states.started },
  release: {
    discovered: none,
    loading: none,
    registered: base,
    building: base,
    started: base,
    leaving: base,
    stopping: base,
    stopped: none,
    failed: none,
    uninstalling: none,
  },
};

function keysOf<Key extends string>(record: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(record) as Key[];
}

test('each change of a plugin has one result in each state', (t) => {
  for (const change of keysOf(changes))
    for (const name of keysOf(states)) {
      const state: PluginState = states[name];
      const wanted = everywhere[change] ?? effects[change]?.[name] ?? state;
      t.strictSame(nextState(state, changes[change]), wanted, `${name}, ${change}`);
    }
  t.end();
});

test('changes lead to the states of the life table', (t) => {
  const rows: readonly (readonly [PluginState, PluginChange, LifeEvent])[] = [
    [states.discovered, changes.load, 'wanted'],
    [states.stopped, changes.load, 'wanted'],
    [states.failed, changes.load, 'wanted'],
    [states.registered, changes.serve, 'served'],
    [states.registered, changes.release, 'changed'],
    [states.started, changes.release, 'unwanted'],
    [states.stopping, changes.rest, 'released'],
    [states.failed, changes.uninstall, 'deleted'],
    [states.uninstalling, changes.uninstall, 'deleted'],
    [states.uninstalling, changes.rest, 'forgotten'],
  ];
  for (const [state, change, event] of rows)
    t.equal(nextState(state, change).phase, life[state.phase][event].to, `${state.phase}, ${event}`);
  t.end();
});

test('a transition without an act leads to a state without data', (t) => {
  for (const [from, row] of Object.entries(life))
    for (const [event, { to, act }] of Object.entries(row)) {
      // `stopping` ends by a release, and `started` begins by serving: the host makes these changes itself.
      if (act !== 'none' || to === from || event === 'served') continue;
      t.ok(isRestingPhase(to), `${from}, ${event}`);
    }
  t.end();
});

test('a plugin holds its dependencies until its release is complete', (t) => {
  t.strictSame(runsOn(states.started), needsBase);
  t.strictSame(runsOn(nextState(states.started, changes.release)), needsBase);
  t.strictSame(runsOn(nextState(states.stopping, changes.rest)), new Set());
  t.end();
});
