import { useQuery } from '@tanstack/vue-query';
import { ClientError } from 'ledgerplane/client';
import { computed, type ComputedRef } from 'vue';

import { apiPath, type ServedType } from '../../server/served-types.ts';
import { useServer, useTypes } from '../../server/use-server.ts';

/** The maximum number of counted types, which limits the requests of Home. */
const countedMax = 60;
/** The number of concurrent requests. A browser opens at most six connections to a server. */
const atOnce = 3;
const refreshMs = 60_000;

/** Returns a function that returns the number of objects of a type; undefined while it is unknown. */
export function useCounts(): ComputedRef<(type: ServedType) => number | undefined> {
  const { client, platform } = useServer();
  const { types } = useTypes();
  // The list of events has no total, so events are not counted.
  const counted = computed(() =>
    types.value
      .filter(({ group, plural }) => group !== `audit.${platform.domain}` || plural !== 'events')
      .slice(0, countedMax),
  );
  const { data } = useQuery({
    queryKey: computed(() => ['home', 'counts', counted.value.map((type) => apiPath(type)).join()]),
    queryFn: async ({ signal }) => {
      const counts = new Map<string, number>();
      const waiting = [...counted.value];
      const work = async (): Promise<void> => {
        for (let type = waiting.shift(); type !== undefined; type = waiting.shift()) {
          const path = apiPath(type);
          try {
            counts.set(path, (await client.list(type, { page: 1, size: 1, signal })).total);
          } catch (error) {
            // A type that cannot be counted is shown without a count. A lost connection fails the whole read.
            if (!(error instanceof ClientError)) throw error;
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      return counts;
    },
    placeholderData: (previous) => previous,
    staleTime: refreshMs,
    refetchInterval: refreshMs,
  });
  return computed(() => (type) => data.value?.get(apiPath(type)));
}
