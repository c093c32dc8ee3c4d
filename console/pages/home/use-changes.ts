import { ClientError, type TypeName } from 'ledgerplane/client';
import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref } from 'vue';

import { usePermission, useServer } from '../../server/use-server.ts';

/** A change of an object, as the audit stream shows it. */
export type ObjectChange = {
  readonly id: string;
  /** The type: its plural and group. */
  readonly type: string;
  readonly name: string;
  readonly event: string;
  readonly stream: string;
  readonly time: string;
  readonly actor?: string;
  readonly onBehalfOf?: string;
  readonly verb?: string;
};

type EventPage = {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ObjectChange[];
};

const shownMax = 12;

/** Returns the latest changes of objects, newest first. A watch adds new changes. */
export function useChanges(): {
  readonly mayRead: ComputedRef<boolean>;
  readonly changes: Readonly<Ref<readonly ObjectChange[] | undefined>>;
  readonly error: Readonly<Ref<unknown>>;
  readonly retry: () => void;
} {
  const { client, platform, connection } = useServer();
  const { may } = usePermission();
  const type: TypeName = { group: `audit.${platform.domain}`, version: 'v1alpha1', plural: 'events' };
  const mayRead = computed(() => may({ verb: 'list', type }) && may({ verb: 'watch', type }));
  const changes = shallowRef<readonly ObjectChange[]>();
  const error = shallowRef<unknown>();
  let following: AbortController | undefined;

  const follow = async (): Promise<void> => {
    following?.abort();
    const { signal } = (following = new AbortController());
    try {
      const query = { sort: 'position,desc', limit: 50 };
      const page = await client.request<EventPage>(`/apis/${type.group}/v1alpha1/events`, { query, signal });
      if (page === undefined) return;
      error.value = undefined;
      changes.value = page.items.filter(isOfObject).slice(0, shownMax);
      const from = { resourceVersion: page.metadata.resourceVersion };
      for await (const { object } of client.watch<ObjectChange>(type, { from, signal }))
        if (isOfObject(object)) changes.value = [object, ...changes.value].slice(0, shownMax);
    } catch (failure) {
      if (!signal.aborted && failure instanceof ClientError) error.value = failure;
    }
  };
  const start = (): void => {
    if (mayRead.value && !document.hidden) void follow();
    else following?.abort();
  };
  watch(mayRead, start, { immediate: true });
  document.addEventListener('visibilitychange', start);
  const forget = connection.onRestored(start);
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', start);
    forget();
    following?.abort();
  });
  return { mayRead, changes, error, retry: start };
}

/** Returns whether an event is about an object. The page Audit shows the other events, such as log-ins. */
function isOfObject({ stream }: ObjectChange): boolean {
  return stream.startsWith('object:');
}
