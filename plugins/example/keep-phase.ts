import { defineReconciler } from '../../src/plugin/api/plugin.ts';
import { widget } from './widget.ts';

/** Sets the phase of a widget to the desired state. A widget without a desired state keeps its phase. */
export const phases = defineReconciler({
  type: widget,
  reconcile: async ({ object, pluginClient }) => {
    const wanted = object?.spec.power;
    if (object === undefined || wanted === undefined || object.status?.phase === wanted) return;
    const { name, resourceVersion } = object.metadata;
    await pluginClient.patchStatus(widget, name, { status: { phase: wanted } }, { resourceVersion });
  },
});
