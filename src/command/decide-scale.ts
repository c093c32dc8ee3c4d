import type { Draft } from '../resource/object/draft.ts';
import { draftOf } from '../resource/object/draft.ts';
import type { JsonObject } from '../resource/object/object.ts';
import { scaleOf, wantedReplicas, withValueAt } from '../resource/object/scale.ts';
import { shownObject } from '../resource/object/shown-object.ts';
import { scaleType } from '../resource/type/scale-type.ts';
import { isObject } from '../base/guards.ts';
import type { Preconditions } from './command.ts';
import type { LiveState } from './evolve.ts';
import type { Facts } from './facts.ts';
import { checkPreconditions, checkStaleness, identityMismatch } from './preconditions.ts';
import { invalid, notFound, refuse, type Refused } from './refuse.ts';
import { admit, refuseViolations } from './validation.ts';

type ScaledDraft = {
  readonly ok: true;
  readonly draft: Draft;
  readonly warnings: readonly string[];
};
type Target = {
  readonly name: string;
  readonly preconditions: Preconditions;
};

/** Returns the stored object as a Scale; undefined for a type without the subresource `scale`. */
export function shownScale(state: LiveState, { type }: Facts): JsonObject | undefined {
  return type.scale === undefined
    ? undefined
    : scaleOf(shownObject(state.object, state.position.toString()), type.scale);
}

/**
 * Checks the identity, preconditions and schema of a Scale. Returns a draft of the whole object with the number of
 * replicas. The caller must validate the draft by the schema of the object.
 */
export function scaledDraft(state: LiveState, given: Draft, target: Target, facts: Facts): ScaledDraft | Refused {
  const { type } = facts;
  if (type.scale === undefined) return refuse('not-found', notFound(type, target.name));
  const asScale = { ...facts, type: scaleType };
  const mismatch = identityMismatch(given, target.name, scaleType);
  if (mismatch !== undefined) return refuse('bad-request', mismatch);
  const admitted = admit(given, asScale);
  if (!admitted.ok) return admitted;
  const refused =
    checkPreconditions(state, target.preconditions, facts) ??
    checkStaleness(state, given, facts) ??
    refuseViolations(given, { members: admitted.members, more: [] }, asScale);
  if (refused !== undefined) return refused;
  const shown = shownObject(state.object, state.position.toString());
  const scaled = withValueAt(shown, type.scale.specReplicas, wantedReplicas(admitted.members));
  if (!isObject(scaled))
    return invalid(type, target.name, [
      {
        pointer: type.scale.specReplicas,
        detail: 'cannot be set: the path leads through a value that is not an object',
      },
    ]);
  return { ok: true, draft: draftOf(scaled), warnings: admitted.warnings };
}
