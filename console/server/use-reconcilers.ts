import { useQuery } from '@tanstack/vue-query';
import { toValue, type MaybeRefOrGetter } from 'vue';

import { useServer } from './use-server.ts';

type Sample<T> = { readonly total: number; readonly items: readonly T[] };

/** The state of a reconciler on the node that responds. */
export type ReconcilerState = {
  /** The name of the plugin, or `platform`. */
  readonly plugin: string;
  readonly name: string;
  readonly type?: string;
  readonly queued: number;
  readonly running: number;
  readonly delayed: number;
  readonly failing: Sample<{
    readonly name: string;
    readonly attempts: number;
    readonly failedAt: string;
    readonly error: string;
  }>;
  readonly stuck: Sample<{ readonly name: string }>;
  readonly slowed: Sample<{ readonly name: string; readonly reason: string }>;
  readonly steps: Readonly<Record<'settled' | 'again' | 'failed' | 'stuck', number>>;
  readonly lastSuccessAt?: string;
};

export type ReconcilerStates = {
  readonly node: string;
  readonly isLeader: boolean;
  readonly items: readonly ReconcilerState[];
};

const refreshMs = 5_000;

/** Reads the reconcilers of the node that responds, every five seconds. */
export function useReconcilers(
  enabled: MaybeRefOrGetter<boolean> = true,
): ReturnType<typeof useQuery<ReconcilerStates | undefined>> {
  const { client, platform } = useServer();
  return useQuery({
    queryKey: ['reconcilers'],
    queryFn: async ({ signal }) =>
      client.request<ReconcilerStates>(`/apis/api.console.${platform.domain}/v1alpha1/reconcilers`, { signal }),
    enabled: () => toValue(enabled),
    refetchInterval: refreshMs,
  });
}
