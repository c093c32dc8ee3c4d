import { valueAt } from '../form/pointer.ts';
import type { JsonObject } from './editable.ts';
import { isEqual, mergeChanges, type Conflict } from './merge.ts';
import type { Draft } from './use-draft.ts';

type States = {
  /** The state that the draft changes. */
  readonly base: JsonObject;
  readonly theirs: JsonObject;
  /** Conflicts with earlier states that the user has not resolved. */
  readonly undecided?: readonly Conflict[];
};

/**
 * Merges a newer state of an object into a draft. Returns the conflicts. Returns undefined and leaves the draft
 * unchanged if the draft's text cannot be parsed.
 */
export function mergeInto(draft: Draft, { base, theirs, undecided = [] }: States): readonly Conflict[] | undefined {
  const { value: mine } = draft.read;
  if (!mine.ok) return undefined;
  const { merged, conflicts } = mergeChanges(base, mine.value, theirs);
  draft.rebase(theirs, merged);
  const earlier = undecided.flatMap(({ pointer }) => {
    const sides = { pointer, mine: valueAt(merged, pointer), theirs: valueAt(theirs, pointer) };
    return conflicts.some((each) => each.pointer === pointer) || isEqual(sides.mine, sides.theirs) ? [] : [sides];
  });
  return [...earlier, ...conflicts];
}
