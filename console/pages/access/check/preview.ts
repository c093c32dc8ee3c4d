import { useQuery } from '@tanstack/vue-query';
import { computed, type ComputedRef } from 'vue';

import type { Rule } from '../../../server/rights.ts';
import { useServer } from '../../../server/use-server.ts';

export const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

/** A request in the form of access reviews. */
export type ReviewedRequest =
  | {
      readonly resourceAttributes: {
        readonly verb: string;
        readonly group: string;
        readonly resource: string;
        readonly name?: string;
        readonly subresource?: string;
      };
    }
  | { readonly nonResourceAttributes: { readonly verb: string; readonly path: string } };

export type Decision = {
  readonly allowed: boolean;
  readonly reason: string;
  /** The role with the deciding rule. */
  readonly role?: string;
  readonly isTemplate?: boolean;
  /** The number of the rule in the role, counted from 1. */
  readonly ruleNumber?: number;
  readonly rule?: Rule;
  /** The roles on the way from a bound role to the role with the rule. */
  readonly chain?: readonly string[];
  readonly bindings?: readonly string[];
  /** The narrowest rule that would allow the request. */
  readonly missing?: Rule;
};

export type MatrixRow = {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly verbs: readonly string[];
};

/** A custom route of a plugin. */
export type RouteRow = {
  readonly plugin: string;
  readonly method: string;
  /** A parameter is `{name}`. */
  readonly path: string;
  readonly verb: string;
  readonly allowed: boolean;
};

/** The access in one state of roles and bindings. */
export type PreviewedState = {
  readonly roles: readonly string[];
  readonly isSuperAdministrator: boolean;
  readonly decisions: readonly Decision[];
  readonly matrix?: readonly MatrixRow[];
  readonly routes?: readonly RouteRow[];
  readonly isComplete?: boolean;
};

export type Preview = { readonly current: PreviewedState; readonly proposed?: PreviewedState };

export type PreviewBody = {
  readonly user?: string;
  readonly role?: string;
  readonly requests?: readonly ReviewedRequest[];
  readonly matrix?: boolean;
  readonly proposed?: {
    readonly roles?: readonly object[];
    readonly boundRoles?: readonly string[];
  };
};

/**
 * Requests decisions from the server. While a changed question about the same subject is pending, the last response
 * remains visible.
 */
export function usePreview(body: () => PreviewBody | undefined): {
  readonly preview: ComputedRef<Preview | undefined>;
  /** Whether the response belongs to the present question. */
  readonly isCurrent: ComputedRef<boolean>;
  readonly error: ComputedRef<Error | null>;
  readonly retry: () => void;
} {
  const { client, platform } = useServer();
  const key = computed(() => ['access', 'preview', body()?.user ?? '', body()?.role ?? '', JSON.stringify(body())]);
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const path = `/apis/api.console.${platform.domain}/v1alpha1/accesspreviews`;
      return (await client.request<Preview>(path, { method: 'POST', body: body(), signal })) ?? null;
    },
    enabled: computed(() => body() !== undefined),
    placeholderData: (previous, query) =>
      query?.queryKey[2] === key.value[2] && query?.queryKey[3] === key.value[3] ? previous : undefined,
  });
  return {
    preview: computed(() => data.value ?? undefined),
    isCurrent: computed(() => !isPlaceholderData.value),
    error: computed(() => error.value),
    retry: () => void refetch(),
  };
}
