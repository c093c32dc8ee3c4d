import type { ReferenceDeclaration } from '../references/reference-declaration.ts';

/**
 * One unique index. `keys` is a digest of everything that determines the index keys of an object: the definition of the
 * index, and the functions that the index uses.
 */
export type UniqueIndex = {
  readonly index: string;
  readonly keys: string;
};

/** The declaration of a type, as recorded in the log. */
export type Declaration = {
  /**
   * The SHA-256 (hex) of the declared parts that determine whether an object is valid, for example the schemas and the
   * indexes. Functions are not included.
   */
  readonly shape: string;
  /**
   * Identifies the type's functions: a digest of the plugin's files if available, otherwise of the functions' source
   * texts. A source text does not include the variables that the function captures.
   */
  readonly code: string;
  /** `platform` for the platform's own types. */
  readonly plugin: string;
  /** The version of the plugin; for the platform's own types, the version of the platform. */
  readonly version: string;
  readonly unique: readonly UniqueIndex[];
  /** The declared versions, oldest first. */
  readonly versions: readonly string[];
  /** The preferred version, in which events are written. */
  readonly stored: string;
  /** The references of the type; absent if the type declares none. */
  readonly references?: readonly ReferenceDeclaration[];
};

/** The origin of a declaration. A package is the same on all nodes, while the folder of a node may be outdated. */
export type DeclarationSource = 'platform' | 'package' | 'folder';

/**
 * The version and the origin of the plugin that declares a type. `code`: the digest of the plugin's files; if absent,
 * the source texts of the type's functions identify the functions.
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
