import type { Declaration, DeclarationSource } from './declaration.ts';
import type { IndexKey, TypeKey } from './index-entry.ts';
import type { ResourceObject } from '../object/object.ts';

/** How an index's values compare (decision 4.4). */
export type IndexValueType = 'string' | 'number' | 'boolean' | 'timestamp';

/**
 * A declared index, checked and complete. `metadata.name`, `metadata.creationTimestamp` and `metadata.deletionTimestamp` are
 * there for every type, at the places `defaultIndexes` gives them; labels have an index of their own (`metadata.labels`)
 * that only labelSelector reaches.
 */
export type IndexDefinition = {
  readonly name: string;
  readonly type: IndexValueType;
  readonly order: 'ASC' | 'DESC';
  readonly unique: boolean;
  readonly multi: boolean;
  /** The object's keys: ascending, without duplicates. Throws `IndexValueError` for what cannot be indexed. */
  readonly keysOf: (object: ResourceObject) => readonly IndexKey[];
  /** A selector's operand as a key of this index; undefined when it cannot be one (`size=abc` on a number index). */
  readonly keyOf: (operand: string) => IndexKey | undefined;
};

/** One broken rule of an object, by plain JSON pointer (RFC 6901); a missing member's pointer names the member. */
export type Violation = { readonly pointer: string; readonly detail: string };

export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** A JSON pointer into the object, for example `/spec/size`. */
  readonly pointer: string;
  readonly description?: string;
  /** 0 is always shown, more only in wide output. */
  readonly priority?: number;
};

/** A registered group/version/kind, compiled: what a request for it needs, and nothing that must be looked up again. */
export type ResourceType = {
  readonly key: TypeKey;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly singular: string;
  readonly plural: string;
  /** `<group>/<version>`, and `<version>` alone in the core group. */
  readonly apiVersion: string;
  /** `/apis/<group>/<version>/<plural>`, and `/api/<version>/<plural>` in the core group. */
  readonly path: string;
  readonly indexes: readonly IndexDefinition[];
  readonly statusSubresource: boolean;
  readonly printerColumns: readonly PrinterColumn[];
  /** The declared JSON Schema (2020-12) of the members beside apiVersion, kind and metadata. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Every way `object` breaks the schema, at most `validationErrorsMax`. */
  readonly violations: (object: Readonly<Record<string, unknown>>) => readonly Violation[];
  /** A copy without the members the schema refuses as unknown, and their pointers (for `fieldValidation`, decision 1.9). */
  readonly prune: (object: Readonly<Record<string, unknown>>) => {
    readonly object: Readonly<Record<string, unknown>>;
    readonly unknown: readonly string[];
  };
  /** The plugin that owns it; `platform` for the platform's own. */
  readonly plugin: string;
  /** Changes with any change of the indexes' declarations or functions: rows whose entry was made under another are re-read. */
  readonly fingerprint: string;
  /**
   * As the log keeps it. Undefined: it is declared by nobody, as it stands in by its name alone for a type that is not there, whose
   * objects are removed, or is an upload's, which is only tried.
   */
  readonly declaration: Declaration | undefined;
  readonly source: DeclarationSource;
};
