import { useMutation, useQuery, useQueryClient } from '@tanstack/vue-query';
import { ClientError, type ObjectMetadata } from 'ledgerplane/client';
import { computed, type ComputedRef } from 'vue';

import { useServer } from '../../server/use-server.ts';

/** A log-in of the user in a browser. */
export type OwnSession = {
  readonly metadata: ObjectMetadata;
  readonly status: {
    readonly expiresAt: string;
    readonly lastUsedAt?: string;
    readonly address?: string;
    readonly userAgent?: string;
  };
};
type Sessions = { readonly items: readonly OwnSession[] };

/** The page size, which exceeds the maximum number of sessions that the server keeps for a user. */
const listed = { page: 1, size: 200 };

/** Returns the sessions of the page's user: this session first, then the others by their last use. */
export function useSessions(): {
  readonly sessions: ComputedRef<readonly OwnSession[] | undefined>;
  /** The name of this page's session. */
  readonly current: ComputedRef<string | undefined>;
  readonly error: ComputedRef<Error | null>;
  readonly refetch: () => Promise<unknown>;
  /** Ends the session with this name; without a name, all other sessions. Returns the number of ended sessions. */
  readonly end: (name?: string) => Promise<number>;
} {
  const { client, platform } = useServer();
  const queries = useQueryClient();
  const path = `/apis/uc.api.${platform.domain}/v1alpha1/sessions`;
  const { data, error, refetch } = useQuery({
    queryKey: ['profile', 'sessions'],
    queryFn: async ({ signal }) => {
      const [all, own] = await Promise.all([
        client.request<Sessions>(path, { query: listed, signal }),
        client.request<OwnSession>(`${path}/-`, { signal }),
      ]);
      return { items: all?.items ?? [], current: own?.metadata.name };
    },
  });
  const current = computed(() => data.value?.current);
  const ending = useMutation({
    mutationFn: async (name: string | undefined) => {
      if (name === undefined) return (await client.request<Sessions>(path, { method: 'DELETE' }))?.items.length ?? 0;
      try {
        await client.request(`${path}/${encodeURIComponent(name)}`, { method: 'DELETE' });
      } catch (failure) {
        // The session has expired or was ended elsewhere.
        if (!(failure instanceof ClientError && failure.status === 404)) throw failure;
      }
      return 1;
    },
    onSettled: async () => queries.invalidateQueries({ queryKey: ['profile', 'sessions'] }),
  });
  return {
    sessions: computed(() => data.value?.items.toSorted((left, right) => order(left, right, current.value))),
    current,
    error: computed(() => error.value),
    refetch,
    end: async (name) => ending.mutateAsync(name),
  };
}

function order(left: OwnSession, right: OwnSession, current: string | undefined): number {
  if (left.metadata.name === current) return -1;
  if (right.metadata.name === current) return 1;
  return usedAt(right).localeCompare(usedAt(left));
}

function usedAt({ metadata, status }: OwnSession): string {
  return status.lastUsedAt ?? metadata.creationTimestamp;
}
