import { defineReconciler } from 'ledgerplane/plugin';

import { link, retiring } from './link.ts';

/**
 * Removes the finalizer of a deleted link when `goneSeconds` have passed since the deletion. Until then, the redirect
 * responds with 410, and no other link can have this slug.
 */
export const retireLinks = defineReconciler({
  name: 'retire-links',
  type: link,
  reconcile: async ({ name, object, pluginClient, time }) => {
    const { deletionTimestamp, resourceVersion, finalizers = [] } = object?.metadata ?? {};
    if (object === undefined || deletionTimestamp === undefined || !finalizers.includes(retiring)) return;
    const freeMs = Date.parse(deletionTimestamp) + object.spec.goneSeconds * 1_000;
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
