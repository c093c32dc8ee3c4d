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

/** An owner of the object. When the last owner of an object is deleted, the platform deletes the object. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
};

/** An object in plugin code. The plugin's author chooses the types `Spec` and `Status`. */
export type PluginObject<Spec = Record<string, unknown>, Status = Record<string, unknown>> = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly spec: Spec;
  readonly status?: Status;
};

/** Identifies a type in the calls of a `Client`. */
export type TypeName = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
};

declare const objectOf: unique symbol;
declare const fieldsOf: unique symbol;
declare const writtenOf: unique symbol;

/**
 * Carries, at compile time only, the TypeScript type `T` of a type's objects, the names of the type's indexes and the
 * members of written objects. If `Written` is `unknown`, a write may omit any member of `T`.
 */
export type Typed<T, Fields extends string = string, Written = unknown> = {
  readonly [objectOf]?: T;
  readonly [fieldsOf]?: Fields;
  readonly [writtenOf]?: Written;
};

/** The TypeScript type of a defined type's objects: `ObjectOf<typeof widget>` for `const widget = defineType(…)`. */
export type ObjectOf<Type> = Type extends Typed<infer T> ? Exclude<T, undefined> : never;
