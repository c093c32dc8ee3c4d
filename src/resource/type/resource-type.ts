import type { Declaration, DeclarationSource } from './declaration.ts';
import type { IndexKey, TypeKey } from './index-entry.ts';
import type { ResourceObject } from '../object/object.ts';
import type { ReferenceDeclaration } from '../references/reference-declaration.ts';

/** The type of an index's values, which determines the order of the values (decision 4.4). */
export type IndexValueType = 'string' | 'number' | 'boolean' | 'timestamp';

/**
 * A validated index. Every type has the indexes `defaultIndexes` at the same positions. Labels have a separate index,
 * which only a labelSelector uses.
 */
export type IndexDefinition = {
  readonly name: string;
  readonly type: IndexValueType;
  readonly order: 'ASC' | 'DESC';
  readonly unique: boolean;
  readonly multi: boolean;
  /** A hash that changes if the declaration of the index or the source text of its function changes. */
  readonly fingerprint: string;
  /**
   * Returns the object's keys, ascending and without duplicates.
   *
   * @throws IndexValueError if a value cannot be indexed.
   */
  readonly keysOf: (object: ResourceObject) => readonly IndexKey[];
  /**
   * Returns the key of a selector's operand; undefined if the operand is invalid, as in `size=abc` for a number index.
   */
  readonly keyOf: (operand: string) => IndexKey | undefined;
};

/**
 * One broken rule. `pointer` is the JSON pointer (RFC 6901) of the member that breaks the rule. The object may lack
 * this member.
 */
export type Violation = {
  readonly pointer: string;
  readonly detail: string;
};

/** A violation of a schema, with the keyword of the schema that the value violates. */
export type SchemaViolation = Violation & { readonly keyword: string };

/**
 * The violations of a schema by an object. If `isComplete` is false, the object is very large, and the list has at most
 * one of its violations.
 */
export type SchemaCheck = {
  readonly found: readonly SchemaViolation[];
  readonly isComplete: boolean;
};

type Members = Readonly<Record<string, unknown>>;

/** A write as rules see it. */
export type RuledChange = {
  /** The whole object. The member `metadata` contains only `name` and, if present, `generateName`. */
  readonly object: Members;
  /** The stored object in the same form; undefined for the creation of an object. */
  readonly old: Members | undefined;
  /**
   * The written part. A write of the status is checked by the rules of the status and by the rules of the whole object.
   */
  readonly part: 'main' | 'status';
  /**
   * The violations of the schema that the write may keep, because the stored object has the same violations. The rules
   * of a value that violates the types or bounds of the schema do not run.
   */
  readonly tolerated: readonly SchemaViolation[];
  /** The violations of the schema by the stored object, if rules need them; otherwise the list may be empty. */
  readonly oldFaults: readonly SchemaViolation[];
};

/** The rules of a schema (`x-kubernetes-validations`). */
export type SchemaRules = {
  /** Whether a rule reads an old value (`oldSelf`). */
  readonly hasTransitions: boolean;
  readonly violations: (change: RuledChange) => readonly Violation[];
};

export const hookNames = ['default', 'validate', 'validateDelete'] as const;
export type HookName = (typeof hookNames)[number];

/**
 * Functions of a type's plugin that take part in decisions. Each function may throw any value and return any value.
 * `default` and `validateDelete` get an object and a context; `validate` gets the new object, the stored object and a
 * context.
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
  /** A label selector, below `/spec` or `/status`. The value must be a string, because autoscalers read a string. */
  readonly labelSelector?: string;
};

/**
 * A plugin's functions that convert between two neighbouring versions of a type. If a function is undefined, the
 * conversion only changes `apiVersion`.
 */
export type VersionStep = {
  /** Converts an object to the newer version. */
  readonly up: ((object: unknown) => unknown) | undefined;
  /** Converts an object to the older version. */
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
  /** The steps between neighbouring versions. The first step is between the two oldest versions. */
  readonly steps: readonly VersionStep[];
  /** The type in each served version, oldest version first. */
  readonly served: readonly ResourceType[];
  /** Runs the conversion functions of the steps. `conversion` names the two versions, such as `v1alpha1 to v1`. */
  readonly calls: {
    run(conversion: string, call: () => unknown): unknown;
    /** Passes all later calls to `watch`, which must run them. */
    measure(watch: (conversion: string, call: () => unknown) => unknown): void;
  };
  /** Records the objects that could not be converted. */
  readonly faults: {
    record(fault: Omit<Unconverted, 'trace'> & { readonly thrown?: unknown }): void;
    /** The number of failed conversions, and the first failed object; undefined without a failed conversion. */
    found(): { readonly count: number; readonly first: Unconverted } | undefined;
    /** Calls the listener when the first fault is recorded. Returns a function that removes the listener. */
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
  /**
   * The categories of the type. Tools such as kubectl can list the objects of all types of a category in one command.
   */
  readonly categories: readonly string[];
  /** Undefined for a type without the subresource `scale`. */
  readonly scale: ScalePointers | undefined;
  /** The declared JSON Schema (2020-12) of the members other than apiVersion, kind and metadata. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Returns the violations of the schema by `object`. */
  readonly check: (object: Readonly<Record<string, unknown>>) => SchemaCheck;
  /**
   * Checks an object for a write of its status. If the check of a very large object stops at the first violation, only
   * the status is checked instead, provided that the schema describes the status.
   */
  readonly checkStatus: (object: Readonly<Record<string, unknown>>) => SchemaCheck;
  /**
   * Returns a copy of the object without the members that the schema refuses as unknown, and the pointers of these
   * members (for `fieldValidation`, decision 1.9).
   */
  readonly prune: (object: Readonly<Record<string, unknown>>) => {
    readonly object: Readonly<Record<string, unknown>>;
    readonly unknown: readonly string[];
  };
  /**
   * Returns the members with the defaults of the schema: the same reference if no member is missing. Returns undefined
   * if the defaults would add more than `objectBytesMax` bytes.
   */
  readonly fillDefaults: (object: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> | undefined;
  /** The rules of the schema; undefined for a schema without rules. */
  readonly rules?: SchemaRules | undefined;
  /** The hooks of the type; undefined for a type without hooks. */
  readonly hooks?: TypeHooks | undefined;
  /** The fields that contain names of other objects. */
  readonly references: readonly ReferenceDeclaration[];
  /** The plugin that owns the type; `platform` for the platform's own types. */
  readonly plugin: string;
  /**
   * A digest of the type's indexes, version, kind, defaults and conversions. Rows and index entries that were computed
   * with another fingerprint are computed again.
   */
  readonly fingerprint: string;
  /**
   * The declaration for the log. Undefined for a type that is not recorded in the log, for example a type of an
   * uploaded package that is only tested.
   */
  readonly declaration: Declaration | undefined;
  readonly source: DeclarationSource;
  /** The versions of the type; undefined for a type with one version. */
  readonly versions?: TypeVersions | undefined;
  /**
   * The type in the preferred version; undefined if this type is in the preferred version. Objects are stored, indexed
   * and passed to hooks and reconcilers in the preferred version.
   */
  readonly preferred?: ResourceType | undefined;
  /** The warning to clients that use this version; undefined if the version is not deprecated. */
  readonly deprecation?: string | undefined;
};
