export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [member: string]: JsonValue };

export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/**
 * The metadata of an object. `resourceVersion` is not a member, because the position of the object's last event is
 * known only after the append. The fold inserts the position into the JSON that reads return.
 */
export type Metadata = {
  readonly name: string;
  readonly generateName?: string;
  readonly uid: string;
  /** The revision of the object's stream, used for optimistic locking (seed 2.2). */
  readonly version: number;
  /**
   * Starts at 1. Increases when a member other than the metadata and the status changes, and when the object is marked.
   */
  readonly generation: number;
  /** A time as in RFC 3339, in UTC and with milliseconds. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  /** An ordered set without duplicates. Absent when empty. */
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
};

/**
 * An object as stored and served (seed 2.1, 2.2). `apiVersion`, `kind` and `metadata` belong to the platform; every
 * other top-level member (`spec`, `status`, …) belongs to the type and its schema.
 */
export type ResourceObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [member: string]: unknown;
};
