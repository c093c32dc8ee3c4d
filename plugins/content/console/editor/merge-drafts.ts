import { diff3Merge } from 'node-diff3';

import { draftMembers, isSame, type PostDraft } from '../posts/post.ts';

/**
 * A member that the author and another user have changed to different values. `theirs` is the other user's whole draft.
 */
export type Conflict = {
  readonly member: (typeof draftMembers)[number];
  readonly theirs: PostDraft;
};

/** The maximum number of lines of a text that is merged by lines. A merge of a longer text would block the page. */
const linesMax = 5_000;

export type Merged = {
  /** The merged draft. A member with a conflict has the value of `mine`. */
  readonly draft: PostDraft;
  readonly conflicts: readonly Conflict[];
};

/**
 * Merges two changed copies of `base`. A member that only one side has changed gets the value of that side. If both
 * sides have changed the text, the changes are merged by lines unless they overlap. `undecided` contains the unresolved
 * conflicts of earlier merges. Such a member remains a conflict, although `base` already contains the value of
 * `theirs`.
 */
export function mergeDrafts(
  base: PostDraft,
  mine: PostDraft,
  theirs: PostDraft,
  undecided: readonly Conflict[] = [],
): Merged {
  const conflicts: Conflict[] = [];
  const content = mergedText(base.content, mine.content, theirs.content);
  const members = draftMembers.map((member): readonly [string, PostDraft[typeof member]] => {
    const isUndecided = undecided.some((each) => each.member === member);
    if (isSame(mine[member], theirs[member])) return [member, mine[member]];
    if (!isUndecided && isSame(base[member], theirs[member])) return [member, mine[member]];
    if (isSame(base[member], mine[member])) return [member, theirs[member]];
    if (member === 'content' && content !== undefined) return [member, content];
    conflicts.push({ member, theirs });
    return [member, mine[member]];
  });
  return { draft: { ...mine, ...Object.fromEntries<unknown>(members) }, conflicts };
}

/** Returns the text with the changes of both sides; undefined if the changes overlap or a text is too long. */
function mergedText(base = '', mine = '', theirs = ''): string | undefined {
  const [original, left, right] = [base, mine, theirs].map((text) => text.split('\n'));
  if (original === undefined || left === undefined || right === undefined) return undefined;
  if (Math.max(original.length, left.length, right.length) > linesMax) return undefined;
  const lines: string[] = [];
  for (const { ok } of diff3Merge(left, original, right, { excludeFalseConflicts: true })) {
    if (ok === undefined) return undefined;
    lines.push(...ok);
  }
  return lines.join('\n');
}
