import type { JsonObject, ResourceObject } from './object.ts';

/** An object as readers see it: the stored object with the position of its last event as `metadata.resourceVersion`. */
export function shownObject(object: ResourceObject, resourceVersion: string): JsonObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/** The stored object, from the bytes of its response: the inverse of `shownObject`. */
export function storedObject(answer: Uint8Array): ResourceObject {
  const shown = JSON.parse(
    Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('utf8'),
  ) as ResourceObject & { readonly metadata: { readonly resourceVersion: string } };
  const { resourceVersion: _shown, ...metadata } = shown.metadata;
  return { ...shown, metadata };
}

/** The response with `status.token`: only the write that generated a token returns it. */
export function withToken(answer: Uint8Array, token: string): Uint8Array {
  const shown = JSON.parse(
    Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('utf8'),
  ) as ResourceObject;
  const status = shown['status'];
  return Buffer.from(JSON.stringify({ ...shown, status: { ...(typeof status === 'object' ? status : {}), token } }));
}
