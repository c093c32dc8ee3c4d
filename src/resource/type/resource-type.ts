import type { Declaration, DeclarationSource } from './declaration.ts';
import type { IndexKey, TypeKey } from './index-entry.ts';
import type { ResourceObject } from '../object/object.ts';

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
  /** The object's keys: ascending, without duplicates. Throws `IndexValueError` for a value that cannot be indexed. */
  readonly keysOf: (object: ResourceObject) => readonly IndexKey[];
  /** A selector's operand as a key of this index; undefined when invalid (`size=abc` on a number index). */
  readonly keyOf: (operand: string) => IndexKey | undefined;
};

/** One violation by an object, with its JSON pointer (RFC 6901); for a missing member, the pointer of that member. */
export type Violation = { readonly pointer: string; readonly detail: string };

/** A violation of a schema, with the violated keyword. */
export type SchemaViolation = Violation & { readonly keyword: string };

/**
 * The violations of an object, without a limit, so that they can be compared with those of another object.
 * `isComplete`: false for a very large object, whose first violation alone is known.
 */
export type SchemaCheck = { readonly found: readonly SchemaViolation[]; readonly isComplete: boolean };

type Members = Readonly<Record<string, unknown>>;

/** A write as rules see it. */
export type RuledChange = {
  /** The whole object, with `apiVersion`, `kind` and the name in `metadata`. */
  readonly object: Members;
  /** The stored object in the same form; undefined for a create. */
  readonly old: Members | undefined;
  /** A write of the status is judged by the rules of the status, and by those of the whole object. */
  readonly part: 'main' | 'status';
  /**
   * Violations of the schema that the write may keep, and those of the stored object. Rules rely on types and bounds of
   * the schema: they do not run for a value without them.
   */
  readonly tolerated: readonly SchemaViolation[];
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
  /** 0 is always shown; higher columns only in wide output. */
  readonly priority?: number;
};

/** JSON pointers to members of an object that the subresource `scale` reads and writes. */
export type ScalePointers = {
  /** The wanted number of replicas, below `/spec`. */
  readonly specReplicas: string;
  /** The observed number, below `/status`. */
  readonly statusReplicas: string;
  /** A label selector as text, below `/spec` or `/status`: the form that autoscalers read. */
  readonly labelSelector?: string;
};

/** A registered group/version/kind, compiled, with everything that a request for it needs. */
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
  /** Names of groups of types, for tools that read several types at once. */
  readonly categories: readonly string[];
  /** Undefined for a type without the subresource `scale`. */
  readonly scale: ScalePointers | undefined;
  /** The declared JSON Schema (2020-12) of the members other than apiVersion, kind and metadata. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The violations of the schema by `object`. */
  readonly check: (object: Readonly<Record<string, unknown>>) => SchemaCheck;
  /** The violations that concern a write of the status. Of a very large object only the status is checked. */
  readonly checkStatus: (object: Readonly<Record<string, unknown>>) => SchemaCheck;
  /**
   * A copy without the members that the schema refuses as unknown, and their pointers (for `fieldValidation`, decision
   * 1.9).
   */
  readonly prune: (object: Readonly<Record<string, unknown>>) => {
    readonly object: Readonly<Record<string, unknown>>;
    readonly unknown: readonly string[];
  };
  /**
   * The members with the defaults of the schema: the same reference if nothing is missing. Undefined if the defaults
   * would add more than `objectBytesMax`.
   */
  readonly fillDefaults: (object: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> | undefined;
  /** The rules of the schema; undefined if it has none. */
  readonly rules?: SchemaRules | undefined;
  /** Undefined for a type without hooks. */
  readonly hooks?: TypeHooks | undefined;
  /** The plugin that owns it; `platform` for the platform's own types. */
  readonly plugin: string;
  /**
   * Changes with any change of the indexes' declarations or functions: entries made under another fingerprint are
   * computed again.
   */
  readonly fingerprint: string;
  /**
   * The declaration for the log. Undefined for a type that is not recorded: a substitute for a missing type with
   * objects to remove, or a type of an upload, which is only tested.
   */
  readonly declaration: Declaration | undefined;
  readonly source: DeclarationSource;
};
