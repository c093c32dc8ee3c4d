/** A suggestion of a combobox. */
export type Suggestion = {
  readonly key: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** The text that the choice enters. */
  readonly text: string;
  /** The list stays open, because more is to be chosen. */
  readonly continues?: boolean;
};
