import type { ClientList } from '../client.ts';
import type { TypeName } from '../object.ts';
import type { PageParameters } from './parameters.ts';

/** Returns the body of a list response, in the form of lists of the generated APIs. */
export function listBody(
  { group, version, kind }: TypeName & { readonly kind: string },
  { items, total, resourceVersion }: ClientList<unknown>,
  { page: requestedPage, size }: PageParameters,
): object {
  const page = size === 0 ? 1 : requestedPage;
  const totalPages = size === 0 ? 1 : Math.ceil(total / size);
  const [hasNext, hasPrevious] = [page < totalPages, page > 1];
  return {
    apiVersion: `${group}/${version}`,
    kind: `${kind}List`,
    metadata: { resourceVersion },
    page,
    size,
    total,
    first: !hasPrevious,
    last: !hasNext,
    hasNext,
    hasPrevious,
    totalPages,
    items,
  };
}
