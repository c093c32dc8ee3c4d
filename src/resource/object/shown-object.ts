import type { JsonObject, ResourceObject } from './object.ts';

/** An object as its readers see it: what is stored, and the position of its last event as `metadata.resourceVersion`. */
export function shownObject(object: ResourceObject, resourceVersion: string): JsonObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/** The inverse, of an answer's bytes. */
export function storedObject(answer: Uint8Array): ResourceObject {
  const shown = JSON.parse(Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('utf8')) as ResourceObject & { readonly metadata: { readonly resourceVersion: string } };
  const { resourceVersion: _shown, ...metadata } = shown.metadata;
  return { ...shown, metadata };
}

/** An answer's bytes with `status.token`: only the answer of the write that drew a token shows it. */
export function withToken(answer: Uint8Array, token: string): Uint8Array {
  const shown = JSON.parse(Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString('utf8')) as ResourceObject;
  const status = shown['status'];
  return Buffer.from(JSON.stringify({ ...shown, status: { ...(typeof status === 'object' ? status : {}), token } }));
}
