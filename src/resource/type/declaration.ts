/** One unique index: `keys` changes with whatever decides which values of it an object holds. */
export type UniqueIndex = { readonly index: string; readonly keys: string };

/**
 * What a type is declared as, as the log keeps it. `shape` is the SHA-256 (hex) of what decides whether an object is valid: the
 * schema, the indexes without their functions, the version. `code` stands for the functions, of which a text would say too
 * little, as it leaves out what they close over: the digest of the plugin's folder or package.
 */
export type Declaration = {
  readonly shape: string;
  readonly code: string;
  /** `platform` for the platform's own. */
  readonly plugin: string;
  /** The plugin's; for the platform's own types the platform's. */
  readonly version: string;
  readonly unique: readonly UniqueIndex[];
  /** The versions that are served, and the one that objects are stored in. */
  readonly versions: readonly string[];
  readonly stored: string;
};

/** Where a declaration comes from: a package is what an operator installed, wherever it runs; a folder may just be an old one. */
export type DeclarationSource = 'platform' | 'package' | 'folder';

/** What is known of a declaration's files. Without them `code` stands for the index functions' texts. */
export type DeclaredBy = { readonly version: string; readonly source: DeclarationSource; readonly code?: string | undefined };

/** Of one shape and code: an object that one of them finds valid, the other does. */
export function isSameDeclaration(one: Declaration, other: Declaration): boolean {
  return one.shape === other.shape && one.code === other.code;
}
