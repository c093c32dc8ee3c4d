/** A place in a YAML or JSON text. The text may be incomplete. */
export type TextPlace = {
  /** The names of the members that contain the place. The index of an array item is a number. */
  readonly path: readonly (string | number)[];
  /** `key`: the name of a member of the object at `path`. `value`: the value at `path`. `either`: a new item. */
  readonly kind: 'key' | 'value' | 'either';
  /** The offsets of the word at the place. */
  readonly from: number;
  readonly to: number;
  readonly word: string;
  /** The other members of the object. */
  readonly present: ReadonlySet<string>;
  /** Whether a colon already follows the word. */
  readonly hasColon: boolean;
  /** The column of the object's members, in YAML. */
  readonly column: number;
};

/** The maximum length of a text with completion, in characters. The text is scanned at each key press. */
export const assistedTextMax = 200_000;
