import { defineReconciler } from 'ledgerplane/plugin';

import { link, retiring } from './link.ts';

/** Removes a deleted link once its `goneSeconds` have passed. Until then its slug answers 410, and is not free. */
export const retireLinks = defineReconciler({
  name: 'retire-links',
  type: link,
  reconcile: async ({ name, object, pluginClient, time }) => {
    const { deletionTimestamp, resourceVersion, finalizers = [] } = object?.metadata ?? {};
    if (object === undefined || deletionTimestamp === undefined || !finalizers.includes(retiring)) return;
    const freeMs = Date.parse(deletionTimestamp) + (object.spec.goneSeconds ?? 0) * 1_000;
    const afterMs = freeMs - Date.parse(time);
    if (afterMs > 0) return { type: 'again', afterMs };
    await pluginClient.patch(
      link,
      name,
      { metadata: { finalizers: finalizers.filter((finalizer) => finalizer !== retiring) } },
      { resourceVersion },
    );
  },
});
