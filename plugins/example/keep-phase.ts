import { defineReconciler } from '../../src/plugin/api/plugin.ts';
import { widget } from './widget.ts';

/** A widget that wants to be on or off becomes so; of one that wants neither the phase is anybody's. */
export const phases = defineReconciler({
  type: widget,
  reconcile: async ({ object, pluginClient }) => {
    const wanted = object?.spec.power;
    if (object === undefined || wanted === undefined || object.status?.phase === wanted) return;
    const { name, resourceVersion } = object.metadata;
    await pluginClient.patchStatus(widget, name, { status: { phase: wanted } }, { resourceVersion });
  },
});
