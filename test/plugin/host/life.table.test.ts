import fc from 'fast-check';
import t, { test } from 'tap';

import {
  eventFor,
  holding,
  life,
  lifeEvents,
  lifeStates,
  type Desire,
  type LifeAct,
  type LifeEvent,
  type LifeState,
  type Transition,
} from '../../../src/plugin/lifecycle/life.ts';

/** Every cell, named: state, event → state, act. */
const cells: Readonly<Record<LifeState, Readonly<Record<LifeEvent, readonly [LifeState, LifeAct]>>>> = {
  discovered: {
    wanted: ['not-started', 'load'],
    unwanted: ['stopped', 'none'],
    changed: ['discovered', 'none'],
    failed: ['failed', 'none'],
    served: ['discovered', 'none'],
    released: ['discovered', 'none'],
    deleted: ['uninstalling', 'erase'],
    forgotten: ['discovered', 'forget'],
  },
  'not-started': {
    wanted: ['not-started', 'none'],
    unwanted: ['stopping', 'release'],
    changed: ['stopping', 'release'],
    failed: ['stopping', 'release'],
    served: ['started', 'none'],
    released: ['discovered', 'none'],
    deleted: ['stopping', 'release'],
    forgotten: ['stopping', 'release'],
  },
  started: {
    wanted: ['started', 'none'],
    unwanted: ['stopping', 'release'],
    changed: ['stopping', 'release'],
    failed: ['stopping', 'release'],
    served: ['started', 'none'],
    released: ['discovered', 'none'],
    deleted: ['stopping', 'release'],
    forgotten: ['stopping', 'release'],
  },
  stopping: {
    wanted: ['stopping', 'none'],
    unwanted: ['stopping', 'none'],
    changed: ['stopping', 'none'],
    failed: ['stopping', 'none'],
    served: ['stopping', 'none'],
    released: ['discovered', 'none'],
    deleted: ['stopping', 'none'],
    forgotten: ['stopping', 'none'],
  },
  stopped: {
    wanted: ['not-started', 'load'],
    unwanted: ['stopped', 'none'],
    changed: ['discovered', 'none'],
    failed: ['failed', 'none'],
    served: ['stopped', 'none'],
    released: ['stopped', 'none'],
    deleted: ['uninstalling', 'erase'],
    forgotten: ['discovered', 'forget'],
  },
  failed: {
    wanted: ['not-started', 'load'],
    unwanted: ['stopped', 'none'],
    changed: ['discovered', 'none'],
    failed: ['failed', 'none'],
    served: ['failed', 'none'],
    released: ['failed', 'none'],
    deleted: ['uninstalling', 'erase'],
    forgotten: ['discovered', 'forget'],
  },
  uninstalling: {
    wanted: ['uninstalling', 'none'],
    unwanted: ['uninstalling', 'none'],
    changed: ['uninstalling', 'none'],
    failed: ['uninstalling', 'none'],
    served: ['uninstalling', 'none'],
    released: ['uninstalling', 'none'],
    deleted: ['uninstalling', 'erase'],
    forgotten: ['discovered', 'forget'],
  },
};

for (const state of lifeStates) {
  for (const event of lifeEvents) {
    const [to, act] = cells[state][event];
    t.same(life[state][event], { to, act }, `${state} × ${event} → ${to}, ${act}`);
  }
}

test('in any order of events everything registered is unregistered before a state without registrations', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...lifeEvents), { maxLength: 60 }), (events) => {
      let state: LifeState = 'discovered';
      let isRegistered = false;
      for (const event of events) {
        // The host reports `released` only after an act of release, and `served` only for a registered plugin.
        if (event === 'released' && state !== 'stopping') continue;
        if (event === 'served' && !isRegistered) continue;
        if (event === 'released') isRegistered = false;
        const { to, act }: Transition = life[state][event];
        if (act === 'load') isRegistered = true;
        if (isRegistered && !holding[to]) return false;
        if (act === 'forget' && isRegistered) return false;
        if (act === 'release' && to !== 'stopping') return false;
        state = to;
        if (!lifeStates.includes(state)) return false;
      }
      return true;
    }),
    {
      numRuns: Number(process.env['PBT_RUNS'] ?? 1_000),
      ...(process.env['PBT_SEED'] === undefined ? {} : { seed: Number(process.env['PBT_SEED']) }),
    },
  );
  t.end();
});

/** Where it comes to, with acts that all succeed. */
function restOf(start: LifeState, desire: Desire['kind']): LifeState {
  let state = start;
  let isCurrent = false;
  for (let step = 0; step < 8; step += 1) {
    const { to, act }: Transition = life[state][eventFor(state, desire, isCurrent)];
    isCurrent ||= act === 'load';
    state = act === 'load' ? life[to].served.to : life[to].released.to;
    if (to !== 'stopping' && act !== 'load') state = to;
  }
  return state;
}

test('every state reaches every desired state by its own events alone, and stays there', (t) => {
  const rest: Readonly<Record<Desire['kind'], LifeState>> = {
    run: 'started',
    off: 'stopped',
    fail: 'failed',
    uninstall: 'uninstalling',
    forget: 'discovered',
  };
  for (const start of lifeStates) {
    for (const desire of ['run', 'off', 'fail', 'uninstall', 'forget'] as const) {
      // An object with a deletion timestamp has it until it is deleted.
      if (start === 'uninstalling' && desire !== 'uninstall' && desire !== 'forget') continue;
      const state = restOf(start, desire);
      t.equal(state, rest[desire], `${start}, wanted: ${desire}`);
    }
  }
  t.end();
});
