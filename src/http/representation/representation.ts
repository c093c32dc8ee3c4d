/** Bytes derived from objects, and the time until which they are correct, in epoch milliseconds. */
export type Shown = {
  readonly bytes: Buffer;
  readonly until: number;
};

/**
 * A form of a type's objects other than the stored objects: a table, metadata only, or objects in another version. It
 * is derived from the bytes of the objects. All methods are pure, and take milliseconds for a megabyte. `now` is in
 * epoch milliseconds.
 */
export type Representation = {
  /** The form's name, unique within the type, for caches and for watches that share encoded events. */
  readonly name: string;
  /** The `apiVersion` and `kind` of a list. */
  readonly listKind: { readonly apiVersion: string; readonly kind: string };
  /** The part of a list between the members of its envelope and its first item, for example `,"items":[`. */
  readonly listOpening: string;
  /**
   * Converts objects to the items of a list. Objects and items are separated by commas, without a comma at the start or
   * end.
   */
  readonly items: (objects: Uint8Array, now: number) => Shown;
  readonly object: (object: Uint8Array, now: number) => Buffer;
  /**
   * Converts the object of a watch event after the first event of its stream; absent if `object` is used for all
   * events.
   */
  readonly laterObject?: (object: Uint8Array, now: number) => Buffer;
};
