/** A place in a text of YAML or JSON, also one that cannot be read yet. */
export type TextPlace = {
  /** The names of the members around the place; an item of an array is a number. */
  readonly path: readonly (string | number)[];
  /** `key`: the name of a member of the object at `path`. `value`: the value at `path`. `either`: a new item. */
  readonly kind: 'key' | 'value' | 'either';
  /** The word at the place. */
  readonly from: number;
  readonly to: number;
  readonly word: string;
  /** The other members of the object. */
  readonly present: ReadonlySet<string>;
  /** Whether a colon follows the word already. */
  readonly hasColon: boolean;
  /** The column of the object's members, in YAML. */
  readonly column: number;
};

/** Longer texts have no completion: they are scanned at each key. */
export const assistedTextMax = 200_000;
