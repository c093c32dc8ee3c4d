import type { JsonSchema } from './json-schema.ts';
import type { PluginObject, Typed } from './object.ts';
import type { NewObject } from './written.ts';

/** The type by which index values are compared; `string` by default. Strings are compared by code points. */
export type IndexType = 'string' | 'number' | 'boolean' | 'timestamp';

export type IndexSpec<T = PluginObject> = {
  /** The name of the index, unique within the type. The recommended name is the path of the field (`spec.title`). */
  readonly name: string;
  readonly type?: IndexType;
  readonly order?: 'ASC' | 'DESC';
  readonly unique?: boolean;
  /** Whether the function returns an array of values. */
  readonly multi?: boolean;
  /**
   * Returns the indexed value or values; undefined and null mean no value. The default returns the value at the dotted
   * path `name`. The function must be pure, and its argument is frozen.
   */
  readonly indexFunc?: (object: T) => IndexValue | readonly IndexValue[] | null | undefined;
};
export type IndexValue = string | number | boolean;

export type VersionDeclaration = {
  /** For example `v1alpha1`. */
  readonly name: string;
  /** The schema of the version. Absent for the preferred version, which has the schema of the type. */
  readonly schema?: JsonSchema;
  /** Whether clients may use the version; true by default. Stored objects may have a version that is not served. */
  readonly served?: boolean;
  /** Adds a warning to responses in this version: this text or, for `true`, a text that names the preferred version. */
  readonly deprecated?: boolean | string;
  /** The columns of the version's tables; by default the columns of the type. */
  readonly printerColumns?: TypeDeclaration['printerColumns'];
  /**
   * Members of sample objects, for example `{ spec: { title: 'Lamp' } }`. When the plugin starts, the server converts
   * the samples to the preferred version and back. The server converts samples of the preferred version to each other
   * version and back. Required for each version if `convert` is declared.
   */
  readonly examples?: readonly Readonly<Record<string, unknown>>[];
};

/**
 * Converts objects between two neighbouring versions. `up` and `down` must be synchronous and pure, must not throw for
 * a valid object, and must return the whole object. The argument of each function is frozen. Of the metadata, only the
 * annotations may change. An object must be unchanged after a conversion and the reverse conversion. Annotations can
 * keep values that another version lacks.
 */
export type VersionConversion = {
  /** The older version. */
  readonly from: string;
  /** The next version in the order of `versions`. */
  readonly to: string;
  up(object: PluginObject): object;
  down(object: PluginObject): object;
};

export type TypeDeclaration<T = PluginObject> = {
  readonly group: string;
  /**
   * The preferred version. Every write stores the object in this version. Indexes and hooks receive objects in this
   * version.
   */
  readonly version: string;
  /** All versions, including the preferred version, oldest first. Absent for a type with one version. */
  readonly versions?: readonly VersionDeclaration[];
  /**
   * The conversions between neighbouring versions. Without a conversion, only `apiVersion` changes between two
   * neighbours.
   */
  readonly convert?: readonly VersionConversion[];
  readonly kind: string;
  readonly singular: string;
  readonly plural: string;
  /** JSON Schema 2020-12 of the object's members other than apiVersion, kind and metadata. */
  readonly schema: JsonSchema;
  readonly indexes?: readonly IndexSpec<T>[];
  readonly statusSubresource?: boolean;
  /** The columns of tables between the name and the age. A `date` is shown as the time elapsed since the date. */
  readonly printerColumns?: readonly {
    readonly name: string;
    readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
    /** A JSON pointer into the object, for example `/spec/size`. */
    readonly pointer: string;
    /** A hint for clients on how to show the values, for example `date-time`. */
    readonly format?: string;
    readonly description?: string;
    readonly priority?: number;
  }[];
  /** Alternative names of the type on kubectl's command line, for example `wd` for widgets. */
  readonly shortNames?: readonly string[];
  /** The categories of the type. `kubectl get <category>` lists the objects of all types in a category. */
  readonly categories?: readonly string[];
  /**
   * Adds the subresource `/scale`, with which `kubectl scale` reads and writes the number of replicas. The members are
   * JSON pointers. `specReplicas`, below `/spec`, points to the desired number of replicas. `statusReplicas`, below
   * `/status`, points to the observed number. `labelSelector`, below `/spec` or `/status`, points to a label selector
   * as text.
   */
  readonly scale?: {
    readonly specReplicas: string;
    readonly statusReplicas: string;
    readonly labelSelector?: string;
  };
  readonly hooks?: TypeHooks<T>;
  readonly references?: readonly DeclaredReference[];
};

