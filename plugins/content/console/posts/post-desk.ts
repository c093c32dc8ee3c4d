import { ClientError, type TypeName } from 'ledgerplane/client';
import { useConsole, usePermission } from 'ledgerplane/console-kit';
import { computed, type ComputedRef } from 'vue';

import { pathOf } from '../listing/path-of.ts';
import { asTable, rowsOf, type Table } from '../listing/table.ts';
import { pageSize, type ListPage } from '../listing/use-listing.ts';
import { specOf, type Post, type PostDraft, type PostState, type PostSummary } from './post.ts';
import { selectorsOf, type PostQuery } from './post-query.ts';
import { summaryOf } from './post-summary.ts';

/** `all`: the posts of all authors, for editors. `own`: the posts of the user. */
export type Area = 'all' | 'own';

/**
 * The calls for posts: through the API of the type for all posts, or through separate routes for the user's own posts.
 */
export type PostDesk = {
  readonly area: Area;
  /** The type in the paths of the requests. The routes for own posts have their own group, and cannot be watched. */
  readonly type: TypeName;
  readonly states: readonly ['all', ...PostState[]];
  readonly mayCreate: ComputedRef<boolean>;
  readonly mayWrite: ComputedRef<boolean>;
  readonly mayPublish: ComputedRef<boolean>;
  readonly mayDelete: ComputedRef<boolean>;
  readonly list: (query: PostQuery, signal: AbortSignal) => Promise<ListPage<PostSummary>>;
  /** Returns null if the post does not exist, or if the desk is for own posts and the post belongs to another user. */
  readonly get: (name: string, signal?: AbortSignal) => Promise<Post | null>;
  readonly create: (draft: PostDraft) => Promise<Post>;
  /**
   * Patches the spec. `version` is the `resourceVersion` that the caller has read. Rejects with a conflict (409) if the
   * post has changed since this version.
   */
  readonly patch: (name: string, spec: Readonly<Record<string, unknown>>, version: string) => Promise<Post>;
  readonly publish: (name: string, action: 'publish' | 'unpublish', version: string) => Promise<Post>;
  readonly remove: (name: string, uid: string) => Promise<void>;
  readonly addressOf: (path: string) => string;
};

export function postsType(domain: string): TypeName {
  return { group: `content.${domain}`, version: 'v1alpha1', plural: 'posts' };
}

export function usePostDesk(area: Area): PostDesk {
  const { domain, username, addressOf } = useConsole();
  const { may } = usePermission();
  const posts = postsType(domain);
  const type = area === 'all' ? posts : { ...posts, group: `uc.api.${posts.group}` };
  const actions = area === 'all' ? { ...posts, group: `console.api.${posts.group}` } : type;
  const allowed = (verb: string): ComputedRef<boolean> => computed(() => may({ verb, type }));
  return {
    area,
    type,
    states: area === 'all' ? ['all', 'draft', 'review', 'published', 'bin'] : ['all', 'draft', 'review', 'published'],
    mayCreate: allowed('create'),
    mayWrite: allowed('patch'),
    mayDelete: allowed('delete'),
    mayPublish: computed(() => may({ verb: 'update', type: actions, subresource: 'publish' })),
    ...useCalls(pathOf(type), pathOf(actions), area === 'all' ? username : undefined),
    addressOf: (path) => addressOf(path, area === 'own' ? 'own' : undefined),
  };
}

type Calls = Pick<PostDesk, 'list' | 'get' | 'create' | 'patch' | 'publish' | 'remove'>;

/** `owner` is the owner of new posts; undefined if the server sets the owner. */
function useCalls(path: string, actions: string, owner: ComputedRef<string> | undefined): Calls {
  const { client } = useConsole();
  const at = (name: string): string => `${path}/${encodeURIComponent(name)}`;
  const answered = async (answer: Promise<Post | undefined>): Promise<Post> => {
    const post = await answer;
    if (post === undefined) throw new Error('the response is empty');
    return post;
  };
  return {
    list: async ({ page, size = pageSize, ...query }, signal) => {
      const parameters = { fieldSelector: selectorsOf(query), page: String(page), size: String(size) };
      if (owner === undefined) {
        const summaries = { ...parameters, summary: 'true' };
        return (await client.request<ListPage<PostSummary>>(path, { query: summaries, signal })) ?? noPosts;
      }
      const table = await client.request<Table>(path, { query: parameters, accept: asTable, signal });
      return { items: rowsOf(table).map(summaryOf), total: table?.total ?? 0 };
    },
    get: async (name, signal) => {
      try {
        return (await client.request<Post>(at(name), { signal })) ?? null;
      } catch (error) {
        if (error instanceof ClientError && error.status === 404) return null;
        throw error;
      }
    },
    create: async (draft) => {
      const spec = { ...specOf(draft), ...(owner === undefined ? {} : { owner: owner.value }) };
      return answered(client.request(path, { method: 'POST', body: { metadata: { generateName: 'post-' }, spec } }));
    },
    patch: async (name, spec, resourceVersion) =>
      answered(client.request(at(name), { method: 'PATCH', body: { metadata: { resourceVersion }, spec } })),
    publish: async (name, action, resourceVersion) => {
      const body = { metadata: { resourceVersion } };
      return answered(client.request(`${actions}/${encodeURIComponent(name)}/${action}`, { method: 'PUT', body }));
    },
    remove: async (name, uid) => {
      await client.request(at(name), { method: 'DELETE', body: { preconditions: { uid } } });
    },
  };
}

const noPosts: ListPage<PostSummary> = { items: [], total: 0 };
