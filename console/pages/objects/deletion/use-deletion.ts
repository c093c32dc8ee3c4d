import { useQuery } from '@tanstack/vue-query';
import { ClientError, type ObjectMetadata } from 'ledgerplane/client';
import { computed, shallowRef, useId, watch, type ComputedRef, type Ref } from 'vue';

import { apiPath, type ServedType } from '../../../server/served-types.ts';
import { useServer } from '../../../server/use-server.ts';
import { useBulkRun, type BulkRun, type Chosen } from '../bulk/bulk-run.ts';
import { previewDeletions, type DeletionPreview, type Propagation } from './deletion-preview.ts';

/** `marked`: the object waits for its finalizers. */
export type Deleted = 'removed' | 'marked';

export type Deletion = {
  /** The objects that are not deleted yet. */
  readonly objects: Ref<readonly Chosen[]>;
  readonly propagation: Ref<Propagation | undefined>;
  readonly previews: ComputedRef<readonly DeletionPreview[] | undefined>;
  /** Whether the previews belong to the present choice. */
  readonly isCurrent: ComputedRef<boolean>;
  readonly error: ComputedRef<Error | null>;
  readonly readAgain: () => void;
  /** The objects whose deletion the previews do not refuse. */
  readonly accepted: ComputedRef<readonly Chosen[]>;
  readonly run: BulkRun<Deleted>;
  readonly start: () => ReturnType<BulkRun<Deleted>['start']>;
};

/** The deletion of objects of one type: the previews of its effects, and the run. */
export function useDeletion(type: () => ServedType, chosen: readonly Chosen[]): Deletion {
  const { client, platform } = useServer();
  const id = useId();
  const objects = shallowRef(chosen);
  const propagation = shallowRef<Propagation>();
  const attempt = shallowRef(0);
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: computed(() => ['objects', 'deletion', id, attempt.value, propagation.value]),
    queryFn: async ({ signal }) => {
      const names = objects.value.map(({ name }) => name);
      const { domain } = platform;
      return previewDeletions(client, { domain, type: type(), names, propagation: propagation.value, signal });
    },
    placeholderData: (previous) => previous,
    gcTime: 0,
  });
  /** Objects that are already deleted are omitted. */
  const previews = computed(() => data.value?.filter(({ refusal }) => refusal?.status !== 404));
  const isCurrent = computed(() => data.value !== undefined && !isPlaceholderData.value);
  watch(previews, (found) => {
    const names = new Set(found?.map(({ name }) => name));
    if (found !== undefined && isCurrent.value) objects.value = objects.value.filter(({ name }) => names.has(name));
  });
  const refused = computed(
    () => new Set((previews.value ?? []).filter(({ refusal }) => refusal !== undefined).map(({ name }) => name)),
  );
  const accepted = computed(() => objects.value.filter(({ name }) => !refused.value.has(name)));
  const run = useBulkRun<Deleted>();
  return {
    objects,
    propagation,
    previews,
    isCurrent,
    error: computed(() => error.value),
    readAgain: () => {
      attempt.value += 1;
    },
    accepted,
    run,
    start: async () =>
      run.start(accepted.value, async ({ name, uid }, signal) => {
        const body = { preconditions: { uid }, propagationPolicy: propagation.value };
        return deletedBy(async () =>
          client.request<{ readonly metadata: ObjectMetadata }>(apiPath(type(), name), {
            method: 'DELETE',
            body,
            signal,
          }),
        );
      }),
  };
}

/** Sends a deletion. An object that was meanwhile removed by another request counts as removed. */
async function deletedBy(send: () => Promise<{ readonly metadata: ObjectMetadata } | undefined>): Promise<Deleted> {
  try {
    const last = await send();
    return (last?.metadata.finalizers ?? []).length > 0 ? 'marked' : 'removed';
  } catch (error) {
    if (error instanceof ClientError && error.status === 404) return 'removed';
    throw error;
  }
}
