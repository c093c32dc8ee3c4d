import type { EditorLanguage } from '../../../ui/editor/code-editor.ts';
import type { BrokenText } from '../form/form-context.ts';
import type { ShownObject } from './editable.ts';
import type { Conflict } from './merge.ts';

/** A draft that the user left without saving it, for example for another tab of the same object. */
export type KeptDraft = {
  readonly text: string;
  readonly language: EditorLanguage;
  readonly broken: ReadonlyMap<string, BrokenText>;
  /** The object that the draft changes; undefined for a draft of a new object. */
  readonly base: ShownObject | undefined;
  /** The conflicts that the user has not resolved. */
  readonly conflicts: readonly Conflict[];
};

const keptMax = 30;
const kept = new Map<string, KeptDraft>();

/** Keeps a draft until it is taken, or until 30 newer drafts are kept. */
export function keepDraft(key: string, draft: KeptDraft): void {
  kept.delete(key);
  kept.set(key, draft);
  const [oldest] = kept.keys();
  if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
}

export function takeDraft(key: string): KeptDraft | undefined {
  const draft = kept.get(key);
  kept.delete(key);
  return draft;
}
