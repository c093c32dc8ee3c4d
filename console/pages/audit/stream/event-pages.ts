import { useInfiniteQuery, useQueryClient, type InfiniteData } from '@tanstack/vue-query';
import { computed, type ComputedRef } from 'vue';

import { useServer } from '../../../server/use-server.ts';
import { eventsPath, readEventPage, type AuditEvent, type EventPage } from '../events/audit-event.ts';
import { selectorOf, type EventFilter } from './filter.ts';

/** The start of a page: after another page, or at a position before which events were dropped. */
type PageStart = { readonly continue?: string | undefined; readonly before?: string | undefined };
type Page = EventPage<AuditEvent> & { readonly next: PageStart | undefined };

const pageEvents = 50;
const firstPage: PageStart = {};

export type EventPages = {
  readonly key: ComputedRef<readonly string[]>;
  /** The events of all pages, the newest first. */
  readonly items: ComputedRef<readonly AuditEvent[]>;
  /** The position of the first page; undefined until it is read. */
  readonly start: ComputedRef<string | undefined>;
  readonly isPending: ComputedRef<boolean>;
  readonly error: ComputedRef<Error | null>;
  readonly hasMore: ComputedRef<boolean>;
  readonly isLoadingMore: ComputedRef<boolean>;
  loadMore(): void;
  reset(): Promise<void>;
  /** Replaces all pages by a first page with these events, newest first. Further pages are read on demand. */
  beginWith(events: readonly AuditEvent[]): void;
};

/** Reads the events that match a filter, page by page, newest first. */
export function useEventPages(filter: () => EventFilter): EventPages {
  const { client, platform } = useServer();
  const queries = useQueryClient();
  const key = computed(() => ['audit', 'events', selectorOf(filter()) ?? '']);
  const pages = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const { before } = pageParam;
      const fieldSelector = selectorOf(before === undefined ? filter() : { ...filter(), last: before });
      const query = { fieldSelector, sort: 'position,desc', limit: pageEvents, continue: pageParam.continue };
      const page = await readEventPage<AuditEvent>(client, eventsPath(platform.domain), { query, signal });
      return { ...page, next: page.continue === undefined ? undefined : { before, continue: page.continue } };
    },
    initialPageParam: firstPage,
    getNextPageParam: (page) => page.next,
  });
  const read = computed(() => pages.data.value?.pages ?? []);
  return {
    key,
    items: computed(() => read.value.flatMap(({ items }) => items)),
    start: computed(() => read.value[0]?.resourceVersion),
    isPending: computed(() => pages.data.value === undefined && pages.error.value === null),
    error: computed(() => pages.error.value),
    hasMore: computed(() => pages.hasNextPage.value),
    isLoadingMore: computed(() => pages.isFetchingNextPage.value),
    loadMore: () => {
      void pages.fetchNextPage();
    },
    reset: async () => queries.resetQueries({ queryKey: key.value }),
    beginWith: (events) => {
      queries.setQueryData<InfiniteData<Page, PageStart>>(key.value, {
        pages: [pageOf(events)],
        pageParams: [firstPage],
      });
    },
  };
}

function pageOf(events: readonly AuditEvent[]): Page {
  const items = events.slice(0, pageEvents);
  const resourceVersion = items[0]?.position ?? '0';
  return { items, resourceVersion, continue: undefined, next: { before: items.at(-1)?.position } };
}
