import { useQuery, useQueryClient } from '@tanstack/vue-query';
import { ClientError } from 'ledgerplane/client';
import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref } from 'vue';

import type { ServedType } from '../../../server/served-types.ts';
import { useServer } from '../../../server/use-server.ts';
import type { ShownObject } from './editable.ts';

export function objectKey({ group, version, plural }: ServedType, name: string): readonly string[] {
  return ['object', group, version, plural, name];
}

/** Returns an object; null if it does not exist. `useFollowedObject` keeps the object current. */
export function useObject(type: () => ServedType, name: () => string): ReturnType<typeof useQuery<ShownObject | null>> {
  const { client } = useServer();
  return useQuery<ShownObject | null>({
    queryKey: computed(() => objectKey(type(), name())),
    queryFn: async ({ signal }) => (await client.get<ShownObject>(type(), name(), { signal })) ?? null,
    staleTime: 5_000,
  });
}

type Followed = {
  readonly object: ComputedRef<ShownObject | null | undefined>;
  readonly error: ComputedRef<Error | null>;
  /** Whether the object was removed while the page was open. `object` is then the last state. */
  readonly isRemoved: Readonly<Ref<boolean>>;
  readonly retry: () => void;
};

/** Follows the changes of an object with a watch, and updates the object of all calls of `useObject`. */
export function useFollowedObject(type: () => ServedType, name: () => string): Followed {
  const { client } = useServer();
  const queries = useQueryClient();
  const { data, error, refetch } = useObject(type, name);
  const isRemoved = shallowRef(false);
  let watching: AbortController | undefined;

  const follow = async (object: ShownObject): Promise<void> => {
    watching?.abort();
    const following = new AbortController();
    watching = following;
    const key = objectKey(type(), name());
    const from = { resourceVersion: object.metadata.resourceVersion, items: [object] };
    try {
      for await (const event of client.watch<ShownObject>(type(), { name: name(), from, signal: following.signal })) {
        isRemoved.value = event.type === 'DELETED';
        queries.setQueryData(key, event.object);
      }
    } catch (failure) {
      // If the user lost the right, the watch ends, and the next read shows the refusal.
      if (!following.signal.aborted && failure instanceof ClientError) await refetch();
    }
  };
  const uid = computed(() => data.value?.metadata.uid);
  watch(
    [uid, () => objectKey(type(), name()).join('/')],
    () => {
      isRemoved.value = false;
      if (data.value === null || data.value === undefined) watching?.abort();
      else void follow(data.value);
    },
    { immediate: true },
  );
  onScopeDispose(() => watching?.abort());
  return {
    object: computed(() => data.value),
    error: computed(() => error.value),
    isRemoved,
    retry: () => void refetch(),
  };
}
