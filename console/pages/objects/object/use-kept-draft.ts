import { onBeforeUnmount, onMounted, onUnmounted } from 'vue';

import { keepDraft, takeDraft, type KeptDraft } from './kept-drafts.ts';
import type { Draft } from './use-draft.ts';

type Keeping = {
  readonly draft: Draft;
  readonly key: string;
  /** Returns the members of the kept draft that are not a part of `draft`. */
  readonly rest: () => Pick<KeptDraft, 'base' | 'conflicts'>;
  /** Restores these members. Returns whether the kept draft still applies. */
  readonly restore: (kept: KeptDraft) => boolean;
};

/**
 * Keeps a changed draft when the user leaves the page, and restores the draft when the user comes back. The browser
 * asks for confirmation before it closes a page with a draft.
 */
export function useKeptDraft({ draft, key, rest, restore }: Keeping): void {
  const left = takeDraft(key);
  if (left !== undefined && restore(left)) {
    draft.language.value = left.language;
    draft.text.value = left.text;
    draft.setBroken(left.broken);
  }
  const warn = (event: BeforeUnloadEvent): void => {
    if (draft.isChanged.value) event.preventDefault();
  };
  onMounted(() => {
    window.addEventListener('beforeunload', warn);
  });
  onUnmounted(() => {
    window.removeEventListener('beforeunload', warn);
  });
  onBeforeUnmount(() => {
    const { text, language, broken } = draft;
    if (draft.isChanged.value)
      keepDraft(key, { text: text.value, language: language.value, broken: broken.value, ...rest() });
  });
}
