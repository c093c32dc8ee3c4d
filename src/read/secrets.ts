/** The port of the folded secrets: hashes and digests, by the uid of their object. No API reads this port. */
export type SecretReader = {
  /** Returns the hash at exactly this revision of the object's secret stream. */
  passwordHash(uid: string, revision: number): string | undefined;
  /** Returns the digest of the latest secret of a token. */
  tokenDigest(uid: string): string | undefined;
};
