import { useQuery } from '@tanstack/vue-query';
import { computed, toValue, type ComputedRef, type MaybeRefOrGetter } from 'vue';

import { usePermission, useServer } from '../../../server/use-server.ts';

/** The figures of one node in the last hour, as columns of equal length with the oldest sample first. */
export type Samples = {
  /** The id of the node that sent the response. */
  readonly node: string;
  readonly intervalMs: number;
  /** The times of the samples in epoch milliseconds. */
  readonly time: readonly number[];
  /** The position of the last folded event, as a decimal number. */
  readonly position: readonly string[];
  /** The values by name of the figure; null for an unknown value. */
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
};

const refreshMs = 10_000;

/** Returns the figures of the last hour, read again at intervals; undefined while the figures are unknown. */
export function useSamples(enabled: MaybeRefOrGetter<boolean> = true): {
  readonly mayRead: ComputedRef<boolean>;
  readonly samples: ComputedRef<Samples | undefined>;
  readonly error: ComputedRef<Error | null>;
  readonly retry: () => void;
} {
  const { client, platform } = useServer();
  const { may } = usePermission();
  const type = { group: `api.console.${platform.domain}`, version: 'v1alpha1', plural: 'samples' };
  const mayRead = computed(() => may({ verb: 'list', type }));
  const { data, error, refetch } = useQuery({
    queryKey: ['home', 'samples'],
    queryFn: async ({ signal }) =>
      client.request<Samples>(`/apis/${type.group}/${type.version}/${type.plural}`, { signal }),
    enabled: () => mayRead.value && toValue(enabled),
    refetchInterval: refreshMs,
    structuralSharing: false,
  });
  return {
    mayRead,
    samples: computed(() => data.value),
    error: computed(() => error.value),
    retry: () => void refetch(),
  };
}

/** Returns the last known value of a figure. */
export function latestOf(samples: Samples | undefined, name: string): number | undefined {
  return samples?.values[name]?.findLast((value) => value !== null) ?? undefined;
}

/** Returns the position of the log's last event at the time of the last sample; undefined while it is unknown. */
export function headOf(samples: Samples | undefined): bigint | undefined {
  const lags = samples?.values['lag'] ?? [];
  // The lag of the last sample may be unknown while the node still waits for a response of the log.
  const place = lags.findLastIndex((lag) => lag !== null);
  const position = samples?.position[place];
  return position === undefined ? undefined : BigInt(position) + BigInt(Math.round(lags[place] ?? 0));
}
