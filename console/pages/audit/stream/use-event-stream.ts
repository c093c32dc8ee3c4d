import type { RemoteClient } from 'ledgerplane/client';
import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue';

import { after } from '../../../server/browser-clock.ts';
import { useServer } from '../../../server/use-server.ts';
import { eventsType, isLater, type AuditEvent } from '../events/audit-event.ts';
import { useEventPages, type EventPages } from './event-pages.ts';
import { isOpenEnded, watchSelectorOf, type EventFilter } from './filter.ts';

/** The maximum number of followed events. Beyond it, the newest events become the first page. */
const followedMax = 300;
/**
 * The delay in milliseconds after which followed events are shown together, so that many events cause few updates of
 * the page.
 */
const flushMs = 150;

type Following = {
  /** Whether the user wants to see new events. */
  readonly isFollowing: Ref<boolean>;
  /** Whether the filter can match new events. */
  readonly canFollow: ComputedRef<boolean>;
  /** The reason why the watch has ended. */
  readonly watchError: ShallowRef<unknown>;
};

export type EventStream = Pick<EventPages, 'isPending' | 'error' | 'hasMore' | 'isLoadingMore' | 'loadMore'> &
  Following & {
    /** The events, newest first. */
    readonly events: ComputedRef<readonly AuditEvent[]>;
    refresh(): Promise<void>;
  };

/** Reads the audit stream page by page, and follows it with a watch. */
export function useEventStream(filter: () => EventFilter): EventStream {
  const { client, platform } = useServer();
  const pages = useEventPages(filter);
  const followed = shallowRef<readonly AuditEvent[]>([]);
  const events = computed(() => {
    // An event may be both followed and read, because a page that is read again may be ahead of the watch.
    const all = new Map([...followed.value, ...pages.items.value].map((event) => [event.position, event]));
    return [...all.values()].sort((left, right) => (isLater(left.position, right.position) ? -1 : 1));
  });
  watch(pages.key, () => {
    followed.value = [];
  });
  const add = (arrived: readonly AuditEvent[]): void => {
    followed.value = [...followed.value, ...arrived];
    if (followed.value.length <= followedMax) return;
    pages.beginWith(events.value);
    followed.value = [];
  };
  const newest = (): string | undefined => {
    const [{ position } = { position: undefined }] = events.value;
    const { value: start } = pages.start;
    return position === undefined || (start !== undefined && isLater(start, position)) ? start : position;
  };
  return {
    ...pages,
    events,
    ...useFollowing({ client, domain: platform.domain, filter, pages, newest, add }),
    refresh: async () => {
      followed.value = [];
      await pages.reset();
    },
  };
}

type Source = {
  readonly client: RemoteClient;
  readonly domain: string;
  readonly filter: () => EventFilter;
  readonly pages: EventPages;
  /** The last position that was read or followed; undefined before the first page. */
  readonly newest: () => string | undefined;
  readonly add: (arrived: readonly AuditEvent[]) => void;
};

/** Watches the stream while `isFollowing` is true, from the last position that was read or followed. */
function useFollowing({ client, domain, filter, pages, newest, add }: Source): Following {
  const isFollowing = shallowRef(true);
  const watchError = shallowRef<unknown>();
  const canFollow = computed(() => isOpenEnded(filter()));
  let end = new AbortController();

  const run = async (from: string, signal: AbortSignal): Promise<void> => {
    const keep = batched(add, signal);
    const options = { fieldSelector: watchSelectorOf(filter()), from: { resourceVersion: from }, signal };
    try {
      for await (const { object } of client.watch<AuditEvent>(eventsType(domain), options)) keep(object);
    } catch (error) {
      if (signal.aborted) return;
      watchError.value = error;
      isFollowing.value = false;
    }
  };
  const state = [isFollowing, canFollow, () => pages.start.value !== undefined, pages.key] as const;
  watch(
    state,
    ([isWanted, isPossible, hasStart]) => {
      end.abort();
      const from = newest();
      if (!isWanted || !isPossible || !hasStart || from === undefined) return;
      end = new AbortController();
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

/** Collects events, and calls `pass` with several events at once. */
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
