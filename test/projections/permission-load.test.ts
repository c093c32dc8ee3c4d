/** Loading the permission tables while others write: each look at the clock passes a millisecond. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';

import { Slices, sliceMs } from '../../src/base/slices.ts';
import { AccessWorld, type Written } from '../access/access-world.ts';
import { turnsOf } from '../support/clocks/turns.ts';

const roles = 40;

function role(place: number, state: Written['state'] = 'live', verb = 'get'): Written {
  const name = `r${String(place).padStart(3, '0')}`;
  return {
    plural: 'roles',
    name,
    members: { rules: [{ apiGroups: [''], resources: ['posts'], verbs: [verb] }] },
    state,
  };
}

function given() {
  const world = new AccessWorld();
  world.commit(Array.from({ length: roles }, (_, index) => role(index)));
  let now = 0;
  const clock = {
    monotonic: () => {
      now += 1;
      return now;
    },
  };
  return { world, slices: new Slices(clock) };
}

test('a load yields by time, and its tables decide nothing before it is done', async (t) => {
  const { world, slices } = given();
  const loading = world.tables.loadIn(slices);
  const state = { isDone: false };
  const over = loading.finally(() => {
    state.isDone = true;
  });
  const still = { monotonic: () => 0 };
  const counted = turnsOf(still, over);
  while (!state.isDone) {
    t.notOk(world.tables.isReady());
    await nextTurn();
  }
  const { turns } = await counted;
  t.ok(turns >= roles / (sliceMs + 1), `${String(turns)} turns`);
  t.ok(world.tables.isReady());
  t.equal([...world.tables.roles()].length, roles);
});

test('writes during the load of the tables are in them, behind the loaded position and ahead of it', async (t) => {
  const { world, slices } = given();
  let notified = 0;
  world.tables.subscribe(() => {
    notified += 1;
  });
  const loading = world.tables.loadIn(slices);
  await nextTurn();
  const last = roles - 1;
  world.commit([
    role(0, 'live', 'list'),
    role(1, 'deleted'),
    role(last, 'live', 'list'),
    role(last - 1, 'deleted'),
    role(roles),
  ]);
  await nextTurn();
  world.commit([role(2, 'marked'), role(last - 2, 'marked'), role(roles + 1)]);
  t.notOk(world.tables.isReady());
  await loading;
  t.equal(notified, 0, 'tables that are not ready notify nobody');
  const described = (tables: AccessWorld['tables']) =>
    [...tables.roles()].map(({ name, rules }) => ({ name, rules })).sort((a, b) => (a.name < b.name ? -1 : 1));
  t.strictSame(described(world.tables), described(world.fresh()));
  t.equal(described(world.tables).length, roles + 2 - 4);
  world.commit([role(5, 'deleted')]);
  t.equal(notified, 1);
});
