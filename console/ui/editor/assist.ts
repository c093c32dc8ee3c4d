import type { EditorLanguage } from './code-editor.ts';

/** A part of a text to offer: it replaces the text from `from` to `to`. */
export type Offer = {
  readonly label: string;
  readonly apply: string;
  readonly detail: string;
  readonly info: string;
  readonly kind: 'property' | 'enum';
  /** Offers with a greater rank are first among equal matches. */
  readonly rank: number;
};

/** Help for a text: what may be written at a place, and what a word means. */
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
