import type { ObjectMetadata, TypeName } from 'ledgerplane/client';
import { useConsole, usePermission } from 'ledgerplane/console-kit';
import { computed, type ComputedRef } from 'vue';

import { pathOf } from '../listing/path-of.ts';
import { pageSize, type ListPage, type ListQuery } from '../listing/use-listing.ts';

export const commentStates = ['pending', 'approved', 'spam'] as const;
export type CommentState = (typeof commentStates)[number];

export type Comment = {
  readonly metadata: ObjectMetadata;
  readonly spec: {
    readonly post: string;
    readonly author?: string;
    readonly text: string;
    readonly state?: CommentState;
  };
};

/** The action of the moderation routes that sets each state. */
const actions: Readonly<Record<CommentState, string>> = { pending: 'unapprove', approved: 'approve', spam: 'spam' };

export type CommentDesk = {
  readonly type: TypeName;
  readonly mayJudge: ComputedRef<boolean>;
  readonly mayDelete: ComputedRef<boolean>;
  /** `filter` is the name of a post. */
  readonly list: (query: ListQuery<CommentState>, signal: AbortSignal) => Promise<ListPage<Comment>>;
  readonly judge: (name: string, state: CommentState) => Promise<void>;
  readonly remove: (comment: Comment) => Promise<void>;
};

/**
 * Returns the calls for comments. They use the moderation routes if the user may moderate, otherwise the API of the
 * type.
 */
export function useCommentDesk(): CommentDesk {
  const { client, domain } = useConsole();
  const { may } = usePermission();
  const type = { group: `content.${domain}`, version: 'v1alpha1', plural: 'comments' };
  const routes = { ...type, group: `console.api.${type.group}` };
  const mayModerate = computed(() => may({ verb: 'update', type: routes, subresource: 'approve' }));
  const mayManage = computed(() => may({ verb: 'patch', type }));
  return {
    type,
    mayJudge: computed(() => mayModerate.value || mayManage.value),
    mayDelete: computed(() => may({ verb: 'delete', type })),
    list: async ({ state, filter: post, page, size = pageSize }, signal) => {
      const steps = { page: String(page), size: String(size) };
      const path = pathOf(mayModerate.value ? routes : type);
      const query = mayModerate.value
        ? { state, ...(post === '' ? {} : { post }) }
        : { fieldSelector: [`spec.state=${state}`, ...selectorOf(post)], sort: 'metadata.creationTimestamp,asc' };
      return (await client.request<ListPage<Comment>>(path, { query: { ...query, ...steps }, signal })) ?? noComments;
    },
    judge: async (name, state) => {
      const at = `/${encodeURIComponent(name)}`;
      if (mayModerate.value) await client.request(`${pathOf(routes)}${at}/${actions[state]}`, { method: 'PUT' });
      else await client.request(pathOf(type) + at, { method: 'PATCH', body: { spec: { state } } });
    },
    remove: async ({ metadata: { name, uid } }) => {
      await client.delete(type, name, { uid });
    },
  };
}

/** The badge colour of each state. */
export const stateTones = { pending: 'neutral', approved: 'good', spam: 'bad' } as const;

export type OwnCommentDesk = Pick<CommentDesk, 'type' | 'remove'> & {
  readonly list: (query: ListQuery<CommentState | 'all'>, signal: AbortSignal) => Promise<ListPage<Comment>>;
};

/** Returns the calls for the user's own comments. Every authenticated user has the rights for these calls. */
export function useOwnCommentDesk(): OwnCommentDesk {
  const { client, domain } = useConsole();
  const type = { group: `uc.api.content.${domain}`, version: 'v1alpha1', plural: 'comments' };
  return {
    type,
    list: async ({ state, filter, page, size = pageSize }, signal) => {
      const query = {
        fieldSelector: state === 'all' ? selectorOf(filter) : [`spec.state=${state}`, ...selectorOf(filter)],
        sort: 'metadata.creationTimestamp,desc',
        page: String(page),
        size: String(size),
      };
      return (await client.request<ListPage<Comment>>(pathOf(type), { query, signal })) ?? noComments;
    },
    remove: async ({ metadata: { name, uid } }) => {
      const at = `${pathOf(type)}/${encodeURIComponent(name)}`;
      await client.request(at, { method: 'DELETE', body: { preconditions: { uid } } });
    },
  };
}

const noComments: ListPage<Comment> = { items: [], total: 0 };

function selectorOf(post: string): readonly string[] {
  return post === '' ? [] : [`spec.post=${escaped(post)}`];
}

/** Escapes a value for a field selector. */
export function escaped(value: string): string {
  return value.replaceAll(/[\\,=() \t\r\n]/gu, String.raw`\$&`);
}
