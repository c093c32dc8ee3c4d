/** The route of the reconcilers, on a real server with a plugin whose steps fail, spin or never end. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { test, type Test } from 'tap';

import {
  reconcileErrorLengthMax,
  reconcileFailingAttempts,
  reconcileFailingNamesMax,
  reconcileStepMs,
} from '../../../reconcilers/reconcile-limits.ts';
import type { ReconcilerReport } from '../../../src/read/operation/reconciler-report.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../../plugin/host/host-stage.ts';
import { ask } from '../../support/ask.ts';
import { Administration, as } from '../../support/server/administration.ts';
import { StoppedTime } from '../../support/clocks/stopped-time.ts';

const type = "{ group: 'goods.example', version: 'v1', plural: 'jobs' }";
const jobs = '/apis/goods.example/v1/jobs';
const path = '/apis/api.console.svc.run/v1alpha1/reconcilers';

/** A job does as its `spec.does` says. */
const moduleText = `
export default {
  types: [{ group: 'goods.example', version: 'v1', kind: 'Job', singular: 'job', plural: 'jobs',
    schema: { type: 'object', properties: { spec: { type: 'object' }, status: { type: 'object' } } } }],
  reconcilers: [{
    type: ${type},
    concurrency: 4,
    async reconcile({ name, object, pluginClient }) {
      switch (object?.spec.does) {
        case 'fail': throw new Error('no carrier for ' + name + ' ' + 'x'.repeat(1000));
        case 'throw oddly': throw { toString() { throw new Error('unreadable'); } };
        case 'hang': return new Promise(() => undefined);
        case 'wait': return { type: 'again', afterMs: 3_600_000 };
        case 'spin': await pluginClient.patch(${type}, name, { status: { ticks: (object.status?.ticks ?? 0) + 1 } });
      }
    },
  }],
};
`;

type Reports = { readonly node: string; readonly isLeader: boolean; readonly items: readonly ReconcilerReport[] };

async function given(t: Test) {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    work: { 'plugin.yaml': manifestYaml('work', { main: 'main.mjs' }), 'main.mjs': moduleText },
  });
  const { server, clock } = await StoppedTime.start(t, { environment: { PLUGINS_DIRS: root } });
  const reports = async (): Promise<Reports> => (await (await server.call(path)).json()) as Reports;
  const ofJobs = async (): Promise<ReconcilerReport> =>
    (await reports()).items.find(({ plugin }) => plugin === 'work') as ReconcilerReport;
  const until = async (holds: (report: ReconcilerReport) => boolean): Promise<ReconcilerReport> => {
    for (;;) {
      const report = await ofJobs();
      if (holds(report)) return report;
      await nextTurn();
    }
  };
  const make = async (name: string, does: string): Promise<void> => {
    const made = await server.call(jobs, { method: 'POST', body: { metadata: { name }, spec: { does } } });
    if (made.status !== 201) throw new Error(await made.text());
  };
  return { server, clock, reports, until, make };
}

test('the reconcilers of the platform and of plugins are listed with their steps', async (t) => {
  const { clock, reports, until, make } = await given(t);
  const { node, isLeader, items } = await reports();
  t.match({ node, isLeader }, { node: /^[0-9a-f-]{36}$/u, isLeader: true });
  t.strictSame(
    items.filter(({ plugin }) => plugin === 'platform').map(({ name }) => name),
    ['bindings', 'claims', 'collector', 'owner-references', 'references', 'role-health', 'sessions', 'tokens'],
  );
  await make('a', 'wait');
  const report = await until(({ delayed }) => delayed === 1);
  t.match(report, {
    plugin: 'work',
    name: 'jobs.goods.example',
    type: 'jobs.goods.example',
    queued: 0,
    running: 0,
    failing: { total: 0, items: [] },
    stuck: { total: 0, items: [] },
    slowed: { total: 0, items: [] },
    steps: { settled: 0, again: 1, failed: 0, stuck: 0 },
    lastSuccessAt: new Date(clock.now()).toISOString(),
  });
});

test('a failing name is shown with its error, its attempts and its next try', async (t) => {
  const { clock, server, until, make } = await given(t);
  await make('a', 'fail');
  const once = await until(({ failing }) => failing.total === 1);
  t.match(once.failing.items, [
    {
      name: 'a',
      attempts: 1,
      failedAt: new Date(clock.now()).toISOString(),
      nextTryAt: new Date(clock.now() + 10).toISOString(),
      error: /^Error: no carrier for a x+$/u,
    },
  ]);
  t.equal(once.failing.items[0]?.error.length, reconcileErrorLengthMax);
  t.equal(once.lastSuccessAt, undefined);
  for (let attempts = 2; attempts <= reconcileFailingAttempts; attempts += 1) {
    clock.advance(10_000);
    await until(({ failing }) => failing.items[0]?.attempts === attempts);
  }
  t.match((await until(() => true)).failing.items[0]?.error, /x \(at main\.mjs:\d+\)$/u, 'with its place');
  const merge = { 'content-type': 'application/merge-patch+json' };
  await server.call(`${jobs}/a`, {
    method: 'PATCH',
    body: JSON.stringify({ spec: { does: 'settle' } }),
    headers: merge,
  });
  const healed = await until(({ failing }) => failing.total === 0);
  t.match(healed.steps, { settled: 1, failed: reconcileFailingAttempts });
});

test('the shown failing names are bounded, and their number is exact', async (t) => {
  const { until, make } = await given(t);
  const count = reconcileFailingNamesMax + 3;
  for (let job = 0; job < count; job += 1) await make(`job-${String(job)}`, job === 0 ? 'throw oddly' : 'fail');
  const { failing } = await until(({ failing: { total } }) => total === count);
  t.equal(failing.items.length, reconcileFailingNamesMax);
  t.equal(failing.items[0]?.error, 'the plugin threw a value that cannot be printed');
});

test('a stuck step and a slowed name are shown', async (t) => {
  const { clock, until, make } = await given(t);
  await make('a', 'hang');
  await until(({ running }) => running === 1);
  clock.advance(reconcileStepMs);
  const { stuck, running, steps } = await until((report) => report.stuck.total === 1);
  t.match({ stuck, running, steps }, { stuck: { items: [{ name: 'a' }] }, running: 0, steps: { stuck: 1 } });
  await make('b', 'spin');
  const { slowed } = await until((report) => report.slowed.total === 1 && report.delayed === 1);
  t.match(slowed.items, [
    { name: 'b', reason: /^the step for b rewrites jobs\.goods\.example\/b after each of its own writes/u },
  ]);
  t.equal(slowed.items[0]?.nextTryAt, new Date(clock.now() + 60_000).toISOString());
});

test('operators read the reconcilers by a role template, other users do not', async (t) => {
  const { server } = await given(t);
  const administration = new Administration(server.url);
  for (const name of ['jane', 'joe']) await administration.user(name);
  await administration.bind('janes', 'role-template-view-operation', 'jane');
  const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await ask(server.url, path, { headers })).status;
  t.strictSame([await status(as('jane')), await status(as('joe')), await status({})], [200, 403, 401]);
});
