import type { Declaration, DeclarationSource } from './declaration.ts';
import type { IndexKey, TypeKey } from './index-entry.ts';
import type { ResourceObject } from '../object/object.ts';
import type { ReferenceDeclaration } from '../references/reference-declaration.ts';

/** The comparison of an index's values (decision 4.4). */
export type IndexValueType = 'string' | 'number' | 'boolean' | 'timestamp';

/**
 * A validated index. Every type has `metadata.name`, `metadata.creationTimestamp` and `metadata.deletionTimestamp` at
 * the positions of `defaultIndexes`; labels have their own index (`metadata.labels`), which only labelSelector uses.
 */
export type IndexDefinition = {
  readonly name: string;
  readonly type: IndexValueType;
  readonly order: 'ASC' | 'DESC';
  readonly unique: boolean;
  readonly multi: boolean;
  /** Changes with any change of the declaration or of the source of the function. */
  readonly fingerprint: string;
  /**
   * Returns the object's keys, ascending and without duplicates. Throws `IndexValueError` if a value cannot be indexed.
   */
  readonly keysOf: (object: ResourceObject) => readonly IndexKey[];
  /**
   * Returns the key of a selector's operand; undefined if the operand is invalid, as in `size=abc` for a number index.
   */
  readonly keyOf: (operand: string) => IndexKey | undefined;
};

/**
 * One rule that an object breaks, with the JSON pointer (RFC 6901) of the member. A missing member has a pointer, too.
 */
export type Violation = {
  readonly pointer: string;
  readonly detail: string;
};

/** A violation of a schema, with the violated keyword. */
export type SchemaViolation = Violation & { readonly keyword: string };

/**
 * The violations of an object, all of them, so that they can be compared with the violations of another object.
 * `isComplete`: false for a very large object, of which only the first violation is known.
 */
export type SchemaCheck = {
  readonly found: readonly SchemaViolation[];
  readonly isComplete: boolean;
};

type Members = Readonly<Record<string, unknown>>;

/** A write as rules see it. */
export type RuledChange = {
  /** The whole object, with `apiVersion`, `kind` and the name in `metadata`. */
  readonly object: Members;
  /** The stored object in the same form; undefined for a create. */
  readonly old: Members | undefined;
  /**
   * The written part. A write of the status is checked by the rules of the status and by the rules of the whole object.
   */
  readonly part: 'main' | 'status';
  /**
   * The violations of the schema that the write may keep, since the stored object has them too. Rules rely on types and
   * bounds of the schema, so they do not run for a value that violates them.
   */
  readonly tolerated: readonly SchemaViolation[];
  /** All violations of the schema by the stored object. */
  readonly oldFaults: readonly SchemaViolation[];
};

/** The rules of a schema (`x-kubernetes-validations`). */
export type SchemaRules = {
  /** Whether a rule compares with the old object. */
  readonly hasTransitions: boolean;
  readonly violations: (change: RuledChange) => readonly Violation[];
};

export const hookNames = ['default', 'validate', 'validateDelete'] as const;
export type HookName = (typeof hookNames)[number];

/**
 * Functions of a type's plugin that take part in decisions. They are foreign code: each may throw, and return anything.
 * `default` gets an object and a context, `validate` also the stored object between them.
 */
export type TypeHooks = { readonly [Name in HookName]?: (...args: readonly unknown[]) => unknown };

export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** A JSON pointer into the object, for example `/spec/size`. */
  readonly pointer: string;
  /** A hint for clients on how to show the values, for example `date-time`. */
  readonly format?: string;
  readonly description?: string;
  /** A column with the priority 0 is always shown; a column with a higher priority is shown only in wide output. */
  readonly priority?: number;
};

/** JSON pointers to members of an object that the subresource `scale` reads and writes. */
export type ScalePointers = {
  /** The desired number of replicas, below `/spec`. */
  readonly specReplicas: string;
  /** The observed number of replicas, below `/status`. */
  readonly statusReplicas: string;
  /** A label selector, below `/spec` or `/status`. The selector is a text, because autoscalers read it as a text. */
  readonly labelSelector?: string;
};

/** Two neighbouring versions of a type. Without functions, which are foreign code, only `apiVersion` is exchanged. */
export type VersionStep = {
  readonly up: ((object: unknown) => unknown) | undefined;
  readonly down: ((object: unknown) => unknown) | undefined;
};

