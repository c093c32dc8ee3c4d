import { ClientError, type PluginObject, type TypeName } from '../plugin/api/plugin.ts';
import { decodeList, metadataOf, type ListPage } from './decode-answer.ts';
import { pathOf, type Query, type Requests } from './requests.ts';

/** The query of a list that is read page by page. */
export type PagesQuery = {
  readonly labelSelector?: string | readonly string[] | undefined;
  readonly fieldSelector?: string | readonly string[] | undefined;
  readonly sort?: string | readonly string[] | undefined;
  /** A position of the log, or a time (RFC 3339), at which the objects are read. */
  readonly at?: string | undefined;
  /** The number of objects per page; 500 by default. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

const limitDefault = 500;
/** The maximum number of times that a list starts again after an expired continue token, before the list fails. */
const restartsMax = 5;

/**
 * Yields the pages of a list. Each page is requested when the previous page has been consumed. If a continue token
 * expires (410), the list starts again and skips the objects that have been yielded.
 */
export async function* pagesOf<T = PluginObject>(
  requests: Requests,
  type: TypeName,
  { limit = limitDefault, signal, ...query }: PagesQuery,
): AsyncGenerator<ListPage<T>, void, undefined> {
  const yielded = new Set<string>();
  let token: string | undefined;
  for (let restarts = 0; ;) {
    try {
      const page = await pageAt<T>(requests, pathOf(type), { ...query, limit, continue: token }, signal);
      const items = page.items.filter((object) => !yielded.has(metadataOf(object).uid));
      for (const object of items) yielded.add(metadataOf(object).uid);
      yield { ...page, items };
      token = page.continue;
      if (token === undefined) return;
    } catch (error) {
      const hasExpired = token !== undefined && error instanceof ClientError && error.status === 410;
      if (!hasExpired || restarts >= restartsMax) throw error;
      restarts += 1;
      token = undefined;
    }
  }
}

async function pageAt<T>(
  requests: Requests,
  path: string,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<ListPage<T>> {
  return decodeList<T>(await requests.call(path, { query, signal }));
}
