import { createHash } from 'node:crypto';

/** A file in one encoding, as the server sends it. */
export type EncodedFile = {
  readonly bytes: Buffer;
  /** The media type of the file. */
  readonly type: string;
  /** The value of Content-Encoding; undefined for an uncompressed file. */
  readonly encoding: string | undefined;
  readonly etag: string;
  /** Whether the address contains a digest of the content, so that the content at this address never changes. */
  readonly isHashed: boolean;
};

/** Returns the entity tag of a file in one encoding. */
export function tagOf(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`;
}
