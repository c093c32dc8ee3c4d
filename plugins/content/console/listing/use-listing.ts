import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/vue-query';
import type { TypeName } from 'ledgerplane/client';
import { computed, watch, type ComputedRef, type Ref } from 'vue';
import { useRoute, useRouter } from 'vue-router';

import { useChanges } from '../live/use-changes.ts';

export const pageSize = 20;

/** What a list shows. The address of its page has all of it. */
export type ListQuery<State extends string> = {
  readonly state: State;
  /** Words, or the name of a post, by which the list is narrowed; empty without one. */
  readonly filter: string;
  /** From 1. */
  readonly page: number;
  readonly size?: number;
};

export type ListPage<Item> = { readonly items: readonly Item[]; readonly total: number };

type Options<State extends string, Item> = {
  /** The address of the list. */
  readonly root: string;
  /** The first one is shown if the address names none. */
  readonly states: readonly [State, ...State[]];
  /** The name of the filter in the address. */
  readonly parameter: string;
  readonly key: readonly string[];
  readonly type: TypeName;
  readonly read: (query: ListQuery<State>, signal: AbortSignal) => Promise<ListPage<Item>>;
};

export type Listing<State extends string, Item> = {
  readonly states: readonly State[];
  readonly query: ComputedRef<ListQuery<State>>;
  /** The address of the list with other parameters: its first page, unless `changed` names another one. */
  readonly addressWith: (changed: Partial<ListQuery<State>>) => string;
  readonly data: Readonly<Ref<ListPage<Item> | undefined>>;
  readonly error: Readonly<Ref<Error | null>>;
  readonly retry: () => void;
  /** Reads the list again. */
  readonly refresh: () => Promise<void>;
  readonly pages: ComputedRef<number>;
};

/** A list in pages, which follows changes. */
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
  // The last entry of the last page may be removed.
  watch(data, (now) => {
    if (now?.items.length === 0 && query.value.page > 1)
      void router.replace(addressWith({ page: Math.max(1, pages.value) }));
  });
  return { states, query, addressWith, data, error, retry: () => void refetch(), refresh, pages };
}
