import type { RemoteClient } from 'ledgerplane/client';

import { typePath } from '../../server/served-types.ts';
import type { Match, ObjectSearch } from './find-matches.ts';

const objectsMax = 8;

/** Reads the first objects with names that start with the prefix. */
export async function findObjects(
  client: RemoteClient,
  wanted: ObjectSearch | undefined,
  signal: AbortSignal,
): Promise<readonly Match[]> {
  if (wanted === undefined) return [];
  const { type, prefix } = wanted;
  const pages = client.pages(type, {
    ...(prefix === '' ? {} : { fieldSelector: `metadata.name^=${escaped(prefix)}` }),
    sort: prefix === '' ? undefined : 'metadata.name',
    limit: objectsMax,
    signal,
  });
  const { value } = await pages.next();
  return (value?.items ?? []).map(({ metadata: { name } }) => ({
    kind: 'object',
    title: name,
    place: type.kind,
    to: `/objects/${typePath(type)}/${encodeURIComponent(name)}`,
  }));
}

/** Escapes the characters with a meaning in selectors. */
function escaped(value: string): string {
  return value.replaceAll(/[\\,=()]/gu, String.raw`\$&`);
}
