import { deepEqual } from '../../base/json.ts';
import type { Draft } from '../../resource/object/draft.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { Violation } from '../../resource/type/resource-type.ts';
import type { Part } from '../command.ts';
import type { Facts } from '../facts.ts';
import { completeByHook, hookViolations, type HookContext } from './hooks.ts';
import { invalid, type Refused } from '../refuse.ts';
import { isMarked, isSameMembers } from '../replacement.ts';
import { fillAdmitted } from '../validation.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * A draft and its members, with the values that the hook `default` added, and with the schema's defaults in these
 * values.
 */
export type HookedDraft = {
  readonly draft: Draft;
  readonly members: Members;
  readonly violations: readonly Violation[];
  /**
   * Returns the failure of the hook. The failure refuses the write only if the object is otherwise valid, since a hook
   * may throw for an object that violates the schema.
   */
  readonly fault?: () => Violation;
};

type Given = {
  readonly draft: Draft;
  readonly members: Members;
};

/**
 * Returns the draft with the values that the hook `default` adds. `object` is the object that the write would store
 * without hooks.
 */
export function hookedDraft(
  object: ResourceObject,
  operation: HookContext['operation'],
  given: Given,
  facts: Facts,
): HookedDraft {
  const completed = completeByHook(object, operation, facts);
  if (!completed.ok) return { ...given, violations: [], fault: completed.fault };
  if (completed.draft === undefined) return { ...given, violations: [] };
  const { draft } = completed;
  return { ...fillAdmitted(draft.members, facts), draft: { ...draft, unknown: given.draft.unknown } };
}

type Replacing = Given & {
  readonly current: ResourceObject;
  readonly next: ResourceObject;
  readonly part: Part;
};

/**
 * Like `hookedDraft`, for an update. Hooks run neither for a write without changes, nor for a write of only the
 * metadata of a marked object. No hook can thus block the removal of an object.
 */
export function hookedUpdate({ current, next, part, ...given }: Replacing, facts: Facts): HookedDraft {
  if (!isHooked({ current, next }, facts)) return { ...given, violations: [] };
  const hooked = hookedDraft(next, part === 'status' ? 'status' : 'update', given, facts);
  // A write of the status changes only the status, so the hook's other values are dropped.
  return part === 'status' ? { ...hooked, draft: given.draft } : hooked;
}

function isHooked(
  { current, next }: { readonly current: ResourceObject; readonly next: ResourceObject },
  { type }: Facts,
): boolean {
  if (type.hooks === undefined) return false;
  if (isMarked(current) && isSameMembers(current, next)) return false;
  return !deepEqual(current, next);
}

type Judged = {
  readonly next: ResourceObject;
  /** The stored object; undefined for a new object. */
  readonly current: ResourceObject | undefined;
  readonly part: Part;
  readonly fault: (() => Violation) | undefined;
};

/**
 * Refuses a write that is valid otherwise, if the hook `default` failed (`fault`) or the hook `validate` finds
 * violations.
 */
export function refuseByHooks({ fault, ...judged }: Judged, facts: Facts): Refused | undefined {
  const { type } = facts;
  if (type.hooks === undefined) return undefined;
  const { current, next } = judged;
  const isJudged = current === undefined || isHooked({ current, next }, facts);
  const violations = fault === undefined ? (isJudged ? hookViolations(judged, facts) : []) : [fault()];
  return violations.length === 0 ? undefined : invalid(type, next.metadata.name, violations);
}
