import type { ObjectMetadata } from 'ledgerplane/client';

import type { ServedType } from '../../../server/served-types.ts';

/** `string` is before `boolean`; otherwise Vue converts the text `''` of a property to true. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export type JsonObject = { readonly [member: string]: Json };

/** An object in the form of a response. */
export type ShownObject = JsonObject & { readonly metadata: ObjectMetadata & JsonObject };

/** The members of the metadata that users write. The server sets all other members. */
const written = ['name', 'generateName', 'labels', 'annotations', 'finalizers', 'ownerReferences'];

/** Returns the part of an object that its editor shows, without the members that the server sets. */
export function editableOf(object: ShownObject, type: ServedType): JsonObject {
  const { metadata, status, ...rest } = object;
  const kept = Object.entries(metadata).filter(([name]) => written.includes(name));
  const hasOwnStatus = status !== undefined && !type.subresources.includes('status');
  const { apiVersion, kind, ...content } = rest;
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: Object.fromEntries(kept),
    ...content,
    ...(hasOwnStatus ? { status } : {}),
  };
}

/**
 * Returns the body of the write that replaces `base` by the edited object. The write fails if `base` has changed
 * meanwhile.
 */
export function replacementOf(edited: JsonObject, { metadata: { uid, resourceVersion } }: ShownObject): JsonObject {
  const { metadata } = edited;
  return { ...edited, metadata: { ...(isJsonObject(metadata) ? metadata : {}), uid, resourceVersion } };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
