/** Chains of events on two nodes: from a request over the steps of two plugins' reconcilers to each effect. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { test } from 'tap';

import { decodeEvent, decodeMetadata } from '../../src/log/event-codec.ts';
import type { EventMetadata } from '../../src/command/event.ts';
import { eventsOf } from '../support/memory/event-log.ts';
import { manifestYaml, writePlugins } from '../plugin/host/host-stage.ts';
import { ranked } from './support/leading.ts';
import { startLogServer, commentServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';

t.setTimeout(240_000);
commentServer(t);

const orders = '/apis/orders.example/v1/orders';
const bills = '/apis/bills.example/v1/bills';
/** Each has a finalizer of its plugin. The plugin writes a status first, and lets a marked object go. */
const moduleOf = (plural: string, kind: string, status: string): string => `
  const type = { group: '${plural}.example', version: 'v1', plural: '${plural}' };
  const reconcile = async ({ name, object, pluginClient }) => {
    if (object === undefined) return;
    const { deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) await pluginClient.patch(type, name, { metadata: { finalizers: [] } });
    else if (object.status?.by !== ${status}) await pluginClient.patch(type, name, { status: { by: ${status} } });
  };
  export default { reconcilers: [{ type, reconcile }], types: [{ ...type, kind: '${kind}', singular: '${plural}s',
    schema: { type: 'object', properties: { spec: { type: 'object' }, status: { type: 'object' } } } }] };
`;
/** A new leader, which reconciles every name, writes its own name to the status of an order. */
const modules = {
  orders: moduleOf('orders', 'Order', 'process.env.NODE_NAME'),
  bills: moduleOf('bills', 'Bill', "'the plugin'"),
};

type Found = EventMetadata & { readonly id: string; readonly type: string };

async function written(log: Parameters<typeof eventsOf>[0], plural: string): Promise<readonly Found[]> {
  const events = await eventsOf(log);
  return events
    .filter(({ stream }) => stream === `object:${plural}.${plural}.example/one`)
    .map((recorded) => ({ ...decodeMetadata(recorded), id: recorded.id, type: decodeEvent(recorded).event.type }));
}

type Sent = { readonly request: string; readonly object: { readonly metadata: { readonly uid: string } } };

async function send(node: NodeProcess, method: string, path: string, body?: object): Promise<Sent> {
  const { status, text, headers } = await node.ask(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (status >= 300) throw new Error(text);
  return { request: String(headers['x-request-id']), object: JSON.parse(text) as Sent['object'] };
}

test('a chain leads from a request to each effect, over plugins and nodes, and a resync begins another', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-causes-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const root = join(folder, 'plugins');
  const filesOf = (name: 'orders' | 'bills') => ({
    'plugin.yaml': manifestYaml(name, { main: 'main.mjs' }),
    'main.mjs': modules[name],
  });
  await writePlugins(root, { orders: filesOf('orders'), bills: filesOf('bills') });
  const log = await startLogServer(t);
  const start = async (name: string): Promise<NodeProcess> => {
    const env = { PLUGINS_DIRS: root, NODE_NAME: name };
    const node = await NodeProcess.start({ eventLog: log, folder, name, env });
    t.teardown(async () => node.kill());
    return node;
  };
  const [leading, other] = await ranked([await start('first'), await start('second')]);
  for (const node of [leading, other])
    for (const path of [orders, bills]) await node.until(path, ({ status }) => status === 200);

  const order = await send(other, 'POST', orders, {
    metadata: { name: 'one', finalizers: ['orders.example/stock'] },
    spec: {},
  });
  const { uid } = order.object.metadata;
  const owner = { apiVersion: 'orders.example/v1', kind: 'Order', name: 'one', uid };
  const bill = await send(other, 'POST', bills, {
    metadata: { name: 'one', finalizers: ['bills.example/archive'], ownerReferences: [owner] },
    spec: {},
  });
  await other.until(`${orders}/one`, ({ text }) => text.includes(`"by":"${leading.name}"`));
  await other.until(`${bills}/one`, ({ text }) => text.includes('"by":"the plugin"'));
  for (const [plugin, { request }] of [
    ['orders', order],
    ['bills', bill],
  ] as const) {
    const [made, seen] = (await written(log, plugin)) as [Found, Found];
    t.match(made, { actor: 'admin', requestId: request, $correlationId: request });
    t.notOk('$causationId' in made, 'a request has no cause');
    t.match(seen, { plugin, $causationId: made.id, $correlationId: request });
    t.not(seen.requestId, request, 'a step has an id of its own');
  }

  await leading.kill();
  await other.until(`${orders}/one`, ({ text }) => text.includes(`"by":"${other.name}"`));
  const resynced = (await written(log, 'orders')).at(-1)!;
  t.match(resynced, { plugin: 'orders', $correlationId: resynced.requestId });
  t.notOk('$causationId' in resynced, 'the new leader reconciles every name, without an event');

  const { request: removal } = await send(other, 'DELETE', `${orders}/one`);
  await other.until(`${bills}/one`, ({ status }) => status === 404);
  const [marked, released, gone] = (await written(log, 'orders')).slice(-3) as [Found, Found, Found];
  t.match(marked, { type: 'ObjectDeletionRequested', requestId: removal, actor: 'admin' });
  const byOrders = { $causationId: marked.id, $correlationId: removal, plugin: 'orders' };
  t.match(released, { ...byOrders, type: 'ObjectUpdated' });
  t.match(gone, { ...byOrders, type: 'ObjectDeleted' });
  const [lost, archived, ended] = (await written(log, 'bills')).slice(-3) as [Found, Found, Found];
  t.match(lost, {
    type: 'ObjectDeletionRequested',
    actor: 'system:owner-references',
    $causationId: gone.id,
    $correlationId: removal,
  });
  const byBills = { $causationId: lost.id, $correlationId: removal, plugin: 'bills' };
  t.match(archived, { ...byBills, type: 'ObjectUpdated' });
  t.match(ended, { ...byBills, type: 'ObjectDeleted' });
  await other.stop();
});
