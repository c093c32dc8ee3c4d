import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/vue-query';
import type { TypeName } from 'ledgerplane/client';
import { computed, watch, type ComputedRef, type Ref } from 'vue';
import { useRoute, useRouter } from 'vue-router';

import { useChanges } from '../live/use-changes.ts';

export const pageSize = 20;

/** The selection of a list. All members but `size` are in the address of the list's page. */
export type ListQuery<State extends string> = {
  readonly state: State;
  /** The words to search for, or the name of a post; empty for a list without a filter. */
  readonly filter: string;
  /** Counted from 1. */
  readonly page: number;
  readonly size?: number;
};

export type ListPage<Item> = { readonly items: readonly Item[]; readonly total: number };

type Options<State extends string, Item> = {
  /** The path of the list's page. */
  readonly root: string;
  /** The states of the tabs. The first state applies if the address contains no state. */
  readonly states: readonly [State, ...State[]];
  /** The name of the query parameter with the filter. */
  readonly parameter: string;
  readonly key: readonly string[];
  readonly type: TypeName;
  readonly read: (query: ListQuery<State>, signal: AbortSignal) => Promise<ListPage<Item>>;
};

export type Listing<State extends string, Item> = {
  readonly states: readonly State[];
  readonly query: ComputedRef<ListQuery<State>>;
  /** Returns the address of the list with changed parameters. The page is 1 unless `changed` contains a page. */
  readonly addressWith: (changed: Partial<ListQuery<State>>) => string;
  readonly data: Readonly<Ref<ListPage<Item> | undefined>>;
  readonly error: Readonly<Ref<Error | null>>;
  readonly retry: () => void;
  /** Invalidates the cached pages of the list, so that the present page is read again. */
  readonly refresh: () => Promise<void>;
  readonly pages: ComputedRef<number>;
};

/** Reads a list page by page, and reads it again after changes. The address of the browser selects the page. */
export function useListing<State extends string, Item>(options: Options<State, Item>): Listing<State, Item> {
  const { root, states, parameter, key, type, read } = options;
  const route = useRoute();
  const router = useRouter();
  const queries = useQueryClient();

  const query = computed<ListQuery<State>>(() => {
    const { state, page, [parameter]: filter } = route.query;
    return {
      state: states.find((each) => each === state) ?? states[0],
      filter: typeof filter === 'string' ? filter : '',
      page: Math.max(1, Math.trunc(Number(page)) || 1),
    };
  });
  const addressWith = (changed: Partial<ListQuery<State>>): string => {
    const { state, filter, page } = { ...query.value, page: 1, ...changed };
    const parameters = {
      ...(state === states[0] ? {} : { state }),
      ...(filter === '' ? {} : { [parameter]: filter }),
      ...(page === 1 ? {} : { page: String(page) }),
    };
    return router.resolve({ path: root, query: parameters }).fullPath;
  };

  const refresh = async (): Promise<void> => queries.invalidateQueries({ queryKey: key });
  const interval = useChanges(type, () => void refresh());
  const { data, error, refetch } = useQuery<ListPage<Item>>({
    queryKey: computed(() => [...key, query.value]),
    queryFn: async ({ signal }) => read(query.value, signal),
    placeholderData: keepPreviousData,
    refetchInterval: interval,
  });
  const pages = computed(() => Math.ceil((data.value?.total ?? 0) / pageSize));
  // Goes to the last page if the present page is empty, for example after a deletion.
  watch(data, (now) => {
    if (now?.items.length === 0 && query.value.page > 1)
      void router.replace(addressWith({ page: Math.max(1, pages.value) }));
  });
  return { states, query, addressWith, data, error, retry: () => void refetch(), refresh, pages };
}
