import { useQuery, useQueryClient } from '@tanstack/vue-query';
import { computed, inject, watch, type InjectionKey } from 'vue';

import { useServer } from '../server/use-server.ts';
import type { FrontEnds } from './front-ends.ts';
import { readFrontEnds } from './listed-front-end.ts';

export const frontEndsKey: InjectionKey<FrontEnds> = Symbol('front ends');

/** The interval in milliseconds between two reads of the list, so that a started plugin appears without a reload. */
const refreshMs = 5_000;

export function useFrontEnds(): FrontEnds {
  const frontEnds = inject(frontEndsKey);
  if (frontEnds === undefined) throw new Error('the page has no front ends');
  return frontEnds;
}

/** Keeps the front ends of the page equal to the server's list. Only the shell calls this function, once. */
export function useListedFrontEnds(): void {
  const frontEnds = useFrontEnds();
  const server = useServer();
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['front-ends'],
    queryFn: async ({ signal }) => readFrontEnds(server.client, server.platform.domain, signal),
    enabled: computed(() => server.session.status.value === 'user'),
    refetchInterval: refreshMs,
    refetchOnWindowFocus: 'always',
    staleTime: refreshMs,
  });
  watch(
    data,
    (list, before) => {
      if (list === undefined) return;
      frontEnds.follow(list);
      // A change of plugins also changes types and roles, so both are read again.
      if (before !== undefined)
        for (const key of ['types', 'rights']) void queries.invalidateQueries({ queryKey: [key] });
    },
    { immediate: true },
  );
}
