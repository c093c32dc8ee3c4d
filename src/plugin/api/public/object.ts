export type ObjectMetadata = {
  readonly name: string;
  readonly uid: string;
  readonly version: number;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
};

/** An owner of this object: once the last owner is deleted, the platform deletes this object. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
};

/** An object as a plugin sees it; `Spec` and `Status` are the author's own types. */
export type PluginObject<Spec = Record<string, unknown>, Status = Record<string, unknown>> = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly spec: Spec;
  readonly status?: Status;
};

/** Names a type in a client's calls. */
export type TypeName = { readonly group: string; readonly version: string; readonly plural: string };

declare const objectOf: unique symbol;

/** Carries the TypeScript type of the objects; it does not exist at run time. */
export type Typed<T> = { readonly [objectOf]?: T };

/** The object type of a result of `defineType`. */
export type ObjectOf<Type> = Type extends Typed<infer T> ? Exclude<T, undefined> : never;
