import type { JsonObject, ResourceObject } from './object.ts';

/**
 * Returns the object for a response: the stored object with the position of its last event as
 * `metadata.resourceVersion`.
 */
export function shownObject(object: ResourceObject, resourceVersion: string): JsonObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/** Returns the stored object from the bytes of a response: the inverse of `shownObject`. */
export function storedObject(answer: Uint8Array): ResourceObject {
  const shown = JSON.parse(
    Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('utf8'),
  ) as ResourceObject & { readonly metadata: { readonly resourceVersion: string } };
  const { resourceVersion: _shown, ...metadata } = shown.metadata;
  return { ...shown, metadata };
}

/**
 * Returns the response with the token in `status.token`. Only the response to the write that created a token contains
 * the token.
 */
export function withToken(answer: Uint8Array, token: string): Uint8Array {
  const shown = JSON.parse(
    Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('utf8'),
  ) as ResourceObject;
  const status = shown['status'];
  return Buffer.from(JSON.stringify({ ...shown, status: { ...(typeof status === 'object' ? status : {}), token } }));
}
