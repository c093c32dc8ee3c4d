import { computed, type ComputedRef, type WritableComputedRef } from 'vue';
import { useRoute, useRouter, type LocationQueryRaw } from 'vue-router';

import { pageLimits } from './paged-table.ts';
import type { TableQuery } from './table-answer.ts';

export type Sorting = { readonly field: string; readonly direction: 'asc' | 'desc' };

/**
 * The view of a table, stored in the address of the page. So the view can be shared, and the browser's history contains
 * the views.
 */
export type TableAddress = {
  readonly labelSelector: WritableComputedRef<string>;
  readonly fieldSelector: WritableComputedRef<string>;
  readonly sort: ComputedRef<Sorting | undefined>;
  /** The names of the chosen columns; undefined without a choice. */
  readonly columns: ComputedRef<readonly string[] | undefined>;
  readonly query: ComputedRef<TableQuery>;
  /** The number of rows of a page; undefined for a live table. */
  readonly limit: WritableComputedRef<number | undefined>;
  /** Changes the order by a field: from unsorted to ascending, then to descending, then back to unsorted. */
  readonly sortBy: (field: string) => void;
  readonly choose: (columns: readonly string[]) => void;
  readonly clear: () => void;
};

export function useTableAddress(): TableAddress {
  const route = useRoute();
  const router = useRouter();
  const read = (name: string): string => {
    const value = route.query[name];
    return typeof value === 'string' ? value : '';
  };
  const write = (changes: LocationQueryRaw): void => {
    const query = Object.entries({ ...route.query, ...changes }).filter(([, value]) => value !== '');
    void router.replace({ query: Object.fromEntries(query) });
  };
  const text = (name: string): WritableComputedRef<string> =>
    computed({
      get: () => read(name),
      set: (value) => {
        if (value !== read(name)) write({ [name]: value });
      },
    });
  const sort = computed(() => sortingOf(read('sort')));
  const labelSelector = text('labelSelector');
  const fieldSelector = text('fieldSelector');
  return {
    labelSelector,
    fieldSelector,
    sort,
    columns: computed(() => (read('columns') === '' ? undefined : read('columns').split(','))),
    query: computed(() => ({
      ...(labelSelector.value === '' ? {} : { labelSelector: labelSelector.value }),
      ...(fieldSelector.value === '' ? {} : { fieldSelector: fieldSelector.value }),
      ...(sort.value === undefined ? {} : { sort: `${sort.value.field},${sort.value.direction}` }),
    })),
    limit: computed({
      get: () => pageLimits.find((each) => String(each) === read('limit')),
      set: (limit) => {
        write({ limit: limit === undefined ? '' : String(limit) });
      },
    }),
    sortBy: (field) => {
      const { value: present } = sort;
      if (present?.field !== field) write({ sort: `${field},asc` });
      else write({ sort: present.direction === 'asc' ? `${field},desc` : '' });
    },
    choose: (columns) => {
      write({ columns: columns.join(',') });
    },
    clear: () => {
      write({ labelSelector: '', fieldSelector: '' });
    },
  };
}

function sortingOf(text: string): Sorting | undefined {
  const [field = '', direction] = text.split(',');
  if (field === '') return undefined;
  return { field, direction: direction === 'desc' ? 'desc' : 'asc' };
}
