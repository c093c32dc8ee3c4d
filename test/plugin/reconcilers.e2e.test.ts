/** A plugin's reconcilers on a real server. */
import { setImmediate as nextTurn, setTimeout as passes } from 'node:timers/promises';

import { test } from 'tap';
import type { Test } from 'tap';

import { reconcileStepMs } from '../../reconcilers/reconcile-limits.ts';
import { startTestServer, type TestServer } from '../support/server/start-server.ts';
import { StoppedTime } from '../support/clocks/stopped-time.ts';
import { manifestYaml, temporaryFolder, writePlugins } from './host/host-stage.ts';

const type = (plural: string): string => `{ group: 'goods.example', version: 'v1', plural: '${plural}' }`;
const declared = (
  plural: string,
  kind: string,
): string => `{ group: 'goods.example', version: 'v1', kind: '${kind}', singular: '${kind.toLowerCase()}',
  plural: '${plural}', statusSubresource: false,
  schema: { type: 'object', properties: { spec: { type: 'object' }, status: { type: 'object' } } } }`;

/** What its reconciler was called with is kept where the test can see it: in this process. */
const moduleText = `
const seen = globalThis.reconcilerSteps ??= [];
const fails = globalThis.reconcilerFails ??= new Map();
export default {
  types: [${declared('shops', 'Shop')}, ${declared('goods', 'Good')}],
  reconcilers: [{
    type: ${type('shops')},
    watches: [{ type: ${type('goods')}, names: (good) => {
      if (good.spec.shop === undefined) throw new Error('no shop'); return [good.spec.shop]; } }],
    async reconcile({ name, object, pluginClient, log }) {
      seen.push(name);
      if (object === undefined) return { type: 'settled' };
      if (object.spec.hangs) return new Promise((resolve) => { globalThis.reconcilerEnds = resolve; });
      if (object.spec.rubbish && !fails.has(name)) { fails.set(name, 1); return { type: 'sideways' }; }
      if (object.spec.fails > (fails.get(name) ?? 0)) { fails.set(name, (fails.get(name) ?? 0) + 1);
        throw new Error('not yet'); }
      const goods = await pluginClient.list(${type('goods')});
      const count = goods.items.filter(({ spec }) => spec.shop === name).length;
      object.spec = 'what a reconciler does to its object concerns nobody';
      if (object.status?.count === count) return undefined;
      await pluginClient.patch(${type('shops')}, name, { status: { count } });
      return undefined;
    },
  }],
};
`;
const shared = globalThis as unknown as {
  reconcilerSteps: string[];
  reconcilerFails: Map<string, number>;
  reconcilerEnds: () => void;
};
const shops = '/apis/goods.example/v1/shops';
const goods = '/apis/goods.example/v1/goods';

async function pluggedIn(t: Test): Promise<Readonly<Record<string, string>>> {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    shop: { 'plugin.yaml': manifestYaml('shop', { main: 'main.mjs' }), 'main.mjs': moduleText },
  });
  shared.reconcilerSteps = [];
  shared.reconcilerFails = new Map();
  return { PLUGINS_DIRS: root };
}

async function serving(t: Test, lines: string[] = []): Promise<TestServer> {
  return startTestServer({
    environment: await pluggedIn(t),
    logLines: {
      write: (line) => {
        lines.push(line);
      },
    },
  });
}

type Shop = { readonly metadata: { readonly version: number }; readonly status?: { readonly count: number } };

async function shop(server: TestServer, name: string): Promise<Shop> {
  return (await (await server.call(`${shops}/${name}`)).json()) as Shop;
}

async function make(server: TestServer, path: string, name: string, spec: object): Promise<void> {
  const made = await server.call(path, { method: 'POST', body: { metadata: { name }, spec } });
  if (made.status !== 201) throw new Error(await made.text());
}

async function counts(server: TestServer, name: string, count: number): Promise<void> {
  while ((await shop(server, name)).status?.count !== count) await passes(5);
}

/** No key waits for a step, by the metrics. */
async function quiet(server: TestServer): Promise<string> {
  for (;;) {
    const text = await (await server.call('/metrics')).text();
    if (/^ledgerplane_reconcile_queue_depth\{controller="shop\/shops\.goods\.example"\} 0$/mu.test(text)) return text;
    await passes(5);
  }
}

