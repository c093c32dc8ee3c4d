/**
 * A controller outside of the server, which labels widgets by their size and reports each widget that is deleted.
 *
 *     KUBECONFIG=~/.kube/ledgerplane node examples/controller/controller.mjs
 *     LEDGERPLANE_SERVER=http://127.0.0.1:8090 LEDGERPLANE_TOKEN=… node examples/controller/controller.mjs
 *
 * The controller's user needs the rights to `get`, `list`, `watch` and `patch` widgets.
 */
import { connect, connectKubeconfig, defineReconciler, runReconciler } from 'ledgerplane/client/node';

const widgets = { group: 'example.com', version: 'v1alpha1', plural: 'widgets' };
/** Blocks the removal of a widget until its deletion is reported, even if the controller is not running meanwhile. */
const finalizer = 'example.com/report';

const reconciler = defineReconciler({
  type: widgets,
  concurrency: 4,
  reconcile: async ({ name, object, pluginClient }) => {
    if (object === undefined) return;
    const { deletionTimestamp, finalizers = [], labels = {}, resourceVersion } = object.metadata;
    const size = (object.spec.size ?? 0) < 10 ? 'small' : 'large';
    const isHeld = finalizers.includes(finalizer);
    // Each step makes at most one change, which is refused if the widget has changed since it was read. The change
    // triggers the next step.
    if (deletionTimestamp !== undefined) {
      if (!isHeld) return;
      console.log(`${name} is being deleted`);
      await patch({ finalizers: finalizers.filter((each) => each !== finalizer) });
    } else if (!isHeld || labels.size !== size)
      await patch({ finalizers: isHeld ? finalizers : [...finalizers, finalizer], labels: { size } });

    async function patch(metadata) {
      await pluginClient.patch(widgets, name, { metadata }, { resourceVersion });
    }
  },
});

const { LEDGERPLANE_SERVER: url, LEDGERPLANE_TOKEN: token } = process.env;
const client = url === undefined ? connectKubeconfig() : connect({ url, token });
const over = new AbortController();
const running = runReconciler(reconciler, { client, signal: over.signal });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => over.abort());
over.signal.addEventListener('abort', () => void running.stop());
await running.synced;
console.log('the controller is running');
