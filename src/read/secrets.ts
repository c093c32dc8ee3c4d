/** Port of the secrets that are folded: hashes and digests, by the uid of the object they belong to. No API reads it. */
export type SecretReader = {
  /** The hash kept at exactly this revision of the object's secrets. */
  passwordHash(uid: string, revision: number): string | undefined;
  /** The digest of the text issued last. */
  tokenDigest(uid: string): string | undefined;
};
