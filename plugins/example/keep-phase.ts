import { defineReconciler } from '../../src/plugin/api/plugin.ts';
import { widget } from './widget.ts';

/** Sets `status.phase` of a widget to `spec.power`. The phase of a widget without `spec.power` does not change. */
export const phases = defineReconciler({
  type: widget,
  reconcile: async ({ object, pluginClient }) => {
    const wanted = object?.spec.power;
    if (object === undefined || wanted === undefined || object.status?.phase === wanted) return;
    const { name, resourceVersion } = object.metadata;
    await pluginClient.patchStatus(widget, name, { status: { phase: wanted } }, { resourceVersion });
  },
});
