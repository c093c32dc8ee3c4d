/** Of two nodes with a plugin one runs its reconciler and reports its status; after a kill, the other does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';

import t, { test } from 'tap';

import { leaseMs } from '../../src/limits/reconcilers.ts';
import { manifestYaml, writePlugins } from '../plugin/host/host-stage.ts';
import { leads } from './support/leading.ts';
import { startLogServer, commentServer } from './support/log-server.ts';
import { NodeProcess } from './support/node-process.ts';

t.setTimeout(240_000);
commentServer(t);

const goods = '/apis/goods.example/v1/goods';
const plugin = '/apis/plugin.svc.run/v1alpha1/plugins/shop';
/** Each step is a line of the node that takes it. */
const module = `
  const type = { group: 'goods.example', version: 'v1', plural: 'goods' };
  export default {
    types: [{ ...type, kind: 'Good', singular: 'good', statusSubresource: false,
      schema: { type: 'object', properties: { spec: { type: 'object' }, status: { type: 'object' } } } }],
    reconcilers: [{ type, async reconcile({ name, object, pluginClient }) {
      if (object === undefined) return;
      process.stderr.write('step of ' + name + ' on ' + process.env.NODE_NAME + '\\n');
      if (object.spec.fails) throw new Error('boom');
      if (object.status?.by === undefined) await pluginClient.patch(type, name,
        { status: { by: process.env.NODE_NAME } });
    } }],
  };
`;
type Shown = {
  readonly status?: {
    readonly by?: string;
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
};

async function shown(node: NodeProcess, path: string, holds: (object: Shown) => boolean, seconds = 30): Promise<Shown> {
  const { text } = await node.until(
    path,
    ({ status, text: body }) => status === 200 && holds(JSON.parse(body) as Shown),
    { seconds },
  );
  return JSON.parse(text) as Shown;
}

async function write(node: NodeProcess, method: string, path: string, body: object): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const { status, text } = await node.ask(path, {
    method,
    headers: { 'content-type': type },
    body: JSON.stringify(body),
  });
  if (status >= 300) throw new Error(text);
}

async function leader(nodes: readonly NodeProcess[]): Promise<NodeProcess> {
  for (;;) {
    for (const node of nodes) if (await leads(node)) return node;
    await passes(50);
  }
}

test("one node runs a plugin's steps and writes its status, and the other continues after a kill", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerplane-plugin-nodes-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const root = join(folder, 'plugins');
  await writePlugins(root, {
    shop: { 'plugin.yaml': manifestYaml('shop', { main: 'main.mjs' }), 'main.mjs': module },
  });
  const log = await startLogServer(t);
  const start = async (name: string): Promise<NodeProcess> => {
    const node = await NodeProcess.start({
      eventLog: log,
      folder,
      name,
      env: { PLUGINS_DIRS: root, NODE_NAME: name },
    });
    t.teardown(async () => node.kill());
    return node;
  };
  const nodes = [await start('first'), await start('second')];
  const leading = await leader(nodes);
  const other = nodes.find((node) => node !== leading)!;
  const steps = (node: NodeProcess, name: string): number =>
    node.stderr().split(`step of ${name} on ${node.name}\n`).length - 1;
  for (const node of nodes) await shown(node, plugin, ({ status }) => status?.phase === 'started');

  await write(other, 'POST', goods, { metadata: { name: 'one' }, spec: {} });
  await shown(other, `${goods}/one`, ({ status }) => status?.by === leading.name);
  await write(other, 'POST', goods, { metadata: { name: 'bad' }, spec: { fails: true } });
  const failing = (object: Shown): boolean =>
    object.status?.conditions?.some(({ type, status }) => type === 'ReconcilerFailing' && status === 'True') === true;
  const reported = await shown(other, plugin, failing);
  t.match(
    reported.status?.conditions?.find(({ type }) => type === 'ReconcilerFailing')?.message,
    /the step for bad fails: Error: boom/u,
    'the leader reports it',
  );
  t.equal(steps(other, 'one') + steps(other, 'bad'), 0, 'the other takes no step');

  await leading.kill();
  await write(other, 'POST', goods, { metadata: { name: 'two' }, spec: {} });
  await shown(other, `${goods}/two`, ({ status }) => status?.by === other.name, (leaseMs * 2) / 1_000 + 10);
  // The new one may come before those that were there.
  while (steps(other, 'one') === 0 || steps(other, 'bad') === 0) await passes(50);
  t.pass('the new leader reconciles every name');
  await write(other, 'PATCH', `${goods}/bad`, { spec: { fails: false } });
  await shown(other, plugin, (object) => object.status?.phase === 'started' && !failing(object));
  t.pass('and reports when the failures end');

  const back = await leading.again();
  t.teardown(async () => back.kill());
  await back.ready();
  await write(back, 'POST', goods, { metadata: { name: 'three' }, spec: {} });
  await shown(back, `${goods}/three`, ({ status }) => status?.by === other.name);
  t.equal(steps(back, 'one') + steps(back, 'three'), 0, 'a returning node stays a follower');
  for (const node of [other, back]) await node.stop();
});
