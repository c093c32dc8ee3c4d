/**
 * Starts with slow plugins: the served paths meanwhile, and the plugins' final states. Time is a fake clock's, modules
 * wait for the test.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { test } from 'tap';
import type { Test } from 'tap';

import { adminAuthorization, startTestServer, type TestServer } from '../support/server/start-server.ts';
import {
  manifestYaml,
  moduleText,
  temporaryFolder,
  writePlugins,
  type PluginFiles,
} from '../plugin/host/host-stage.ts';
import { runCommandLine } from '../support/server/command-line.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { passing } from '../support/clocks/stopped-time.ts';

const plugins = '/apis/plugin.svc.run/v1alpha1/plugins';
const merge = { 'content-type': 'application/merge-patch+json' };

/** What modules of this process wait for, by the name of the gate. */
const gates = new Map<
  string,
  { readonly open: () => void; readonly fail: () => void; readonly opened: Promise<void> }
>();
const stops: string[] = [];
Object.assign(globalThis, {
  gateOf: (name: string) => gates.get(name)?.opened,
  noteStop: (name: string) => {
    stops.push(name);
  },
});

function gate(name: string): void {
  let [open, fail] = [(): void => undefined, (): void => undefined];
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = () => {
      reject(new Error('it failed after a while'));
    };
  });
  opened.catch(() => undefined);
  gates.set(name, { open, fail, opened });
}

function slow(
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
  type = name,
): Readonly<Record<string, string>> {
  return {
    'plugin.yaml': manifestYaml(name, { main: 'main.mjs', ...spec }),
    'main.mjs':
      `await globalThis.gateOf('${name}');\n` +
      moduleText(type, { group: `${type}.example`, more: `stop: () => globalThis.noteStop('${name}')` }),
  };
}

function quick(
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
  type = name,
): Readonly<Record<string, string>> {
  return {
    'plugin.yaml': manifestYaml(name, { main: 'main.mjs', ...spec }),
    'main.mjs': moduleText(type, { group: `${type}.example` }),
  };
}

type Starting = {
  readonly clock: FakeClock;
  readonly root: string;
  readonly lines: readonly string[];
  isReady(): boolean;
  readonly started: Promise<TestServer>;
  status(path: string, who?: 'admin' | 'visitor'): Promise<number>;
  text(path: string): Promise<string>;
  /** The phase of a plugin, and the reason and message of its Ready condition. */
  standing(plugin: string): Promise<string>;
  enable(plugin: string, enabled: boolean): Promise<number>;
  /**
   * Advances the clock by `ms` after each check until it holds; `shortly`: by little in all, however busy the machine
   * is.
   */
  until(holds: () => Promise<boolean>, ms?: number): Promise<void>;
  shortly(holds: () => Promise<boolean>): Promise<void>;
};