/** An object of a type that could not be converted. */
export type Unconverted = {
  readonly name: string;
  readonly problem: string;
  /** The stack of the error that a function threw. */
  readonly trace: string | undefined;
};

export type TypeVersions = {
  /** The `apiVersion` of each version, oldest first. */
  readonly all: readonly string[];
  /** The steps between neighbours: the first one is between the first two versions. */
  readonly steps: readonly VersionStep[];
  /** The type in each served version, in the same order. */
  readonly served: readonly ResourceType[];
  /** Runs the functions of the steps. */
  readonly calls: {
    run(conversion: string, call: () => unknown): unknown;
    /** `watch` runs the further calls. */
    measure(watch: (conversion: string, call: () => unknown) => unknown): void;
  };
  /** Receives the objects that could not be converted. */
  readonly faults: {
    record(fault: Omit<Unconverted, 'trace'> & { readonly thrown?: unknown }): void;
    /** The first object; undefined if all were converted. */
    found(): { readonly count: number; readonly first: Unconverted } | undefined;
    /** Calls the listener at the first fault. */
    subscribe(listener: () => void): () => void;
  };
};

/** A registered group, version and kind, compiled for use by requests. */
export type ResourceType = {
  readonly key: TypeKey;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly singular: string;
  readonly plural: string;
  /** `<group>/<version>`; only `<version>` in the core group. */
  readonly apiVersion: string;
  /** `/apis/<group>/<version>/<plural>`, and `/api/<version>/<plural>` in the core group. */
  readonly path: string;
  readonly indexes: readonly IndexDefinition[];
  readonly statusSubresource: boolean;
  readonly printerColumns: readonly PrinterColumn[];
  /** Short names of the type, which command-line tools accept. */
  readonly shortNames: readonly string[];
  /** The categories of the type. Tools such as kubectl can list all types of a category in one command. */
  readonly categories: readonly string[];
  /** Undefined for a type without the subresource `scale`. */
  readonly scale: ScalePointers | undefined;
  /** The declared JSON Schema (2020-12) of the members other than apiVersion, kind and metadata. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Returns the violations of the schema by `object`. */
  readonly check: (object: Readonly<Record<string, unknown>>) => SchemaCheck;
  /** Returns the violations that concern a write of the status. For a very large object, only the status is checked. */
  readonly checkStatus: (object: Readonly<Record<string, unknown>>) => SchemaCheck;
  /**
   * Returns a copy without the members that the schema refuses as unknown, and the pointers of these members (for
   * `fieldValidation`, decision 1.9).
   */
  readonly prune: (object: Readonly<Record<string, unknown>>) => {
    readonly object: Readonly<Record<string, unknown>>;
    readonly unknown: readonly string[];
  };
  /**
   * Returns the members with the defaults of the schema: the same reference if no member is missing. Returns undefined
   * if the defaults would add more than `objectBytesMax`.
   */
  readonly fillDefaults: (object: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> | undefined;
  /** The rules of the schema; undefined if it has none. */
  readonly rules?: SchemaRules | undefined;
  /** The hooks of the type; undefined if it has none. */
  readonly hooks?: TypeHooks | undefined;
  /** The fields that contain names of other objects. */
  readonly references: readonly ReferenceDeclaration[];
  /** The plugin that owns the type; `platform` for the platform's own types. */
  readonly plugin: string;
  /**
   * Changes with any change of the declarations or functions of the indexes. Index entries with another fingerprint are
   * computed again.
   */
  readonly fingerprint: string;
  /**
   * The declaration for the log. Undefined for a type that is not recorded: a placeholder for a missing type whose
   * objects are to be removed, or a type of an uploaded package that is only tested.
   */
  readonly declaration: Declaration | undefined;
  readonly source: DeclarationSource;
  /** The versions of the type; undefined for a type with one version. */
  readonly versions?: TypeVersions | undefined;
  /**
   * The type in the preferred version, if this is the type in another served version. Objects are stored, indexed and
   * given to hooks and reconcilers in the preferred version.
   */
  readonly preferred?: ResourceType | undefined;
  /** The warning to clients of this version, if it is deprecated. */
  readonly deprecation?: string | undefined;
};
