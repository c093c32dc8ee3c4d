/** Bytes derived from objects. `until` is the time at which the bytes change, in epoch milliseconds. */
export type Shown = {
  readonly bytes: Buffer;
  readonly until: number;
};

/**
 * A form of a type's objects, derived from the objects' JSON: a table, metadata only, or objects in another version.
 * The methods are pure, and take milliseconds for a megabyte. `now` is in epoch milliseconds.
 */
export type Representation = {
  /** The form's name, unique within the type. */
  readonly name: string;
  readonly listKind: { readonly apiVersion: string; readonly kind: string };
  /** The part of a list between the list's metadata and the first item, for example `,"items":[`. */
  readonly listOpening: string;
  /** Converts objects to the items of a list, with commas between objects and between items. */
  readonly items: (objects: Uint8Array, now: number) => Shown;
  readonly object: (object: Uint8Array, now: number) => Buffer;
  /** Converts the object of each watch event after the first event; `object` is the default. */
  readonly laterObject?: (object: Uint8Array, now: number) => Buffer;
};
