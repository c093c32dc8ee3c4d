import type { ObjectMetadata, RemoteClient } from 'ledgerplane/client';

import { apiPath, type ServedType } from '../../../server/served-types.ts';
import type { TableQuery } from '../table/table-answer.ts';
import type { Chosen } from './bulk-run.ts';
import { chosenMax, chosenOf } from './row-selection.ts';

type MetadataList = { readonly items: readonly { readonly metadata: ObjectMetadata }[] };

const bareMetadata = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Returns the objects that match a query, in the order of the query, up to the maximum of a bulk action. */
export async function matchingObjects(
  client: RemoteClient,
  type: ServedType,
  { query, signal }: { readonly query: TableQuery; readonly signal: AbortSignal },
): Promise<readonly Chosen[]> {
  const list = await client.request<MetadataList>(apiPath(type), {
    query: { ...query, page: 1, size: chosenMax },
    accept: bareMetadata,
    signal,
  });
  return (list?.items ?? []).map(({ metadata }) => chosenOf({ object: { metadata } }));
}
