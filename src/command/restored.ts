import { draftOf, type Draft } from '../resource/object/draft.ts';
import type { JsonObject, Metadata, ResourceObject } from '../resource/object/object.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';

type Kind = Pick<ResourceType, 'apiVersion' | 'kind'>;

/**
 * Returns a draft, like that of a PUT, with the labels, annotations and members of an earlier state. Finalizers, owners
 * and the status are taken from the present object.
 */
export function restoredDraft(current: ResourceObject, past: ResourceObject, type: Kind): Draft {
  const { finalizers, ownerReferences } = current.metadata;
  const metadata = {
    ...restoredMetadata(past),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
  const status = current['status'];
  return draftOf({ ...restoredObject(past, type), metadata, ...(status === undefined ? {} : { status }) });
}

/** Returns the body of a request that creates a deleted object again, without finalizers, owners and status. */
export function restoredObject(past: ResourceObject, { apiVersion, kind }: Kind): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, status: _status, ...members } = past;
  return { apiVersion, kind, metadata: restoredMetadata(past), ...members };
}

function restoredMetadata({
  metadata: { name, labels, annotations },
}: ResourceObject): Pick<Metadata, 'name' | 'labels' | 'annotations'> {
  return {
    name,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
