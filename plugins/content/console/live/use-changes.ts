import type { TypeName } from 'ledgerplane/client';
import { after, useConsole, usePermission } from 'ledgerplane/console-kit';
import { computed, onScopeDispose, watch, type ComputedRef } from 'vue';

import { pathOf } from '../listing/path-of.ts';

/** The delay of `onChange` after a change. Further changes during the delay cause no further call. */
const settleMs = 250;
const retryMs = 3_000;
/** The polling interval if the user may not list and watch the type. */
const pollMs = 5_000;

/** The watch requests only metadata, because the page reads the objects itself. */
const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataOfList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

type List = { readonly metadata: { readonly resourceVersion: string } };

/**
 * Calls `onChange` after changes of the type's objects or, with `name`, of one object. Returns false, or the interval
 * in milliseconds at which the caller must poll because the user may not list and watch the type.
 */
export function useChanges(type: TypeName, onChange: () => void, name?: string): ComputedRef<number | false> {
  const { client } = useConsole();
  const { may } = usePermission();
  const mayWatch = computed(() => may({ verb: 'watch', type }) && may({ verb: 'list', type }));
  let following: AbortController | undefined;
  let cancel: (() => void) | undefined;
  const notify = (): void => {
    cancel ??= after(settleMs, () => {
      cancel = undefined;
      onChange();
    });
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    try {
      const query = { page: '1', size: '1' };
      const list = await client.request<List>(pathOf(type), { query, accept: metadataOfList, signal });
      const resourceVersion = list?.metadata.resourceVersion ?? '';
      notify();
      const changes = client.watch(type, { from: { resourceVersion }, name, accept: metadataOnly, signal });
      for await (const _ of changes) notify();
    } catch {
      // Every error is followed by a retry from the present position. The page's own requests show the error.
    }
    if (!signal.aborted) after(retryMs, () => void follow(signal));
  };
  const stop = (): void => {
    following?.abort();
    cancel?.();
    cancel = undefined;
  };
  watch(
    mayWatch,
    (isAllowed) => {
      stop();
      if (!isAllowed) return;
      following = new AbortController();
      void follow(following.signal);
    },
    { immediate: true },
  );
  onScopeDispose(stop);
  return computed(() => (mayWatch.value ? false : pollMs));
}
