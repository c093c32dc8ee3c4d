import type { ReferenceDeclaration } from '../references/reference-declaration.ts';

/** One unique index. `keys` changes whenever the values of objects in the index may change. */
export type UniqueIndex = {
  readonly index: string;
  readonly keys: string;
};

/**
 * The declaration of a type, as recorded in the log. `shape` is the SHA-256 (hex) of all parts that determine whether
 * an object is valid: the schema, the indexes without their functions, and the version. `code` is the digest of the
 * plugin's folder or package and identifies the index functions, because the source text of a function does not include
 * captured variables.
 */
export type Declaration = {
  readonly shape: string;
  readonly code: string;
  /** `platform` for the platform's own types. */
  readonly plugin: string;
  /** The version of the plugin; for the platform's own types, the version of the platform. */
  readonly version: string;
  readonly unique: readonly UniqueIndex[];
  /** The declared versions, oldest first, and the preferred version, in which events are written. */
  readonly versions: readonly string[];
  readonly stored: string;
  /** The references of the type; absent if the type declares none. */
  readonly references?: readonly ReferenceDeclaration[];
};

/**
 * The origin of a declaration. A package was installed deliberately and is the same on all nodes; a folder may be
 * outdated.
 */
export type DeclarationSource = 'platform' | 'package' | 'folder';

/**
 * The origin of the declaration's files. If `code` is absent, the source text of the index functions identifies them.
 */
export type DeclaredBy = {
  readonly version: string;
  readonly source: DeclarationSource;
  readonly code?: string | undefined;
};

/** Whether shape and code are equal: both declarations then accept the same objects. */
export function isSameDeclaration(one: Declaration, other: Declaration): boolean {
  return one.shape === other.shape && one.code === other.code;
}
