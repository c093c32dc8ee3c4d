import type { ObjectMetadata, RemoteClient } from 'ledgerplane/client';

import { apiPath, type ServedType } from '../../../server/served-types.ts';
import { escapedValue } from './escaped-value.ts';

const namesMax = 20;
const bareMetadata = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Returns the first names that begin with a prefix. */
export async function readNames(
  client: RemoteClient,
  type: ServedType,
  { prefix, signal }: { readonly prefix: string; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const list = await client.request<{ readonly items: readonly { readonly metadata: ObjectMetadata }[] }>(
    apiPath(type),
    {
      query: {
        ...(prefix === '' ? {} : { fieldSelector: `metadata.name^=${escapedValue(prefix)}` }),
        sort: 'metadata.name,asc',
        limit: namesMax,
      },
      accept: bareMetadata,
      signal,
    },
  );
  return (list?.items ?? []).map(({ metadata: { name } }) => name);
}
