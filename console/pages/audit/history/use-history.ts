import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/vue-query';
import type { TypeName } from 'ledgerplane/client';
import { computed, watch, type ComputedRef } from 'vue';

import { apiPath } from '../../../server/served-types.ts';
import { useServer } from '../../../server/use-server.ts';
import { isLater, readEventPage, type HistoryEntry, type PastObject } from '../events/audit-event.ts';
import { differences, type Difference } from '../events/differences.ts';

/** An entry of a history, with its differences from the entry before. */
export type Version = {
  readonly entry: HistoryEntry;
  readonly differences: readonly Difference[];
  /** Whether the entry is the last one of an earlier object with the same name. */
  readonly endsEarlierLife: boolean;
};

const pageEntries = 25;
const newestMs = 5_000;

/** Reads the history of an object, newest version first, and follows new versions. */
export function useHistory(place: () => { readonly type: TypeName; readonly name: string }): {
  readonly versions: ComputedRef<readonly Version[]>;
  readonly isPending: ComputedRef<boolean>;
  readonly error: ComputedRef<Error | null>;
  readonly hasMore: ComputedRef<boolean>;
  readonly isLoadingMore: ComputedRef<boolean>;
  loadMore(): void;
  refresh(): Promise<void>;
} {
  const { client } = useServer();
  const queries = useQueryClient();
  const path = computed(() => apiPath(place().type, place().name, 'history'));
  const key = computed(() => ['audit', 'history', path.value]);
  const read = async (query: Readonly<Record<string, string | number | undefined>>, signal: AbortSignal) =>
    readEventPage<HistoryEntry>(client, path.value, { query: { sort: 'position,desc', ...query }, signal });
  const pages = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) =>
      read({ limit: pageEntries, include: 'object', continue: pageParam === '' ? undefined : pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.continue,
  });
  const entries = computed(() => (pages.data.value?.pages ?? []).flatMap(({ items }) => items));
  const versions = computed(() => versionsOf(entries.value, pages.hasNextPage.value));

  const newest = useQuery({
    queryKey: computed(() => [...key.value, 'newest']),
    queryFn: async ({ signal }) => (await read({ limit: 1 }, signal)).items[0]?.position ?? '',
    refetchInterval: newestMs,
  });
  const refresh = async (): Promise<void> => queries.invalidateQueries({ queryKey: key.value, exact: true });
  watch(newest.data, (position) => {
    const known = entries.value[0]?.position;
    if (position !== undefined && known !== undefined && isLater(position, known)) void refresh();
  });
  // If a page contains only the state before a version, nothing is visible, so the next page is read at once.
  watch([versions, pages.hasNextPage, pages.isFetching], ([shown, hasMore, isFetching]) => {
    if (shown.length === 0 && hasMore && !isFetching && pages.error.value === null) void pages.fetchNextPage();
  });
  return {
    versions,
    isPending: computed(() => pages.data.value === undefined && pages.error.value === null),
    error: computed(() => pages.error.value),
    hasMore: computed(() => pages.hasNextPage.value),
    isLoadingMore: computed(() => pages.isFetchingNextPage.value),
    loadMore: () => {
      void pages.fetchNextPage();
    },
    refresh,
  };
}

type Known = { readonly before: PastObject | undefined; readonly found: readonly Difference[] };
/**
 * Caches the differences, because each further page computes the list of all entries again, with the same entry
 * objects.
 */
const known = new WeakMap<HistoryEntry, Known>();

function knownDifferences(entry: HistoryEntry, before: PastObject | undefined): readonly Difference[] {
  const last = known.get(entry);
  if (last !== undefined && last.before === before) return last.found;
  const found = differences(before, entry.object);
  known.set(entry, { before, found });
  return found;
}

/**
 * While the list is incomplete, the last entry is only the state before another entry. It is shown when its own
 * previous state is known.
 */
function versionsOf(entries: readonly HistoryEntry[], hasMore: boolean): readonly Version[] {
  const shown = hasMore ? entries.slice(0, -1) : entries;
  return shown.map((entry, index) => {
    const older = entries[index + 1];
    const newer = entries[index - 1];
    const before = older?.uid === entry.uid && older.event !== 'ObjectDeleted' ? older.object : undefined;
    return {
      entry,
      differences: knownDifferences(entry, before),
      endsEarlierLife: newer !== undefined && newer.uid !== entry.uid,
    };
  });
}
