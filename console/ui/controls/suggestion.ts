/** A suggestion of a combobox. */
export type Suggestion = {
  readonly key: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** The text that replaces the part at the caret. */
  readonly text: string;
  /** Whether the list stays open after the choice, because the text is not complete yet. */
  readonly continues?: boolean;
};
