/**
 * One extension object as stored and served (seed 2.1, 2.2). `apiVersion`, `kind` and `metadata` are the platform's; every
 * other top-level member (`spec`, `status`, …) is the type's, bounded by its schema.
 */
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
 * `resourceVersion` is not here: it is the position of the object's last event, known only once the log has taken it, and
 * is spliced into the answer's bytes when the event is folded (`withResourceVersion` in answer.ts).
 */
export type Metadata = {
  readonly name: string;
  readonly generateName?: string;
  readonly uid: string;
  /** The revision of the object's stream: the optimistic lock (seed 2.2). */
  readonly version: number;
  /** Starts at 1 and grows when the spec changes. */
  readonly generation: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  /** A set: order is kept, duplicates collapse. Absent when empty. */
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
};

export type ResourceObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [member: string]: unknown;
};
