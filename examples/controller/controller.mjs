/**
 * A controller outside of the server: labels widgets by their size, and reports each one that goes.
 *
 *     KUBECONFIG=~/.kube/ledgerplane node examples/controller/controller.mjs
 *     LEDGERPLANE_SERVER=http://127.0.0.1:8090 LEDGERPLANE_TOKEN=… node examples/controller/controller.mjs
 *
 * Its user needs `get`, `list`, `watch` and `patch` of widgets.
 */
import { connect, connectKubeconfig, defineReconciler, runReconciler } from 'ledgerplane/client/node';

const widgets = { group: 'example.com', version: 'v1alpha1', plural: 'widgets' };
/** Keeps a widget until its end is reported, also if it is deleted while the controller is away. */
const finalizer = 'example.com/report';

const reconciler = defineReconciler({
  type: widgets,
  concurrency: 4,
  reconcile: async ({ name, object, pluginClient }) => {
    if (object === undefined) return;
    const { deletionTimestamp, finalizers = [], labels = {}, resourceVersion } = object.metadata;
    const size = (object.spec.size ?? 0) < 10 ? 'small' : 'large';
    const isHeld = finalizers.includes(finalizer);
    // Each step makes at most one change, to the state that it has read; the change leads to the next step.
    if (deletionTimestamp !== undefined) {
      if (!isHeld) return;
      console.log(`${name} goes`);
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
console.log('the controller runs');
