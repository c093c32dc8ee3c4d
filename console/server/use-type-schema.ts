import { useQuery } from '@tanstack/vue-query';
import { computed, type ComputedRef } from 'vue';

import { readTypeSchema, type TypeSchema } from './type-schema.ts';
import type { ServedType } from './served-types.ts';
import { useServer } from './use-server.ts';

/** Returns the schema of a type; undefined while it is being read, null if it cannot be read or does not exist. */
export function useTypeSchema(type: () => ServedType | undefined): ComputedRef<TypeSchema | null | undefined> {
  const { client } = useServer();
  const { data, error } = useQuery({
    queryKey: computed(() => ['schema', type()?.group, type()?.version, type()?.plural]),
    queryFn: async ({ signal }) => {
      const wanted = type();
      return wanted === undefined ? null : readTypeSchema(client, wanted, signal);
    },
    enabled: computed(() => type() !== undefined),
    staleTime: 60_000,
  });
  return computed(() => data.value ?? (error.value === null ? data.value : null));
}
