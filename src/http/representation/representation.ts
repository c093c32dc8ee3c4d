/** Bytes derived from objects, and the time until which they are correct, in epoch milliseconds. */
export type Shown = { readonly bytes: Buffer; readonly until: number };

/**
 * A form of a type's objects other than plain objects: tables and bare metadata, made from the bytes of the objects.
 * All methods are pure, and take milliseconds for a megabyte. `now`: epoch milliseconds.
 */
export type Representation = {
  /** The form's name, unique within the type, for caches and audiences. */
  readonly name: string;
  /** The `apiVersion` and `kind` of a list. */
  readonly listKind: { readonly apiVersion: string; readonly kind: string };
  /** The part of a list from its envelope's members to the first item: `,"items":[`. */
  readonly listOpening: string;
  /** The items of a list, from objects separated by commas; without a comma at the start or end. */
  readonly items: (objects: Uint8Array, now: number) => Shown;
  readonly object: (object: Uint8Array, now: number) => Buffer;
  /** The object of a watch event after the first one of its stream; absent if `object` serves it too. */
  readonly laterObject?: (object: Uint8Array, now: number) => Buffer;
};