/** A server that has begun to listen. */
async function begin(
  t: Test,
  files: PluginFiles,
  given: { readonly root?: string; readonly dataDir?: string } = {},
): Promise<Starting> {
  const root = given.root ?? (await temporaryFolder(t));
  await writePlugins(root, files);
  const dataDir = given.dataDir ?? (await mkdtemp(join(tmpdir(), 'ledgerplane-slow-')));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const clock = new FakeClock();
  const lines: string[] = [];
  let [listening, isReady] = [(_url: string): void => undefined, false];
  const url = new Promise<string>((resolve) => {
    listening = resolve;
  });
  const started = startTestServer({
    clock,
    dataDir,
    environment: { PLUGINS_DIRS: root },
    onListening: (at) => {
      listening(at);
    },
    logLines: {
      write: (line) => {
        lines.push(line);
      },
    },
  });
  started.then(
    () => {
      isReady = true;
    },
    () => undefined,
  );
  t.teardown(async () =>
    passing(
      clock,
      started.then(async (server) => server.close()),
    ),
  );
  const at = await url;
  const call = async (
    path: string,
    init: {
      readonly method?: string;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<Response> =>
    fetch(`${at}${path}`, { ...init, headers: { authorization: adminAuthorization, ...init.headers } });
  const status = async (path: string, who: 'admin' | 'visitor' = 'admin'): Promise<number> => {
    const answer = await (who === 'admin' ? call(path) : fetch(`${at}${path}`));
    await answer.text();
    return answer.status;
  };
  const until: Starting['until'] = async (holds, ms = 0) => {
    while (!(await holds())) {
      clock.advance(ms);
      await nextTurn();
    }
  };
  // Plugins wait two seconds for each other's types, and a start takes at most ten.
  const shortly: Starting['shortly'] = async (holds) => {
    for (let passedMs = 0; !(await holds()); passedMs += 20) {
      clock.advance(passedMs < 4_000 ? 20 : 1);
      await nextTurn();
    }
  };
  await until(async () => (await status(plugins)) === 200, 1);
  return {
    clock,
    root,
    lines,
    started,
    status,
    until,
    shortly,
    isReady: () => isReady,
    text: async (path) => (await call(path)).text(),
    standing: async (plugin) => {
      const object = (await (await call(`${plugins}/${plugin}`)).json()) as {
        readonly status?: {
          readonly phase: string;
          readonly conditions?: readonly { readonly reason: string; readonly message: string }[];
        };
      };
      return (
        `${object.status?.phase ?? ''} ${object.status?.conditions?.[0]?.reason ?? ''}: ` +
        (object.status?.conditions?.[0]?.message ?? '')
      );
    },
    enable: async (plugin, enabled) =>
      (
        await call(`${plugins}/${plugin}`, {
          method: 'PATCH',
          body: JSON.stringify({ spec: { enabled } }),
          headers: merge,
        })
      ).status,
  };
}

test('a module that never settles delays its plugin and the dependents, and no other plugin', async (t) => {
  gate('slow');
  gate('slower');
  const server = await begin(t, {
    slow: slow('slow'),
    slower: slow('slower'),
    needs: quick('needs', { pluginDependencies: { slow: '*' } }),
    fast: quick('fast'),
  });
  await server.shortly(async () => (await server.status('/apis/fast.example/v1/fast')) === 200);
  t.notOk(server.isReady(), 'it is served before the start is over');
  for (const path of ['/livez', '/apis', plugins]) t.equal(await server.status(path), 200, path);
  await server.shortly(async () => (await server.standing('slow')).startsWith('not-started Loading'));
  await server.shortly(async () => (await server.standing('needs')).includes('waiting for the plugin slow'));
  t.match(await server.text('/readyz'), /plugins are starting: .*slow \(loading the module\)/u);
  t.match(await server.text('/readyz'), /needs \(waiting for the plugin slow/u);
  for (const path of [
    '/apis/slow.example/v1/slow',
    '/apis/slow.example/v1/slow/one',
    '/apis/slow.example',
    '/apis/slow.example/v1',
    '/apis/any.example/v1/things?watch=true',
  ]) {
    t.equal(await server.status(path), 503, path);
    t.equal(await server.status(path, 'visitor'), 503, `${path}, as a visitor`);
  }
  t.equal(await server.status('/apis/needs.example/v1/needs'), 503);
  t.match(await server.text('/apis/slow.example/v1/slow'), /slow, slower/u);
  t.equal(await server.status('/nothing'), 404, 'no plugin can have anything there');
  t.equal(await server.status('/apis/fast.example/v1/fast/none'), 404);
  t.ok(server.lines.some((line) => line.includes('waiting for plugins to start')));
  t.notOk(server.isReady());
  await server.until(async () => Promise.resolve(server.isReady()), 500);
  t.equal(await server.status('/readyz'), 200);
  await server.until(async () => (await server.standing('slow')).startsWith('failed StartTimeout'), 100);
  await server.until(async () => (await server.standing('needs')).startsWith('failed DependencyNotStarted'), 100);
  await server.until(async () => (await server.status('/apis/slow.example/v1/slow')) === 404, 100);
  gates.get('slow')?.open();
  await nextTurn();
  t.match(await server.standing('slow'), /^failed StartTimeout/u, 'what comes later than that is not taken');
});

test('once a slow plugin has started its stored objects are served, and the start ends', async (t) => {
  gate('slow');
  gates.get('slow')?.open();
  const dataDir = await mkdtemp(join(tmpdir(), 'ledgerplane-slow-'));
  const first = await begin(t, { slow: slow('slow') }, { dataDir });
  await first.until(async () => Promise.resolve(first.isReady()));
  const running = await first.started;
  for (const name of ['a', 'b', 'c'])
    t.equal(
      (
        await running.call('/apis/slow.example/v1/slow', {
          method: 'POST',
          body: { metadata: { name }, spec: { color: name } },
        })
      ).status,
      201,
    );
  await passing(first.clock, running.close());
  gate('slow');
  await writeFile(join(first.root, 'slow', 'main.mjs'), `// again\n${slow('slow')['main.mjs'] ?? ''}`);
  const server = await begin(t, {}, { dataDir, root: first.root });
  server.clock.advance(1_000);
  await server.shortly(async () => (await server.standing('slow')).startsWith('not-started Loading'));
  t.equal(await server.status('/apis/slow.example/v1/slow/a'), 503);
  t.notOk(server.isReady());
  gates.get('slow')?.open();
  await server.until(async () => Promise.resolve(server.isReady()));
  t.match(JSON.parse(await server.text('/apis/slow.example/v1/slow?sort=spec.color,desc')), {
    total: 3,
    items: [{ metadata: { name: 'c' } }, {}, {}],
  });
  t.equal(await server.status('/apis/any.example/v1/things'), 404);
});

test('a plugin that fails later fails alone, and its dependents are notified', async (t) => {
  gate('slow');
  const server = await begin(t, { slow: slow('slow'), fast: quick('fast') });
  await server.shortly(async () => (await server.status('/apis/fast.example/v1/fast')) === 200);
  gates.get('slow')?.fail();
  await server.until(async () => Promise.resolve(server.isReady()));
  t.match(await server.standing('slow'), /^failed ModuleFailed: .*it failed after a while/u);
  t.equal(await server.status('/apis/slow.example/v1/slow'), 404);
});

test('a plugin is disabled and enabled while it loads', async (t) => {
  gate('slow');
  const server = await begin(t, { slow: slow('slow') });
  await server.shortly(async () => (await server.standing('slow')).startsWith('not-started Loading'));
  t.equal(await server.enable('slow', false), 200);
  await server.until(async () => (await server.standing('slow')).startsWith('stopped'));
  await server.until(async () => Promise.resolve(server.isReady()));
  t.equal(await server.status('/apis/slow.example/v1/slow'), 404, 'nobody waits for it any more');
  t.equal(await server.enable('slow', true), 200);
  await server.shortly(async () => (await server.standing('slow')).startsWith('not-started'));
  t.equal(await server.enable('slow', false), 200);
  await server.until(async () => (await server.standing('slow')).startsWith('stopped'));
  const before = stops.length;
  gates.get('slow')?.open();
  await server.until(async () => Promise.resolve(stops.length > before));
  t.equal(stops.at(-1), 'slow', 'an unneeded module is stopped');
  t.equal(await server.enable('slow', true), 200);
  await server.until(async () => (await server.status('/apis/slow.example/v1/slow')) === 200);
});

test('a plugin that changes while it loads starts with the newer files', async (t) => {
  gate('slow');
  const server = await begin(t, { slow: slow('slow') });
  await server.shortly(async () => (await server.standing('slow')).startsWith('not-started Loading'));
  await writeFile(join(server.root, 'slow', 'main.mjs'), quick('slow')['main.mjs'] ?? '');
  await server.until(async () => (await server.status('/apis/slow.example/v1/slow')) === 200, 2);
  const before = stops.length;
  gates.get('slow')?.open();
  await server.until(async () => Promise.resolve(stops.length > before));
  t.equal(await server.status('/apis/slow.example/v1/slow'), 200, 'the older ones end without it');
});

test('of two plugins with one type the started one has it, and the slow one once the first is deleted', async (t) => {
  gate('a-slow');
  const server = await begin(t, { 'a-slow': slow('a-slow', {}, 'thing'), 'b-fast': quick('b-fast', {}, 'thing') });
  await server.shortly(async () => (await server.status('/apis/thing.example/v1/thing')) === 200);
  gates.get('a-slow')?.open();
  await server.until(async () => Promise.resolve(server.isReady()));
  t.match(await server.standing('a-slow'), /^failed TypesRefused: .*b-fast/u);
  t.equal(await server.enable('b-fast', false), 200);
  await server.until(async () => (await server.standing('a-slow')).startsWith('started'));
  t.equal(await server.status('/apis/thing.example/v1/thing'), 200);
});

test('a signal ends a server that waits for a plugin, with exit 0', async (t) => {
  const root = await temporaryFolder(t);
  await writePlugins(root, {
    slow: {
      'plugin.yaml': manifestYaml('slow', { main: 'main.mjs' }),
      'main.mjs': 'setInterval(() => undefined, 1_000);\nawait new Promise(() => undefined);\n',
    },
  });
  const run = runCommandLine(['serve'], {
    cwd: t.testdir(),
    env: { PORT: '0', DATA_DIR: 'data', ADMIN_PASSWORD: 'a password of the test', PLUGINS_DIRS: root },
  });
  while (!run.stderr().includes('waiting for plugins to start')) await nextTurn();
  run.child.kill('SIGTERM');
  t.equal(await run.exited(), 0);
  t.match(run.stderr(), /stopped before the start was finished/u, 'in order, and not as its time was over');
  t.equal(run.stdout(), '', 'it never was ready');
});
