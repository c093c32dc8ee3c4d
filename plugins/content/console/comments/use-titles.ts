import { keepPreviousData, useQuery } from '@tanstack/vue-query';
import { useConsole, usePermission } from 'ledgerplane/console-kit';
import { computed, type ComputedRef } from 'vue';

import { pathOf } from '../listing/path-of.ts';
import { asTable, rowsOf, type Table } from '../listing/table.ts';
import { pageSize } from '../listing/use-listing.ts';
import { postsType } from '../posts/post-desk.ts';
import { escaped } from './comment-desk.ts';

type Published = { readonly items: readonly { readonly name: string; readonly title: string }[] };

/**
 * Returns the titles of the named posts, by name. A user without the right to list posts gets only the titles of
 * published posts.
 */
export function useTitles(posts: ComputedRef<readonly string[]>): ComputedRef<ReadonlyMap<string, string>> {
  const { client, domain } = useConsole();
  const { may } = usePermission();
  const type = postsType(domain);
  const names = computed(() => [...new Set(posts.value)].sort());
  const seesAll = computed(() => may({ verb: 'list', type }));
  const { data } = useQuery({
    queryKey: computed(() => ['content', 'titles', seesAll.value, names.value]),
    queryFn: async ({ signal }) => {
      if (seesAll.value) {
        const fieldSelector = `metadata.name in (${names.value.map(escaped).join(',')})`;
        const table = await client.request<Table>(pathOf(type), { query: { fieldSelector }, accept: asTable, signal });
        return new Map(rowsOf(table).map(({ metadata, cell }) => [metadata.name, String(cell('Title'))]));
      }
      const path = pathOf({ ...type, group: `api.${type.group}` });
      const query = { name: names.value, size: String(pageSize) };
      const published = await client.request<Published>(path, { query, signal });
      return new Map(published?.items.map(({ name, title }) => [name, title]));
    },
    enabled: computed(() => names.value.length > 0),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return computed(() => data.value ?? new Map<string, string>());
}
