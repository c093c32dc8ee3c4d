import type { LogPosition } from '../../log/log.ts';
import type { ListPage } from '../../read/objects.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { Representation } from '../representation/representation.ts';
import { encodeToken } from './continue-token.ts';
import type { ListRequest, Paging } from './decode-list-query.ts';

/** Returns a list response up to its first item. `form` is undefined for plain objects. */
export function envelopeHead(
  request: ListRequest,
  page: Omit<ListPage, 'items'>,
  position: LogPosition,
  form: Representation | undefined,
): string {
  const head = {
    ...listKindOf(request.identity.type, form),
    metadata: metadataOf(request, page, position),
    ...counted(request.paging, page),
  };
  return `${JSON.stringify(head).slice(0, -1)}${form?.listOpening ?? listOpening}`;
}

export const listOpening = ',"items":[';

export function listKindOf(type: ResourceType, form: Representation | undefined): Representation['listKind'] {
  return form?.listKind ?? { apiVersion: type.apiVersion, kind: `${type.kind}List` };
}

export const envelopeTail = ']}';

function metadataOf(request: ListRequest, page: Omit<ListPage, 'items'>, position: LogPosition): object {
  const { paging } = request;
  const first = paging.kind === 'chain' ? (paging.token?.position ?? position) : position;
  const metadata = { resourceVersion: first.toString() };
  if (paging.kind !== 'chain' || page.next === undefined) return metadata;
  const token = {
    position: first,
    after: page.next,
    page: (paging.token?.page ?? 1) + 1,
  };
  return { ...metadata, continue: encodeToken(token, request.identity), remainingItemCount: page.remaining };
}

function counted(paging: Paging, { total, next }: Omit<ListPage, 'items'>): object {
  switch (paging.kind) {
    case 'all':
      return ends({ page: 1, size: 0, total, totalPages: 1 }, false);
    case 'page': {
      const totalPages = Math.ceil(total / paging.size);
      return ends({ page: paging.page, size: paging.size, total, totalPages }, paging.page < totalPages);
    }
    case 'chain': {
      // `hasNext` does not depend on the counts, because the counts may change between two pages of a chain.
      const page = paging.token?.page ?? 1;
      const totalPages = paging.limit === 0 ? page : Math.ceil(total / paging.limit);
      return ends({ page, size: paging.limit, total, totalPages }, next !== undefined);
    }
  }
}

type PageCounts = {
  readonly page: number;
  readonly size: number;
  readonly total: number;
  readonly totalPages: number;
};

function ends(counts: PageCounts, hasNext: boolean): object {
  const { page, size, total, totalPages } = counts;
  const hasPrevious = page > 1;
  return {
    page,
    size,
    total,
    first: !hasPrevious,
    last: !hasNext,
    hasNext,
    hasPrevious,
    totalPages,
  };
}
