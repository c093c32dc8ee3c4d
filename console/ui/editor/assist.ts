import type { EditorLanguage } from './code-editor.ts';

/** An offered completion, which replaces the text from `from` to `to`. */
export type Offer = {
  readonly label: string;
  readonly apply: string;
  readonly detail: string;
  readonly info: string;
  readonly kind: 'property' | 'enum';
  /** Among equal matches, offers with a greater rank are first. */
  readonly rank: number;
};

/** Help for a text: the completions at a place, and the meaning of a word. */
export type Assist = {
  readonly offers: (
    text: string,
    offset: number,
    language: EditorLanguage,
  ) => { readonly from: number; readonly to: number; readonly offers: readonly Offer[] } | undefined;
  readonly explain: (
    text: string,
    offset: number,
    language: EditorLanguage,
  ) => { readonly from: number; readonly to: number; readonly lines: readonly string[] } | undefined;
};
