import { createHash } from 'node:crypto';

import type { Steps } from '../../base/steps.ts';

/** A document. `hash` is the SHA-256 of its bytes, in hexadecimal digits. */
export type ApiDocument = {
  readonly bytes: Buffer;
  readonly hash: string;
  readonly contentType: string;
};

/** The number of bytes that are hashed in one step. A document of a thousand types has about 20 MB. */
const stepBytes = 262_144;

/** Joins the pieces of a document and computes its hash, in steps. */
export function* joined(pieces: Steps<readonly Uint8Array[]>, contentType: string): Steps<ApiDocument> {
  const made = yield* pieces;
  const bytes = Buffer.allocUnsafeSlow(made.reduce((sum, { length }) => sum + length, 0));
  const hash = createHash('sha256');
  let [filled, hashed] = [0, 0];
  for (const piece of made) {
    bytes.set(piece, filled);
    filled += piece.length;
    for (; filled - hashed >= stepBytes; hashed += stepBytes) {
      hash.update(bytes.subarray(hashed, hashed + stepBytes));
      yield;
    }
  }
  hash.update(bytes.subarray(hashed));
  return { bytes, hash: hash.digest('hex'), contentType };
}
