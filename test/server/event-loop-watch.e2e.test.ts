import { setTimeout as passes } from 'node:timers/promises';

import { test } from 'tap';
import type { Test } from 'tap';

import { runCommandLine, type CommandLine } from '../support/server/command-line.ts';
import { adminAuthorization, testPassword } from '../support/server/start-server.ts';
import { manifestYaml, temporaryFolder, writePlugins } from '../plugin/host/host-stage.ts';

type Line = {
  readonly level: number;
  readonly time: string;
  readonly pid: number;
  readonly hostname: string;
  readonly plugin?: string;
  readonly heldMs?: number;
  readonly at?: string;
  readonly function?: string;
  readonly msg: string;
};

/** Far longer than the reported minimum, and shorter than the interval of a second report. */
const heldMs = 1_200;

/** Where a plugin holds the loop, by the route that has it do so; `spin` is in its module. */
const holds = {
  route: 'spin();',
  promise: 'await Promise.resolve(); spin();',
  microtask: 'queueMicrotask(spin); await new Promise((resolve) => { setImmediate(resolve); });',
  timer: 'await new Promise((resolve) => { setTimeout(() => { spin(); resolve(); }, 1); });',
  late: 'setTimeout(spin, 1);',
  index:
    'await pluginClient.create({ group: "loops.example", version: "v1", plural: "loops" }, { metadata: { ' +
    'generateName: "l-" }, spec: { spin: true } });',
  reconciler:
    'await pluginClient.create({ group: "loops.example", version: "v1", plural: "loops" }, { metadata: { ' +
    'generateName: "r-" }, spec: { reconcile: true } });',
  native: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HELD);',
  child: 'execFileSync("sleep", [String(HELD / 1_000)]);',
};
const moduleText = `
  import { execFileSync } from 'node:child_process';
  const HELD = ${String(heldMs)};
  function spin() { const end = performance.now() + HELD; while (performance.now() < end); }
  const route = (name, act) => ({ method: 'POST', path: '/apis/api.loops.example/v1/' + name, handler: act });
  export default {
    types: [{ group: 'loops.example', version: 'v1', kind: 'Loop', singular: 'loop', plural: 'loops',
      schema: { type: 'object', properties: { spec: { type: 'object' } } },
      indexes: [{ name: 'spec.spin', type: 'boolean', indexFunc: (object) => { if (object.spec?.spin) spin();
        return object.spec?.spin; } }] }],
    reconcilers: [{ type: { group: 'loops.example', version: 'v1', plural: 'loops' },
      reconcile: ({ object }) => { if (object?.spec?.reconcile) spin(); } }],
    routes: [
      ${Object.entries(holds)
        .map(([name, text]) => `route('${name}', async ({ pluginClient }) => { ${text} }),`)
        .join('\n')}
      route('endless', function endless() { for (;;); }),
    ],
  };
`;

type Running = CommandLine & {
  readonly url: string;
  post(path: string): Promise<number>;
  lines(msg: RegExp): readonly Line[];
  untilLines(msg: RegExp, count: number): Promise<readonly Line[]>;
};

async function running(t: Test, env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    loops: { 'plugin.yaml': manifestYaml('loops', { main: 'main.mjs' }), 'main.mjs': moduleText },
    other: {
      'plugin.yaml': manifestYaml('other', { main: 'main.mjs' }),
      'main.mjs': 'setInterval(() => {}, 1); export default {};',
    },
  });
  const run = runCommandLine(['serve'], {
    cwd: t.testdir(),
    env: { PORT: '0', ADMIN_PASSWORD: testPassword, PLUGINS_DIRS: root, ...env },
  });
  t.teardown(() => run.child.kill('SIGKILL'));
  const url = /http:\/\/\S+/u.exec(await run.ready())?.[0] ?? '';
  const lines = (msg: RegExp): readonly Line[] =>
    run
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => msg.test(line.msg));
  return {
    ...run,
    url,
    lines: lines,
    post: async (path) =>
      (
        await fetch(`${url}/apis/api.loops.example/v1/${path}`, {
          method: 'POST',
          headers: { authorization: adminAuthorization },
        })
      ).status,
    untilLines: async (msg, count) => {
      while (lines(msg).length < count) await passes(5);
      return lines(msg);
    },
  };
}

