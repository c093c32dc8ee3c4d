import { keepPreviousData, useQuery } from '@tanstack/vue-query';
import { computed, type ComputedRef } from 'vue';

import { usePermission, useServer } from '../../server/use-server.ts';
import { usersType, type User } from './access-objects.ts';
import { escaped } from './use-access.ts';

const namesMax = 20;

/**
 * Returns the first user names that begin with a prefix; undefined while the names are unknown, or if the page's user
 * may not list users.
 */
export function useUserNames(
  prefix: () => string,
  isWanted: () => boolean = () => true,
): ComputedRef<readonly string[] | undefined> {
  const { client } = useServer();
  const { may } = usePermission();
  const { data } = useQuery({
    queryKey: computed(() => ['access', 'names', prefix()]),
    queryFn: async ({ signal }) => {
      const fieldSelector = prefix() === '' ? {} : { fieldSelector: `metadata.name^=${escaped(prefix())}` };
      const list = await client.list<User>(usersType, {
        page: 1,
        size: namesMax,
        sort: 'metadata.name,asc',
        ...fieldSelector,
        signal,
      });
      return list.items.map(({ metadata }) => metadata.name);
    },
    enabled: computed(() => isWanted() && may({ verb: 'list', type: usersType })),
    placeholderData: keepPreviousData,
  });
  return computed(() => data.value);
}
