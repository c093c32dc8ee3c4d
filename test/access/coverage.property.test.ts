import fc from 'fast-check';
import { test } from 'tap';

import { AccessWorld, roleWrite, subjectOf } from './access-world.ts';
import { allRequests, rawRule, ruleNear } from './arbitraries.ts';
import { isMatch, type RawRule } from './oracle.ts';
import { ruleOf } from '../../src/access/role-object.ts';
import type { Rule } from '../../src/access/rule.ts';

const runs = Number(process.env['PBT_RUNS'] ?? 1_500);
const seed = process.env['PBT_SEED'] === undefined ? {} : { seed: Number(process.env['PBT_SEED']) };
const plugins = [undefined, 'blog', 'posts', '*'];

function decoded(raw: RawRule): Rule {
  const rule = ruleOf(raw);
  if (rule === undefined) throw new Error('the rule is well-formed');
  return rule;
}

test('a request matched by a rule without missing rights is never refused', (t) => {
  let within = 0;
  let matched = 0;
  fc.assert(
    fc.property(
      fc
        .array(rawRule, { minLength: 1, maxLength: 6 })
        .chain((held) => fc.tuple(fc.constant(held), fc.oneof(rawRule, ruleNear(held), ruleNear(held)))),
      ([held, rule]) => {
        const world = new AccessWorld();
        world.commit([roleWrite({ name: 'anonymous', labels: {}, annotations: {}, rules: held })]);
        world.tables.load();
        const rights = world.tables.rightsOf(subjectOf({ user: undefined }));
        if (rights.findUncovered([decoded(rule)]) !== undefined) return;
        within += 1;
        for (const plugin of plugins) {
          for (const request of allRequests) {
            if (!isMatch(rule, request, plugin)) continue;
            matched += 1;
            if (!held.some((owned) => isMatch(owned, request, plugin)))
              throw new Error(`${JSON.stringify(request)} of ${String(plugin)} is not held`);
          }
        }
      },
    ),
    { numRuns: runs, ...seed },
  );
  t.comment(`${String(within)} within, ${String(matched)} requests`);
  t.ok(within > runs / 5 && matched > runs, 'many rules were within and matched something');
  t.end();
});

test('everybody holds their own rules, and each of them narrowed', (t) => {
  fc.assert(
    fc.property(fc.array(rawRule, { minLength: 1, maxLength: 6 }), fc.nat(), (held, at) => {
      const world = new AccessWorld();
      world.commit([roleWrite({ name: 'anonymous', labels: {}, annotations: {}, rules: held })]);
      world.tables.load();
      const rights = world.tables.rightsOf(subjectOf({ user: undefined }));
      const copies = held.map((rule) => decoded({ ...rule }));
      if (rights.findUncovered(copies) !== undefined) throw new Error('its own copy is lacking');
      const rule = held[at % held.length]!;
      const narrowed: RawRule = {
        ...rule,
        verbs: (rule.verbs ?? []).map((verb) => (verb === '*' ? 'get' : verb)).slice(0, 2),
      };
      if (rights.findUncovered([decoded(narrowed)]) !== undefined) throw new Error('narrowed, it is lacking');
    }),
    { numRuns: runs, ...seed },
  );
  t.pass(`${String(runs)} sets`);
  t.end();
});
