import fc from 'fast-check';
import { test } from 'tap';

import { OwnersStage, ownedBy } from './owners-stage.ts';
import type { Shown } from '../../support/writing.ts';

/**
 * Random graphs of owners, cycles included, of which some are deleted in random ways, with two presumed leaders and a
 * restart in between. In the end no object is left with deleted owners only, no reference names a deleted owner, no
 * object is half deleted, and orphaned or unrelated objects still exist.
 */
const runs = Number(process.env['PBT_RUNS'] ?? 60);
const objects = 6;
const propagation = fc.constantFrom('Background' as const, 'Foreground' as const, 'Orphan' as const, undefined);
const edge = fc.record({ from: fc.nat(objects - 1), to: fc.nat(objects - 1), blockOwnerDeletion: fc.boolean() });
const deletion = fc.record({ of: fc.nat(objects - 1), propagation, restart: fc.boolean(), settle: fc.boolean() });

test('after any deletions in any graph a remaining object has an owner, or never had a deleted one', async (t) => {
  const edgesDrawn = fc.array(edge, { maxLength: 10 });
  const deletionsDrawn = fc.array(deletion, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(edgesDrawn, deletionsDrawn, fc.boolean(), async (edges, deletions, isSlow) => {
      const ends: (() => unknown)[] = [];
      const stage = await OwnersStage.open({
        teardown: ((end: () => unknown) => {
          ends.push(end);
        }) as never,
      });
      try {
        stage.isSlow = isSlow;
        await stage.lead();
        await stage.lead();
        const made: Shown[] = [];
        for (let index = 0; index < objects; index += 1) made.push(await stage.create(`o${String(index)}`));
        for (const from of new Set(edges.map((one) => one.from))) {
          const ownerReferences = edges
            .filter((one) => one.from === from)
            .map(({ to, blockOwnerDeletion }) => ownedBy(made[to]!, { blockOwnerDeletion }));
          await stage.patch(`o${String(from)}`, { metadata: { ownerReferences: ownerReferences as never } });
        }
        for (const one of deletions) {
          if (stage.object(`o${String(one.of)}`) !== undefined)
            await stage.delete(`o${String(one.of)}`, one.propagation).catch(() => undefined);
          if (one.restart) {
            await stage.stopAll();
            await stage.lead();
          }
          if (one.settle) await stage.settle();
        }
        await stage.settle();
        checkSettled(stage);
        checkKept(stage, edges, deletions);
        if (stage.errors.length > 0) throw new Error(`told: ${stage.errors.map(String).join(', ')}`);
      } finally {
        for (const end of ends) await end();
      }
    }),
    { numRuns: runs },
  );
  t.pass(`${String(runs)} graphs`);
});

function checkSettled(stage: OwnersStage): void {
  const left = stage.names().map((name) => stage.object(name)!);
  const uids = new Set(left.map(({ metadata: { uid } }) => uid));
  for (const {
    metadata: { name, deletionTimestamp, ownerReferences = [] },
  } of left) {
    if (deletionTimestamp !== undefined) throw new Error(`${name} is half deleted`);
    const missing = ownerReferences.filter(({ uid }) => !uids.has(uid));
    if (missing.length > 0)
      throw new Error(`${name} names ${missing.map((owner) => owner.name).join(', ')}, which is deleted`);
  }
}

type Edge = { readonly from: number; readonly to: number };

/** Objects without a path to a deleted one are unchanged. */
function checkKept(stage: OwnersStage, edges: readonly Edge[], deletions: readonly { readonly of: number }[]): void {
  const reached = new Set(deletions.map(({ of }) => of));
  // A set that grows while it is walked is walked to its new end.
  for (const place of reached) for (const { from, to } of edges) if (to === place) reached.add(from);
  for (let index = 0; index < objects; index += 1) {
    if (!reached.has(index) && stage.object(`o${String(index)}`) === undefined)
      throw new Error(`o${String(index)} is gone, and nobody deleted it or an owner of its`);
  }
}
