import type { RemoteClient } from 'ledgerplane/client';

import { typePath, type ServedType } from '../../server/served-types.ts';
import type { Match, ObjectSearch } from './find-matches.ts';

/** The maximum number of found objects if one type is searched. */
const objectsMax = 8;
/** The maximum number of found objects of each type if several types are searched. */
const objectsOfTypeMax = 3;
/** The maximum number of types that one search reads. */
const typesMax = 60;
/**
 * The number of concurrent lists. A browser opens at most six connections to a server, and watches use some of them.
 */
const listsMax = 3;

/** Reads the first objects with names that start with the prefix, by type in the order of the search. */
export async function findObjects(
  client: RemoteClient,
  { types, prefix }: ObjectSearch,
  signal: AbortSignal,
): Promise<readonly Match[]> {
  const [only, ...others] = types;
  if (only === undefined) return [];
  if (others.length === 0) return findOfType(client, { type: only, prefix, limit: objectsMax }, signal);
  const searched = types.slice(0, typesMax);
  const found: (readonly Match[])[] = [];
  const remaining = searched.entries();
  const search = async (): Promise<void> => {
    for (const [index, type] of remaining)
      found[index] = await findOfType(client, { type, prefix, limit: objectsOfTypeMax }, signal).catch(() => []);
  };
  await Promise.all(Array.from({ length: listsMax }, search));
  signal.throwIfAborted();
  return found.flat();
}

type Search = { readonly type: ServedType; readonly prefix: string; readonly limit: number };

async function findOfType(
  client: RemoteClient,
  { type, prefix, limit }: Search,
  signal: AbortSignal,
): Promise<readonly Match[]> {
  const pages = client.pages(type, {
    ...(prefix === '' ? {} : { fieldSelector: `metadata.name^=${escaped(prefix)}` }),
    sort: prefix === '' ? undefined : 'metadata.name',
    limit,
    signal,
  });
  const { value } = await pages.next();
  return (value?.items ?? []).map(({ metadata: { name } }) => ({
    kind: 'object',
    title: name,
    place: type.title,
    to: `/objects/${typePath(type)}/${encodeURIComponent(name)}`,
  }));
}

/** Escapes the characters with a meaning in selectors. */
function escaped(value: string): string {
  return value.replaceAll(/[\\,=()]/gu, String.raw`\$&`);
}
