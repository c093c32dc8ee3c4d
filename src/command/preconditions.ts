import type { Draft } from '../resource/object/draft.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { Preconditions } from './command.ts';
import type { LiveState } from './evolve.ts';
import type { Facts } from './facts.ts';
import { identityProblem, refuse, stalePrecondition, uidConflict, type Refused } from './refuse.ts';

/**
 * Returns how the body of a request contradicts the type or the name in the path; undefined without a contradiction.
 */
export function identityMismatch(draft: Draft, name: string, type: ResourceType): string | undefined {
  const problem = identityProblem(draft, type, 'required');
  if (problem !== undefined) return problem;
  return draft.name === name
    ? undefined
    : `the body's metadata.name is ${JSON.stringify(draft.name ?? null)}, but the path has ${JSON.stringify(name)}`;
}

/** Checks the preconditions outside of the body. `If-Match` (412) is checked before the other preconditions (409). */
export function checkPreconditions(state: LiveState, preconditions: Preconditions, facts: Facts): Refused | undefined {
  const { ifMatch, uid, resourceVersion } = preconditions;
  if (ifMatch !== undefined && ifMatch !== 'any' && !ifMatch.includes(state.revision)) {
    return refuse('precondition-failed', `If-Match does not contain the current version ${String(state.revision)}`);
  }
  if (uid !== undefined && uid !== state.object.metadata.uid) return uidConflict(facts.type, uid, state.object);
  if (resourceVersion !== undefined && resourceVersion !== state.position.toString())
    return stalePrecondition(facts.type, state.object.metadata.name);
  return undefined;
}

/** Checks the preconditions in the body's metadata: uid, version and resourceVersion. */
export function checkStaleness(state: LiveState, draft: Draft, facts: Facts): Refused | undefined {
  if (draft.uid !== undefined && draft.uid !== state.object.metadata.uid)
    return uidConflict(facts.type, draft.uid, state.object);
  const versionStale = draft.version !== undefined && draft.version !== state.revision;
  const positionStale = draft.resourceVersion !== undefined && draft.resourceVersion !== state.position.toString();
  return versionStale || positionStale ? stalePrecondition(facts.type, state.object.metadata.name) : undefined;
}
