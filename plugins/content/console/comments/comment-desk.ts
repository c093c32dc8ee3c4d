import type { ObjectMetadata, TypeName } from 'ledgerplane/client';
import { useConsole, usePermission } from 'ledgerplane/console-kit';
import { computed, type ComputedRef } from 'vue';

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

export type CommentPage = { readonly items: readonly Comment[]; readonly total: number };
export type CommentQuery = {
  readonly state: CommentState;
  readonly post: string;
  readonly page: number;
  readonly size?: number;
};

export const pageSize = 20;

/** The routes of moderators that set each state. */
const actions: Readonly<Record<CommentState, string>> = { pending: 'unapprove', approved: 'approve', spam: 'spam' };

export type CommentDesk = {
  readonly type: TypeName;
  readonly mayJudge: ComputedRef<boolean>;
  readonly mayDelete: ComputedRef<boolean>;
  readonly list: (query: CommentQuery, signal: AbortSignal) => Promise<CommentPage>;
  readonly judge: (name: string, state: CommentState) => Promise<void>;
  readonly remove: (comment: Comment) => Promise<void>;
};

/** Where comments are read and judged: the routes of moderators, or the API of the type for those who manage it. */
export function useCommentDesk(): CommentDesk {
  const { client, domain } = useConsole();
  const { may } = usePermission();
  const type = { group: `content.${domain}`, version: 'v1alpha1', plural: 'comments' };
  const routes = { ...type, group: `console.api.${type.group}` };
  const mayModerate = computed(() => may({ verb: 'update', type: routes, subresource: 'approve' }));
  const mayManage = computed(() => may({ verb: 'patch', type }));
  const pathOf = ({ group, version, plural }: TypeName): string => `/apis/${group}/${version}/${plural}`;
  return {
    type,
    mayJudge: computed(() => mayModerate.value || mayManage.value),
    mayDelete: computed(() => may({ verb: 'delete', type })),
    list: async ({ state, post, page, size = pageSize }, signal) => {
      const steps = { page: String(page), size: String(size) };
      const path = pathOf(mayModerate.value ? routes : type);
      const query = mayModerate.value
        ? { state, ...(post === '' ? {} : { post }) }
        : { fieldSelector: selectorOf(state, post), sort: 'metadata.creationTimestamp,asc' };
      return (await client.request<CommentPage>(path, { query: { ...query, ...steps }, signal })) ?? noComments;
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

const noComments: CommentPage = { items: [], total: 0 };

function selectorOf(state: CommentState, post: string): readonly string[] {
  const about = post === '' ? [] : [`spec.post=${escaped(post)}`];
  return [`spec.state=${state}`, ...about];
}

/** Returns a value as selectors write it. */
export function escaped(value: string): string {
  return value.replaceAll(/[\\,=() \t\r\n]/gu, String.raw`\$&`);
}
