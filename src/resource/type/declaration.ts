import type { ReferenceDeclaration } from '../references/reference-declaration.ts';

/**
 * One unique index. `keys` is a digest of all that determines the index keys of an object: the definition of the index,
 * and the functions that it uses.
 */
export type UniqueIndex = {
  readonly index: string;
  readonly keys: string;
};

/**
 * The declaration of a type, as recorded in the log. `shape` is the SHA-256 (hex) of the declared parts that determine
 * whether an object is valid, without functions: the versions, the kind, the schemas, `statusSubresource`, the indexes
 * and the references. `code` identifies the functions of the type: the functions of indexes, the hooks and the
 * conversions. It is the digest of the plugin's folder or package, if there is one, because the source text of a
 * function does not include the variables that the function captures.
 */
export type Declaration = {
  readonly shape: string;
  readonly code: string;
  /** `platform` for the platform's own types. */
  readonly plugin: string;
  /** The version of the plugin; for the platform's own types, the version of the platform. */
  readonly version: string;
  readonly unique: readonly UniqueIndex[];
  /** `versions`: the declared versions, oldest first. `stored`: the preferred version, in which events are written. */
  readonly versions: readonly string[];
  readonly stored: string;
  /** The references of the type; absent if the type declares none. */
  readonly references?: readonly ReferenceDeclaration[];
};

/**
 * The origin of a declaration. A package was installed deliberately and is the same on all nodes; the folder of a node
 * may be outdated.
 */
export type DeclarationSource = 'platform' | 'package' | 'folder';

/**
 * The version and the origin of the plugin that declares a type, and the digest of the plugin's files (`code`). If
 * `code` is absent, the source texts of the type's functions are used instead of the digest.
 */
export type DeclaredBy = {
  readonly version: string;
  readonly source: DeclarationSource;
  readonly code?: string | undefined;
};

/** Whether `shape` and `code` are equal, so that both declarations accept the same objects. */
export function isSameDeclaration(one: Declaration, other: Declaration): boolean {
  return one.shape === other.shape && one.code === other.code;
}
