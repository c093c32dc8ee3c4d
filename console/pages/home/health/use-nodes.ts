import { useQuery } from '@tanstack/vue-query';
import { computed, type ComputedRef } from 'vue';

import { usePermission, useServer } from '../../../server/use-server.ts';

/** A node of the platform. Nodes of older versions lack the optional members. */
export type PlatformNode = {
  readonly id: string;
  readonly host?: string;
  readonly version?: string;
  readonly since?: string;
  readonly position?: string;
  readonly lastSeen: string;
  readonly isLive: boolean;
  readonly isLeader: boolean;
};

export type PlatformNodes = {
  /** The id of the node that sent the response. */
  readonly node: string;
  readonly items: readonly PlatformNode[];
};

const refreshMs = 10_000;

/** Returns the nodes of the platform, read again at intervals; undefined while the nodes are unknown. */
export function useNodes(): {
  readonly mayRead: ComputedRef<boolean>;
  readonly nodes: ComputedRef<PlatformNodes | undefined>;
  readonly error: ComputedRef<Error | null>;
  readonly retry: () => void;
} {
  const { client, platform } = useServer();
  const { may } = usePermission();
  const type = { group: `api.console.${platform.domain}`, version: 'v1alpha1', plural: 'nodes' };
  const mayRead = computed(() => may({ verb: 'list', type }));
  const { data, error, refetch } = useQuery({
    queryKey: ['home', 'nodes'],
    queryFn: async ({ signal }) =>
      client.request<PlatformNodes>(`/apis/${type.group}/${type.version}/${type.plural}`, { signal }),
    enabled: mayRead,
    refetchInterval: refreshMs,
  });
  return {
    mayRead,
    nodes: computed(() => data.value),
    error: computed(() => error.value),
    retry: () => void refetch(),
  };
}
