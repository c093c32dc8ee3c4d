/** Bytes made from objects, and the time up to which they are right, in epoch milliseconds. */
export type Shown = { readonly bytes: Buffer; readonly until: number };

/**
 * Another form of a type's objects than their own: tables and bare metadata, made from the bytes of the objects. All
 * methods are pure, and take milliseconds for a megabyte. `now`: epoch milliseconds.
 */
export type Representation = {
  /** Unique among the forms of the type, for caches and audiences. */
  readonly name: string;
  /** A list up to its metadata: `apiVersion` and `kind`. */
  readonly listKind: { readonly apiVersion: string; readonly kind: string };
  /** The list from behind its envelope's members up to the first item: `,"items":[`. */
  readonly listOpening: string;
  /** The items of a list, from objects separated by commas; without a comma at either end. */
  readonly items: (objects: Uint8Array, now: number) => Shown;
  readonly object: (object: Uint8Array, now: number) => Buffer;
  /** The object of a watch event that is not the first of its stream; absent if it is `object` as well. */
  readonly laterObject?: (object: Uint8Array, now: number) => Buffer;
};
