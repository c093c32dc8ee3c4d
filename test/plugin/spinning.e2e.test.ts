/** A plugin whose reconciler always writes, on a real server with a fake clock. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { test } from 'tap';

import { reconcileRewritesMax, reconcileSpinMs } from '../../reconcilers/reconcile-limits.ts';
import { StoppedTime } from '../support/clocks/stopped-time.ts';
import { manifestYaml, temporaryFolder, writePlugins } from './host/host-stage.ts';

const type = "{ group: 'goods.example', version: 'v1', plural: 'clocks' }";

const moduleText = `
export default {
  types: [{ group: 'goods.example', version: 'v1', kind: 'Clock', singular: 'clock', plural: 'clocks',
    schema: { type: 'object', properties: { spec: { type: 'object' }, status: { type: 'object' } } } }],
  reconcilers: [{
    type: ${type},
    async reconcile({ name, object, pluginClient }) {
      if (object === undefined || object.spec.calm) return;
      await pluginClient.patch(${type}, name, { status: { ticks: (object.status?.ticks ?? 0) + 1 } });
    },
  }],
};
`;

type Clock = { readonly metadata: { readonly version: number }; readonly status?: { readonly ticks: number } };
type Plugin = {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly message: string }[] };
};

test('a spinning reconciler is slowed down, and shown in the status of its plugin and in a metric', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    tick: { 'plugin.yaml': manifestYaml('tick', { main: 'main.mjs' }), 'main.mjs': moduleText },
  });
  const { server, clock } = await StoppedTime.start(t, { environment: { PLUGINS_DIRS: root } });
  const clocks = '/apis/goods.example/v1/clocks';
  const ticks = async (): Promise<number> =>
    ((await (await server.call(`${clocks}/a`)).json()) as Clock).status?.ticks ?? 0;
  const gauge = async (): Promise<string | undefined> =>
    /^ledgerplane_reconcile_spinning_names\{controller="tick\/clocks\.goods\.example"\} (\d+)$/mu.exec(
      await (await server.call('/metrics')).text(),
    )?.[1];
  const condition = async (): Promise<string | undefined> => {
    const { status } = (await (await server.call('/apis/plugin.svc.run/v1alpha1/plugins/tick')).json()) as Plugin;
    return status.conditions.find((one) => one.type === 'ReconcilerSpinning')?.message;
  };
  const made = await server.call(clocks, { method: 'POST', body: { metadata: { name: 'a' }, spec: {} } });
  t.equal(made.status, 201);
  while ((await gauge()) !== '1') await nextTurn();
  while ((await condition()) === undefined) clock.advance(20);
  t.equal(
    await condition(),
    'clocks.goods.example: the step for a rewrites clocks.goods.example/a after each of its own writes, ' +
      'which changes /status/ticks: its steps now run once a minute',
  );
  const slowed = await ticks();
  t.equal(slowed, reconcileRewritesMax + 1, 'the first write follows the write of the user');
  clock.advance(reconcileSpinMs);
  while ((await ticks()) === slowed) await nextTurn();
  t.equal(await ticks(), slowed + 1);
  const calmed = await server.call(`${clocks}/a`, {
    method: 'PATCH',
    body: JSON.stringify({ spec: { calm: true } }),
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.equal(calmed.status, 200);
  while ((await gauge()) !== undefined) await nextTurn();
  while ((await condition()) !== undefined) clock.advance(20);
});
