/** One unique index: `keys` changes whenever the values that objects hold in it may change. */
export type UniqueIndex = { readonly index: string; readonly keys: string };

/**
 * The declaration of a type, as recorded in the log. `shape` is the SHA-256 (hex) of everything that decides whether an
 * object is valid: the schema, the indexes without their functions, the version. `code` identifies the functions by the
 * digest of the plugin's folder or package, because their source text omits captured variables.
 */
export type Declaration = {
  readonly shape: string;
  readonly code: string;
  /** `platform` for the platform's own types. */
  readonly plugin: string;
  /** The plugin's version; the platform's for its own types. */
  readonly version: string;
  readonly unique: readonly UniqueIndex[];
  /** The served versions, and the storage version. */
  readonly versions: readonly string[];
  readonly stored: string;
};

/**
 * The origin of a declaration: a package was installed deliberately and is the same on all nodes; a folder may be
 * outdated.
 */
export type DeclarationSource = 'platform' | 'package' | 'folder';

/** The origin of the declaration's files. Without `code` the source of the index functions is used. */
export type DeclaredBy = {
  readonly version: string;
  readonly source: DeclarationSource;
  readonly code?: string | undefined;
};

/** Whether shape and code are equal: both declarations then accept the same objects. */
export function isSameDeclaration(one: Declaration, other: Declaration): boolean {
  return one.shape === other.shape && one.code === other.code;
}
