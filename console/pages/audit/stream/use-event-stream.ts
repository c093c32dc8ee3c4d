import { useInfiniteQuery, useQueryClient, type InfiniteData } from '@tanstack/vue-query';
import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue';

import { after } from '../../../server/browser-clock.ts';
import { useServer } from '../../../server/use-server.ts';
import {
  eventsPath,
  eventsType,
  isLater,
  readEventPage,
  type AuditEvent,
  type EventPage,
} from '../events/audit-event.ts';
import { isOpenEnded, selectorOf, watchSelectorOf, type EventFilter } from './filter.ts';

/** Where a page begins: after another page, or at a position before which events were dropped. */
type PageStart = { readonly continue?: string | undefined; readonly before?: string | undefined };
type Page = EventPage<AuditEvent> & { readonly next: PageStart | undefined };

const pageEvents = 50;
/** The bound of followed events. Beyond it, the newest become the first page, and older ones are read when asked for. */
const followedMax = 300;
/** Followed events are shown together after this time, so that a flood of them costs few updates of the page. */
const flushMs = 150;

export type EventStream = {
  /** The newest first. */
  readonly events: ComputedRef<readonly AuditEvent[]>;
  readonly isPending: ComputedRef<boolean>;
  readonly error: ComputedRef<Error | null>;
  readonly hasMore: ComputedRef<boolean>;
  readonly isLoadingMore: ComputedRef<boolean>;
  /** Whether new events are wanted, and whether the filter can match any. */
  readonly isFollowing: Ref<boolean>;
  readonly canFollow: ComputedRef<boolean>;
  /** The reason why the watch has ended. */
  readonly watchError: ShallowRef<unknown>;
  loadMore(): void;
  refresh(): Promise<void>;
};

/** Reads the audit stream page by page, and follows it by a watch. */
export function useEventStream(filter: () => EventFilter): EventStream {
  const { client, platform } = useServer();
  const queries = useQueryClient();
  const { domain } = platform;
  const key = computed(() => ['audit', 'events', selectorOf(filter()) ?? '']);
  const pages = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const { before } = pageParam;
      const { last: _, ...others } = filter();
      const selector = selectorOf(before === undefined ? filter() : { ...others, last: before });
      const query = { fieldSelector: selector, sort: 'position,desc', limit: pageEvents, continue: pageParam.continue };
      const page = await readEventPage<AuditEvent>(client, eventsPath(domain), { query, signal });
      return { ...page, next: page.continue === undefined ? undefined : { before, continue: page.continue } };
    },
    initialPageParam: {} as PageStart,
    getNextPageParam: (page) => page.next,
  });
  const followed = shallowRef<readonly AuditEvent[]>([]);
  const read = computed(() => pages.data.value?.pages ?? []);
  const start = computed(() => read.value[0]?.resourceVersion);
  const events = computed(() => {
    const all = new Map(
      [...followed.value, ...read.value.flatMap(({ items }) => items)].map((each) => [each.position, each]),
    );
    return [...all.values()];
  });
  const follow = (arrived: readonly AuditEvent[]): void => {
    followed.value = [...[...arrived].reverse(), ...followed.value];
    if (followed.value.length <= followedMax) return;
    const items = followed.value.slice(0, pageEvents);
    const { position } = items[0] ?? { position: '0' };
    const next = { before: items.at(-1)?.position };
    followed.value = [];
    const data: InfiniteData<Page, PageStart> = {
      pages: [{ items, resourceVersion: position, continue: undefined, next }],
      pageParams: [{}],
    };
    queries.setQueryData(key.value, data);
  };
  watch(key, () => {
    followed.value = [];
  });
  const following = useFollowing({ filter, start, key, follow }, { client, domain });
  return {
    events,
    isPending: computed(() => pages.data.value === undefined && pages.error.value === null),
    error: computed(() => pages.error.value),
    hasMore: computed(() => pages.hasNextPage.value),
    isLoadingMore: computed(() => pages.isFetchingNextPage.value),
    ...following,
    loadMore: () => {
      void pages.fetchNextPage();
    },
    refresh: async () => {
      followed.value = [];
      await queries.resetQueries({ queryKey: key.value });
    },
  };
}

type Followed = {
  filter(): EventFilter;
  /** The position of the first page. */
  readonly start: ComputedRef<string | undefined>;
  readonly key: ComputedRef<readonly string[]>;
  follow(arrived: readonly AuditEvent[]): void;
};

type Connection = { readonly client: ReturnType<typeof useServer>['client']; readonly domain: string };

function useFollowing(
  { filter, start, key, follow }: Followed,
  { client, domain }: Connection,
): Pick<EventStream, 'isFollowing' | 'canFollow' | 'watchError'> {
  const isFollowing = shallowRef(true);
  const watchError = shallowRef<unknown>();
  const canFollow = computed(() => isOpenEnded(filter()));
  let end = new AbortController();
  /** The last position that was followed, so that a resumed watch misses nothing. */
  let reached: string | undefined;

  const run = async (from: string, signal: AbortSignal): Promise<void> => {
    const batch = batched(follow, signal);
    const options = { fieldSelector: watchSelectorOf(filter()), from: { resourceVersion: from }, signal };
    try {
      for await (const change of client.watch<AuditEvent>(eventsType(domain), options)) {
        reached = change.object.position;
        batch(change.object);
      }
    } catch (error) {
      if (signal.aborted) return;
      watchError.value = error;
      isFollowing.value = false;
    }
  };
  watch(
    [isFollowing, canFollow, () => start.value !== undefined, key],
    ([wanted, possible, hasStart, current], [, , , previous]) => {
      end.abort();
      end = new AbortController();
      if (current !== previous) reached = undefined;
      const from = latest(reached, start.value);
      if (!wanted || !possible || !hasStart || from === undefined) return;
      watchError.value = undefined;
      void run(from, end.signal);
    },
    { immediate: true },
  );
  onScopeDispose(() => {
    end.abort();
  });
  return { isFollowing, canFollow, watchError };
}

function latest(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return isLater(left, right) ? left : right;
}

/** Collects events, and passes them on together. */
function batched(pass: (events: readonly AuditEvent[]) => void, signal: AbortSignal): (event: AuditEvent) => void {
  let waiting: AuditEvent[] = [];
  return (event) => {
    waiting.push(event);
    if (waiting.length > 1) return;
    after(flushMs, () => {
      const events = waiting;
      waiting = [];
      if (!signal.aborted) pass(events);
    });
  };
}
