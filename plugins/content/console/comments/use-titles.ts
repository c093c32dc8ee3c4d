import { keepPreviousData, useQuery } from '@tanstack/vue-query';
import { useConsole, usePermission } from 'ledgerplane/console-kit';
import { computed, type ComputedRef } from 'vue';

import { postsType } from '../posts/post-desk.ts';
import { escaped } from './comment-desk.ts';

/** A table has the titles of posts without their texts. */
const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1';

type Table = {
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
};

/** Returns the titles of posts by their names, if the user may list posts. */
export function useTitles(posts: ComputedRef<readonly string[]>): ComputedRef<ReadonlyMap<string, string>> {
  const { client, domain } = useConsole();
  const { may } = usePermission();
  const type = postsType(domain);
  const names = computed(() => [...new Set(posts.value)].sort());
  const { data } = useQuery({
    queryKey: computed(() => ['content', 'titles', names.value]),
    queryFn: async ({ signal }) => {
      const fieldSelector = `metadata.name in (${names.value.map(escaped).join(',')})`;
      const query = { fieldSelector, includeObject: 'None' };
      const path = `/apis/${type.group}/${type.version}/${type.plural}`;
      return titlesIn(await client.request<Table>(path, { query, accept: asTable, signal }));
    },
    enabled: computed(() => names.value.length > 0 && may({ verb: 'list', type })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return computed(() => data.value ?? new Map<string, string>());
}

function titlesIn(table: Table | undefined): ReadonlyMap<string, string> {
  const [name, title] = ['Name', 'Title'].map((each) =>
    (table?.columnDefinitions ?? []).findIndex((column) => column.name === each),
  );
  return new Map((table?.rows ?? []).map(({ cells }) => [String(cells[name ?? -1]), String(cells[title ?? -1])]));
}