const holdsIt = /^a plugin blocks the event loop/u;
const heldIt = /^a plugin blocked the event loop/u;

test('code that blocks the event loop is logged during the block and afterwards, for any caller', async (t) => {
  const server = await running(t);
  let count = 0;
  for (const name of Object.keys(holds)) {
    t.ok([200, 204].includes(await server.post(name)), name);
    count += 1;
    const [holding, held] = [
      (await server.untilLines(holdsIt, count)).at(-1),
      (await server.untilLines(heldIt, count)).at(-1),
    ];
    t.match(
      holding,
      {
        level: 40,
        plugin: 'loops',
        at: /^main\.mjs:\d+:\d+$/u,
        function: String,
        hostname: String,
        pid: server.child.pid,
        time: /^\d{4}-\d\d-\d\dT/u,
      },
      name,
    );
    t.match(held, { level: 40, plugin: 'loops' }, name);
    const longest = held?.heldMs ?? 0;
    t.ok(longest >= heldMs - 300 && longest < heldMs * 3, `${name}: ${String(longest)} ms`);
  }
  // A busy machine may hold the platform's own code as long: that is reported, too.
  const platform = server.lines(/^the event loop (is|was) blocked/u);
  t.same(
    platform.filter(({ at = '' }) => at.includes('main.mjs')),
    [],
    'no block by the plugin is attributed to the platform',
  );
  const metrics = await (
    await fetch(`${server.url}/metrics`, { headers: { authorization: adminAuthorization } })
  ).text();
  t.match(metrics, new RegExp(`^ledgerplane_event_loop_held_total\\{plugin="loops"\\} ${String(count)}$`, 'mu'));
  await passes(200);
  t.match(
    await (await fetch(`${server.url}/metrics`, { headers: { authorization: adminAuthorization } })).text(),
    /^ledgerplane_event_loop_lag_seconds\{quantile="1"\} [\d.e-]+$/mu,
  );
  server.child.kill('SIGTERM');
  t.equal(await server.exited(), 0, 'and a stop waits for nothing');
});

test('an endless loop is reported at once, and again', async (t) => {
  const server = await running(t);
  server.post('endless').catch(() => undefined);
  const lines = await server.untilLines(holdsIt, 2);
  t.match(lines[0], { plugin: 'loops', function: 'endless' });
  t.ok(
    (lines[0]?.heldMs ?? 0) < 1_500 && (lines[1]?.heldMs ?? 0) >= 2_000,
    lines.map(({ heldMs: ms }) => ms).join(', '),
  );
});

test('a plugin with an endless module is logged before the server listens', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    hangs: { 'plugin.yaml': manifestYaml('hangs', { main: 'lib/main.mjs' }), 'lib/main.mjs': 'for (;;);' },
  });
  const run = runCommandLine(['serve'], {
    cwd: t.testdir(),
    env: { PORT: '0', ADMIN_PASSWORD: testPassword, PLUGINS_DIRS: root },
  });
  t.teardown(() => run.child.kill('SIGKILL'));
  while (!/"plugin":"hangs".*"at":"lib\/main\.mjs:1:/u.test(run.stderr())) await passes(5);
});

test('a pause of the process by a signal is attributed to no plugin', async (t) => {
  const server = await running(t);
  for (const stoppedMs of [700, 1_500]) {
    server.child.kill('SIGSTOP');
    await passes(stoppedMs);
    server.child.kill('SIGCONT');
    await passes(400);
  }
  t.equal(await server.post('nowhere'), 404);
  t.same(server.lines(/event loop/u), []);
});

test('below its log level nothing is reported', async (t) => {
  const server = await running(t, { LOG_LEVEL: 'error' });
  await server.post('route');
  t.same(server.lines(/event loop/u), []);
});