test('status follows the actual state over changes of other types, and its own writes end', async (t) => {
  const server = await serving(t);
  await make(server, shops, 'a', {});
  await make(server, shops, 'b', {});
  await counts(server, 'a', 0);
  await make(server, goods, 'one', { shop: 'a' });
  await counts(server, 'a', 1);
  const moved = await server.call(`${goods}/one`, {
    method: 'PATCH',
    body: JSON.stringify({ spec: { shop: 'b' } }),
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.equal(moved.status, 200);
  await counts(server, 'b', 1);
  await counts(server, 'a', 0);
  t.equal((await server.call(`${goods}/one`, { method: 'DELETE' })).status, 200);
  await counts(server, 'b', 0);
  const text = await quiet(server);
  const {
    metadata: { version },
  } = await shop(server, 'a');
  const steps = shared.reconcilerSteps.length;
  await passes(200);
  t.equal(shared.reconcilerSteps.length, steps, 'nothing goes round');
  t.equal((await shop(server, 'a')).metadata.version, version);
  t.match(text, /^ledgerplane_reconcile_total\{controller="shop\/shops\.goods\.example",outcome="settled"\} \d+$/mu);
  shared.reconcilerSteps.length = 0;
  const again = await server.restart();
  t.teardown(() => again.remove());
  while (new Set(shared.reconcilerSteps).size < 2) await passes(5);
  await quiet(again);
  t.strictSame([...new Set(shared.reconcilerSteps)].sort(), ['a', 'b'], 'a start looks at all');
  t.equal((await shop(again, 'a')).metadata.version, version, 'and appends nothing');
});

test("an endless step is shown in the Plugin's status, and blocks nothing", async (t) => {
  const { server, clock } = await StoppedTime.start(t, { environment: await pluggedIn(t) });
  type Condition = { readonly type: string; readonly status: string; readonly message: string };
  const untilReported = async (holds: (conditions: readonly Condition[]) => boolean): Promise<readonly Condition[]> => {
    for (;;) {
      const { status } = (await (await server.call('/apis/plugin.svc.run/v1alpha1/plugins/shop')).json()) as {
        readonly status: { readonly phase: string; readonly conditions: readonly Condition[] };
      };
      if (holds(status.conditions)) return status.conditions;
      if (status.phase !== 'started') throw new Error(`it is ${status.phase}`);
      clock.advance(20);
    }
  };
  const patched = async (spec: object): Promise<void> => {
    t.equal(
      (
        await server.call(`${shops}/hanging`, {
          method: 'PATCH',
          body: JSON.stringify({ spec }),
          headers: { 'content-type': 'application/merge-patch+json' },
        })
      ).status,
      200,
    );
  };
  await make(server, shops, 'hanging', { hangs: true });
  while (!shared.reconcilerSteps.includes('hanging')) await nextTurn();
  await make(server, shops, 'next', {});
  await patched({ hangs: false });
  t.notOk(shared.reconcilerSteps.includes('next'), 'one at once, unless it says more');
  clock.advance(reconcileStepMs);
  const stuck = await untilReported((conditions) => conditions.length > 1);
  t.match(
    stuck.find(({ type: condition }) => condition === 'ReconcilerStuck'),
    { status: 'True', message: /^shops\.goods\.example: the step for hanging has not ended within 60 s$/u },
  );
  t.match(
    stuck.find(({ type: condition }) => condition === 'Ready'),
    { status: 'True' },
  );
  await counts(server, 'next', 0);
  t.equal(shared.reconcilerSteps.filter((name) => name === 'hanging').length, 1, 'no second step of a name');
  shared.reconcilerEnds();
  t.strictSame(
    (await untilReported((conditions) => conditions.length === 1)).map(({ type: condition }) => condition),
    ['Ready'],
  );
  await counts(server, 'hanging', 0);
});

test('a failed step is retried until it succeeds', async (t) => {
  const lines: string[] = [];
  const server = await serving(t, lines);
  t.teardown(() => server.remove());
  await make(server, shops, 'late', { fails: 3 });
  await make(server, shops, 'odd', { rubbish: true });
  await make(server, goods, 'nowhere', {});
  await counts(server, 'late', 0);
  await counts(server, 'odd', 0);
  t.equal(shared.reconcilerFails.get('late'), 3);
  const logged = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ plugin, level }) => plugin === 'shop' && level === 50);
  t.match(
    logged.filter(({ name }) => name === 'late'),
    [{ attempts: 1, error: /not yet/u }, { attempts: 2 }],
  );
  t.match(
    logged.find(({ name }) => name === 'odd'),
    { error: /reconcile must return/u },
  );
  t.match(
    logged.find(({ changed }) => changed === 'nowhere'),
    { error: /no shop/u },
  );
});
