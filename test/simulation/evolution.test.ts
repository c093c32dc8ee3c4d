import { test } from 'tap';

import { repeatSeeds, runSeeds } from './simulator.ts';

/** README.md describes the versions of the plugin, and the checks. */

/** What must have happened in every 1,000 runs. */
const least: Readonly<Record<string, number>> = {
  'a rollback is accepted': 100,
  'a rollback is refused': 100,
  'an upgrade is accepted': 500,
  'an older folder': 30,
  'an older folder is refused': 5,
  'another declaration counts': 100,
  'a row in another version than its event': 300,
  'equal bytes of one declaration': 3_000,
  'a migration is running': 100,
  'a migration is done': 100,
  'writes during a migration': 100,
  'what was written in v1alpha1 is kept': 500,
  'what was written in v1 is kept': 500,
  'what was written in v2 is kept': 300,
  'a list in v1alpha1': 200,
  'a list in v1': 200,
  'a list in v2': 100,
  'a touch in v1alpha1': 100,
  'a touch in v1': 100,
  'a touch in v2': 100,
  'events watched': 4_000,
  'all indexes are enforced in the end': 100,
};

test('versions of a plugin change on nodes over one faulty log, and lose nothing', async (t) => {
  await runSeeds(t, { count: 150, evolves: true, file: 'evolution.test.js', least });
});

test('a seed reproduces its run exactly', async (t) => {
  await repeatSeeds(t, [1, 2, 3], true);
});
