import fc from 'fast-check';
import { test } from 'tap';

import { AccessWorld, decided, RawObjects, subjectOf, type Written } from './access-world.ts';
import { plugin, rawBinding, rawRole, request, roleNames, who } from './arbitraries.ts';
import { isAllowed, rolesHeld } from './oracle.ts';

const runs = Number(process.env['PBT_RUNS'] ?? 2_000);
const seed = process.env['PBT_SEED'] === undefined ? {} : { seed: Number(process.env['PBT_SEED']) };

const question = fc.record({ who, request, plugin });
const roles = fc.tuple(
  ...roleNames.filter((name) => name !== 'ghost').map((name) => fc.option(rawRole(name), { freq: 8, nil: undefined })),
);
const bindings = fc.array(rawBinding, { maxLength: 4 });

test('tables decide as an evaluator that reads the objects one by one', (t) => {
  const seen = { decisions: 0, allowed: 0, byPlugin: 0, byName: 0, byPath: 0, cycles: 0, malformed: 0 };
  fc.assert(
    fc.property(
      roles,
      bindings,
      fc.array(question, { minLength: 120, maxLength: 120 }),
      (drawnRoles, drawnBindings, questions) => {
        const raw = new RawObjects();
        const world = new AccessWorld();
        const present = drawnRoles.filter((role) => role !== undefined);
        world.commit([
          ...present.map((role) => raw.role(role, 'live')),
          ...drawnBindings.map((binding, index) => raw.binding(`b${String(index)}`, binding, 'live')),
        ]);
        world.tables.load();
        const known = raw.world();
        if (present.some(({ name }) => world.tables.role(name)?.malformed.length !== 0)) seen.malformed += 1;
        if (
          present.some(({ name }) =>
            (world.tables.role(name)?.dependencies ?? []).some(
              (other) => world.tables.role(other)?.dependencies.includes(name) === true,
            ),
          )
        )
          seen.cycles += 1;
        for (const { who: asker, request: wanted, plugin: owner } of questions) {
          const rights = world.tables.rightsOf(subjectOf(asker));
          const grant = rights.find(wanted, () => owner);
          if ((grant !== undefined) !== isAllowed(known, asker, wanted, owner))
            throw new Error(
              `${JSON.stringify({ asker, wanted, owner })}: ${grant === undefined ? 'refused' : 'allowed'}`,
            );
          seen.decisions += 1;
          if (grant === undefined) continue;
          seen.allowed += 1;
          if (grant.rule.kind === 'non-resource') seen.byPath += 1;
          else if (grant.rule.resourceNames !== undefined) seen.byName += 1;
          if (!rights.isSuperAdministrator && rights.find(wanted, () => undefined) === undefined) seen.byPlugin += 1;
        }
      },
    ),
    { numRuns: runs, ...seed },
  );
  t.pass(`${String(seen.decisions)} decisions`);
  t.comment(JSON.stringify(seen));
  const share = seen.allowed / seen.decisions;
  if (runs >= 500)
    t.ok(
      share > 0.15 && share < 0.85,
      `both answers are frequent: ${share.toFixed(2)} allowed of ${String(seen.decisions)}`,
    );
  if (runs >= 500)
    for (const [what, count] of Object.entries(seen)) t.ok(count > runs / 50, `${what}: ${String(count)}`);
  t.end();
});

const written = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('role' as const),
      role: fc.constantFrom(...roleNames).chain(rawRole),
      state: fc.constantFrom('live', 'live', 'live', 'marked', 'deleted'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('binding' as const),
      name: fc.constantFrom('b0', 'b1', 'b2'),
      binding: rawBinding,
      state: fc.constantFrom('live', 'live', 'live', 'marked', 'deleted'),
    }),
  },
);

test('tables that saw each change decide as tables that are loaded anew', (t) => {
  let decisions = 0;
  fc.assert(
    fc.property(
      fc.array(fc.array(written, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 12 }),
      fc.array(question, { minLength: 12, maxLength: 12 }),
      (commits, questions) => {
        const raw = new RawObjects();
        const world = new AccessWorld();
        world.tables.load();
        for (const writes of commits) {
          world.commit(
            writes.map((write): Written => {
              const state = write.state;
              return write.kind === 'role'
                ? raw.role(write.role, state)
                : raw.binding(write.name, write.binding, state);
            }),
          );
          const fresh = world.fresh();
          const known = raw.world();
          for (const { who: asker, request: wanted, plugin: owner } of questions) {
            const expected = isAllowed(known, asker, wanted, owner);
            const [live, rebuilt] = [world.tables, fresh].map((tables) => decided(tables, asker, wanted, owner));
            if (live !== expected || rebuilt !== expected)
              throw new Error(JSON.stringify({ asker, wanted, owner, expected, live, anew: rebuilt }));
            const held = [...world.tables.rightsOf(subjectOf(asker)).roles].sort();
            const there = [...rolesHeld(known, asker)]
              .filter((name) => known.roles.some((role) => role.name === name))
              .sort();
            if (held.join() !== there.join())
              throw new Error(`${JSON.stringify(asker)} holds ${held.join()}, not ${there.join()}`);
            decisions += 1;
          }
        }
      },
    ),
    { numRuns: Math.ceil(runs / 4), ...seed },
  );
  t.pass(`${String(decisions)} decisions`);
  t.end();
});
