import type { TypeName } from 'ledgerplane/client';
import { after, useConsole, usePermission } from 'ledgerplane/console-kit';
import { computed, onScopeDispose, watch, type ComputedRef } from 'vue';

import { pathOf } from '../listing/path-of.ts';

/** A change leads to one reading after this time, however many others follow it. */
const settleMs = 250;
const retryMs = 3_000;
/** How often a list is read whose type the user may not watch. */
const pollMs = 5_000;

/** The objects themselves are read by the page. */
const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataOfList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

type List = { readonly metadata: { readonly resourceVersion: string } };

/**
 * Calls `onChange` after objects of the type have changed, or the one with the name. Returns the interval at which the
 * page must read them instead, because the user may not watch the type; otherwise false.
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
      // The page shows why it cannot read. The position may have expired.
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
