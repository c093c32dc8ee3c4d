import { after, type ConflictSide } from 'ledgerplane/console-kit';
import { computed, onMounted, onScopeDispose, onUnmounted, shallowRef, watch, type ComputedRef, type Ref } from 'vue';

import { draftOf, isSameDraft, slugOf, type Post, type PostDraft } from '../posts/post.ts';
import { forgetDraft, keepDraft, keptDraft } from './kept-drafts.ts';
import { mergeDrafts, type Conflict } from './merge-drafts.ts';

/**
 * The state of the post that the draft changes. For a new post, `uid` and `version` are undefined. `version` is a
 * `resourceVersion`.
 */
type Base = {
  readonly draft: PostDraft;
  readonly uid?: string | undefined;
  readonly version?: string | undefined;
  /** The `metadata.version` of the post, which increases with each write; -1 for a new post. */
  readonly count: number;
};

export type PostDraftState = {
  readonly draft: Readonly<Ref<PostDraft>>;
  readonly base: Readonly<Ref<Base>>;
  readonly isChanged: ComputedRef<boolean>;
  readonly conflicts: Readonly<Ref<readonly Conflict[]>>;
  readonly change: (changed: Partial<PostDraft>) => void;
  /** Merges a newer state of the post into the draft. Returns whether the new state has other values than `base`. */
  readonly merge: (theirs: Post) => boolean;
  /** Resolves the conflicts with the chosen sides, by member. */
  readonly settle: (choices: ReadonlyMap<string, ConflictSide>) => void;
  /** Records the result of a write of `sent`. Changes that the author made during the write remain unsaved. */
  readonly saved: (post: Post, sent: PostDraft) => void;
  readonly discard: () => void;
  /** Whether the stored post has other values than `base`, because another user has saved the post. */
  readonly isBehind: ComputedRef<boolean>;
};

const newDraft: PostDraft = { title: '' };
const keepMs = 400;

function baseOf(post: Post | undefined): Base {
  if (post === undefined) return { draft: newDraft, count: -1 };
  const { uid, resourceVersion, version } = post.metadata;
  return { draft: draftOf(post), uid, version: resourceVersion, count: version };
}

/** Returns the key of the kept draft, for the post with the uid or, without `uid`, for a new post. */
type KeyOf = (uid?: string) => string;

/** Creates the state of a post's draft. The draft is kept when the author leaves or reloads the page. */
export function usePostDraft(post: () => Post | undefined, keyOf: KeyOf): PostDraftState {
  const opened = openingOf(post(), keyOf);
  const base = shallowRef(opened.base);
  const draft = shallowRef(opened.draft);
  const conflicts = shallowRef<readonly Conflict[]>([]);
  const isChanged = computed(() => !isSameDraft(draft.value, base.value.draft));
  const start = (): void => {
    base.value = baseOf(post());
    draft.value = base.value.draft;
    conflicts.value = [];
  };
  const bringIn = (from: PostDraft, incoming: Base): void => {
    const merged = mergeDrafts(from, draft.value, incoming.draft, conflicts.value);
    base.value = incoming;
    draft.value = merged.draft;
    conflicts.value = merged.conflicts;
  };
  const merge = (theirs: Post): boolean => {
    const incoming = baseOf(theirs);
    if (isSameDraft(incoming.draft, base.value.draft)) {
      base.value = incoming;
      return false;
    }
    bringIn(base.value.draft, incoming);
    return true;
  };
  /** Whether `post` was read before the last write. */
  const isOlder = ({ metadata }: Post): boolean => metadata.version < base.value.count;
  const isBehind = computed(() => {
    const now = post();
    return now !== undefined && !isOlder(now) && !isSameDraft(draftOf(now), base.value.draft);
  });
  watch(post, (now) => {
    if (now === undefined || now.metadata.uid !== base.value.uid || isOlder(now)) return;
    if (!isChanged.value) start();
    else if (!isBehind.value) base.value = baseOf(now);
  });
  useKeeping(keyOf, draft, base, isChanged);
  return {
    draft,
    base,
    isChanged,
    conflicts,
    isBehind,
    merge,
    change: (changed) => {
      draft.value = changedDraft(draft.value, changed, base.value.uid === undefined);
    },
    settle: (choices) => {
      draft.value = settledDraft(draft.value, conflicts.value, choices);
      conflicts.value = [];
    },
    saved: (now, sent) => {
      if (base.value.uid === undefined) forgetDraft(keyOf());
      bringIn(sent, baseOf(now));
    },
    discard: start,
  };
}

/** Returns the kept draft with its base; without a kept draft, the present values of the post. */
function openingOf(post: Post | undefined, keyOf: KeyOf): { readonly base: Base; readonly draft: PostDraft } {
  const base = baseOf(post);
  const left = keptDraft(keyOf(base.uid));
  if (left === undefined) return { base, draft: base.draft };
  const { draft, base: changed, uid, version } = left;
  return { base: isSameDraft(changed, base.draft) ? base : { draft: changed, uid, version, count: base.count }, draft };
}

/** Returns the draft with the chosen values. `both` appends the other text to the author's text. */
function settledDraft(
  draft: PostDraft,
  conflicts: readonly Conflict[],
  choices: ReadonlyMap<string, ConflictSide>,
): PostDraft {
  const values = conflicts.flatMap(({ member, theirs }): [string, unknown][] => {
    const side = choices.get(member);
    if (side === 'both') return [['content', `${draft.content ?? ''}\n\n${theirs.content ?? ''}`]];
    return side === 'theirs' ? [[member, theirs[member]]] : [];
  });
  return { ...draft, ...Object.fromEntries<unknown>(values) };
}

/** Applies the change. The slug of a new post follows the title until the author writes another slug. */
function changedDraft(draft: PostDraft, changed: Partial<PostDraft>, isNew: boolean): PostDraft {
  const follows = isNew && changed.title !== undefined && (draft.slug ?? '') === slugOf(draft.title);
  return { ...draft, ...(follows ? { slug: slugOf(changed.title) } : {}), ...changed };
}

type Sources = [draft: Ref<PostDraft>, base: Ref<Base>, isChanged: ComputedRef<boolean>];

/**
 * Keeps a changed draft while the author types and when the page is left. With unsaved changes, the browser asks before
 * it closes the page.
 */
function useKeeping(keyOf: KeyOf, ...[draft, base, isChanged]: Sources): void {
  let cancel = (): void => undefined;
  const keep = (): void => {
    cancel();
    const key = keyOf(base.value.uid);
    if (isChanged.value) keepDraft(key, { draft: draft.value, base: base.value.draft, ...idOf(base.value) });
    else forgetDraft(key);
  };
  watch([draft, base], () => {
    cancel();
    cancel = after(keepMs, keep);
  });
  onScopeDispose(keep);
  const warn = (event: BeforeUnloadEvent): void => {
    keep();
    if (isChanged.value) event.preventDefault();
  };
  onMounted(() => {
    window.addEventListener('beforeunload', warn);
  });
  onUnmounted(() => {
    window.removeEventListener('beforeunload', warn);
  });
}

function idOf({ uid, version }: Base): Pick<Base, 'uid' | 'version'> {
  return { uid, version };
}
