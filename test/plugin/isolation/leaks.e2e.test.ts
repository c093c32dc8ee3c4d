import { setTimeout as passes } from 'node:timers/promises';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { test } from 'tap';

import { Controller } from '../../../reconcilers/controller.ts';
import { PluginReconciler } from '../../../reconcilers/plugins/plugin-reconciler.ts';
import { FolderWatch } from '../../../src/plugin/folders/folder-watch.ts';
import { Incarnation } from '../../../src/plugin/lifecycle/incarnation.ts';
import { startTestServer, type TestServer } from '../../support/server/start-server.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../host/host-stage.ts';

const rounds = 50;
const reloads = 20;
/** What one start may leave in the heap: its module, which the runtime never frees, and little beside it. */
const heapBytesPerStartMax = 150_000;

const moduleText = (round = 0): string => `
  const type = { group: 'goods.example', version: 'v1', plural: 'goods' };
  export default {
    types: [{ ...type, kind: 'Goods', singular: 'good', schema: { type: 'object',
      properties: { spec: { type: 'object', properties: { color: { type: 'string', pattern: '^[a-z]+$' } } },
      status: {} } },
      indexes: [{ name: 'spec.color' }, { name: 'upper', indexFunc: (object) => object.spec?.color?.toUpperCase() }] }],
    routes: [{ method: 'GET', path: '/apis/api.goods.example/v1/sum', handler: async ({ pluginClient }) => ({
      body: { total: (await pluginClient.list(type)).total, round: ${String(round)} } }) }],
    reconcilers: [{ type, reconcile: () => ({ type: 'again', afterMs: 60_000 }) }],
  };
`;
const extensions = ['red', 'green', 'blue']
  .map((color) => `apiVersion: goods.example/v1\nkind: Goods\nmetadata: {name: ${color}}\nspec: {color: ${color}}\n`)
  .join('---\n');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

type Counts = {
  readonly listeners: Readonly<Record<string, number>>;
  readonly resources: Readonly<Record<string, number>>;
  readonly series: number;
  readonly living: readonly number[];
};

/** Of what a process holds beside memory. Connections are the test's own, and come and go. */
async function counted(server: TestServer): Promise<Counts> {
  const metrics = await (await server.call('/metrics')).text();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo())
    if (!/TCP|Immediate|FSReq|CloseReq|Shutdown|Write/u.test(name)) resources[name] = (resources[name] ?? 0) + 1;
  return {
    listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
    resources,
    // A collection comes before it counts.
    living: [Controller, PluginReconciler, Incarnation, FolderWatch].map((each) =>
      queryObjects(each, { format: 'count' }),
    ),
    series: metrics
      .split('\n')
      .filter(
        (line) => line.startsWith('ledgerplane_') && !line.includes('_http_') && !line.includes('_reconcile_total'),
      ).length,
  };
}

/**
 * The counts once they are `before` again, or those of the last attempt: a timer may be about to end, a leak never
 * goes.
 */
async function countedAgain(server: TestServer, before: Counts): Promise<Counts> {
  let after = await counted(server);
  for (let attempt = 0; attempt < 100 && JSON.stringify(after) !== JSON.stringify(before); attempt += 1) {
    await passes(20);
    after = await counted(server);
  }
  return after;
}

/** The counts of three moments in a row: none of something that is about to end. */
async function countedAtRest(server: TestServer): Promise<Counts> {
  let [counts, alike] = [await counted(server), 1];
  while (alike < 3) {
    await passes(20);
    const next = await counted(server);
    alike = JSON.stringify(next) === JSON.stringify(counts) ? alike + 1 : 1;
    counts = next;
  }
  return counts;
}

async function heapBytes(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collect();
    await passes(20);
  }
  return process.memoryUsage().heapUsed;
}

test('a plugin that is stopped and started fifty times leaks nothing but its modules', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    good: {
      'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }),
      'main.mjs': moduleText(),
      'extensions/a.yaml': extensions,
    },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(() => server.remove());
  const plugin = '/apis/plugin.svc.run/v1alpha1/plugins/good';
  const turn = async (enabled: boolean, phase: string): Promise<void> => {
    const answer = await server.call(plugin, {
      method: 'PATCH',
      body: JSON.stringify({ spec: { enabled } }),
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    if (answer.status !== 200) throw new Error(await answer.text());
    for (;;) {
      const { status } = (await (await server.call(plugin)).json()) as { status: { phase: string } };
      if (status.phase === phase) return;
      await passes(2);
    }
  };
  const restart = async (): Promise<void> => {
    // What holds on to a plugin must let go of it: a watch of its type, and a call of its route.
    const watch = await server.call('/apis/goods.example/v1/goods?watch=true');
    t.equal((await server.call('/apis/api.goods.example/v1/sum')).status, 200);
    await Promise.all([turn(false, 'stopped'), watch.text()]);
    await turn(true, 'started');
  };
  for (let round = 0; round < 5; round += 1) await restart();
  const [before, heapBefore] = [await countedAtRest(server), await heapBytes()];
  for (let round = 0; round < rounds; round += 1) await restart();
  const [after, heapAfter] = [await countedAgain(server, before), await heapBytes()];
  t.same(after, before);
  const perStart = Math.round((heapAfter - heapBefore) / rounds);
  t.comment(`${String(perStart)} bytes a start`);
  t.ok(perStart < heapBytesPerStartMax, `${String(perStart)} bytes a start`);
});

test('a plugin reloaded twenty times leaks nothing but its modules', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    good: {
      'plugin.yaml': manifestYaml('good', { main: 'main.mjs' }),
      'main.mjs': moduleText(),
      'extensions/a.yaml': extensions,
    },
  });
  const server = await startTestServer({ environment: { PLUGINS_DIRS: root } });
  t.teardown(() => server.remove());
  const reload = async (round: number): Promise<void> => {
    const watch = await server.call('/apis/goods.example/v1/goods?watch=true');
    await writePlugins(root, { good: { 'main.mjs': moduleText(round) } });
    await watch.text();
    for (;;) {
      const answer = await server.call('/apis/api.goods.example/v1/sum');
      const body = (await answer.json()) as { readonly round?: number };
      if (answer.status === 200 && body.round === round) return;
      await passes(5);
    }
  };
  for (let round = 1; round <= 3; round += 1) await reload(round);
  const [before, heapBefore] = [await countedAtRest(server), await heapBytes()];
  for (let round = 4; round <= reloads + 3; round += 1) await reload(round);
  const [after, heapAfter] = [await countedAgain(server, before), await heapBytes()];
  t.same(after, before);
  const perReload = Math.round((heapAfter - heapBefore) / reloads);
  t.comment(`${String(perReload)} bytes a reload, ${JSON.stringify(after)}`);
  t.ok(perReload < heapBytesPerStartMax, `${String(perReload)} bytes a reload`);
});