/** A field that contains the name of an object, or an array of names. */
export type DeclaredReference = {
  /**
   * The dotted path of the field, such as `spec.groupName`. The schema of the field must be a string or an array of
   * strings.
   */
  readonly field: string;
  /** The type of the named objects, as `<plural>.<group>`. */
  readonly to: string;
  /**
   * Whether a write that names a missing object is refused. An object that is marked for deletion counts as missing.
   */
  readonly onMissing: 'refuse' | 'allow';
  /**
   * The effect when a named object is deleted. `refuse`: the deletion is refused. `cascade`: the object with the field
   * is deleted too. `clear`: the name is removed from the field. `orphan`: the name remains in the field.
   */
  readonly onDelete: 'refuse' | 'orphan' | 'cascade' | 'clear';
};

export type HookContext = {
  /** `status`: a write of the subresource `status`. */
  readonly operation: 'create' | 'update' | 'status' | 'delete';
  /** The author of the write. A plugin that writes with its own rights has the name `plugin:<name>`. */
  readonly user: { readonly name: string };
  /** The time of the decision: RFC 3339, UTC, milliseconds. */
  readonly now: string;
};

/** A violation that a hook finds: a JSON pointer into the object, such as `/spec/title`, and a text for people. */
export type HookViolation = {
  readonly pointer: string;
  readonly detail: string;
};

/** Excludes promises, because hooks are synchronous. */
type Synchronous = { readonly then?: never };

/**
 * Functions that the server calls for writes to the type's objects. Hooks do not run for a write that changes nothing,
 * or that changes only the metadata of an object marked for deletion. Hooks must be synchronous and pure, and their
 * objects are frozen. If a hook throws, the write is refused. Other requests wait while a hook runs.
 */
export type TypeHooks<T = PluginObject> = {
  /**
   * Returns the object with added or changed members, or undefined to leave the object unchanged. Runs before
   * validation and after the schema's defaults are filled in, so any member may be missing. `apiVersion`, `kind` and
   * the metadata that the server manages must not change.
   */
  default?(object: T, context: HookContext): (object & Synchronous) | undefined;
  /**
   * Returns the violations in an object that is valid according to the schema. `old` is the stored object; undefined on
   * a create.
   */
  validate?(object: T, old: T | undefined, context: HookContext): readonly HookViolation[] | undefined;
  /** Returns the reasons why the object must not be deleted. */
  validateDelete?(object: T, context: HookContext): readonly HookViolation[] | undefined;
};

/**
 * The hooks of a type with a known schema. The compiler reports misspelt members in the object that `default` returns.
 */
export type SchemaHooks<T> = Omit<TypeHooks<T>, 'default'> & {
  default?(object: T, context: HookContext): (NewObject<T> & Synchronous) | undefined;
};

/**
 * A declaration with the TypeScript type of its objects, the names of its indexes and the members of written objects.
 * The calls of a `Client` accept and return objects of this TypeScript type.
 */
export type DefinedType<T = PluginObject, Fields extends string = string, Written = unknown> = TypeDeclaration<T> &
  Typed<T, Fields, Written>;

/** The indexes that every type has. */
export type DefaultIndex = 'metadata.name' | 'metadata.creationTimestamp' | 'metadata.deletionTimestamp';
