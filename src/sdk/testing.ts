/** A harness for plugins' tests (`ledgerplane/testing`): a real server with one plugin, for any test runner. */
import { mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { pino } from 'pino';
import { parse } from 'yaml';

import { isObject } from '../base/guards.ts';
import { noHashCost, Passwords } from '../auth/passwords/password.ts';
import { delay, systemClock } from '../base/clock.ts';
import { decodeConfig, type Config } from '../config/config.ts';
import { startServer, type RunningServer } from '../server/server.ts';
import { testCaller, type TestCaller } from './testing-client.ts';

export type { TestCaller, TestFetch, TestRequest } from './testing-client.ts';

export type PluginTestOptions = {
  /** The plugin's folder, which contains plugin.yaml. Build the file in `spec.main` first. */
  readonly folder: string | URL;
  /** The folders of the plugins on which the plugin depends. */
  readonly others?: readonly (string | URL)[];
  /**
   * Whether the bundled plugins of the platform are started; `absent` by default. With `itself`, the tested plugin is
   * the only bundled plugin, and may thus use the platform's groups.
   */
  readonly bundled?: 'absent' | 'started' | 'itself';
  /** The platform's domain; `svc.run` by default. */
  readonly domain?: string;
  /** The log level of the server and the plugin, which log to standard error; `error` by default. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** The time limit of the start, of the start after an upgrade, and of each call of `settled`; 30,000 by default. */
  readonly timeLimitMs?: number;
};

/** A running server on which the plugin has started. `fetch` and `client` act as the administrator. */
export type PluginTest = TestCaller & {
  /** The server's URL. The server uses a free port. */
  readonly url: string;
  readonly visitor: TestCaller;
  /** Creates the user at the first call, assigns the roles to the user, and returns a caller that acts as the user. */
  readonly as: (user: string, rights?: { readonly roles?: readonly string[] }) => Promise<TestCaller>;
  /**
   * Resolves when every reconciler is idle: no object waits for a step, and no object's last step failed. An object
   * with the outcome `again` is ignored until its next step is due. Rejects after the time limit, with the failing
   * reconcilers.
   */
  readonly settled: () => Promise<void>;
  /**
   * Replaces the plugin by another version, in another folder, as an upgrade does. Resolves when the new version has
   * started, its migrations are done, and every stored object is checked. Rejects if the plugin does not start, a
   * migration fails for an object, or an object breaks the schema of its type.
   */
  readonly upgrade: (folder: string | URL) => Promise<void>;
  /** Stops the server and removes its data. */
  readonly stop: () => Promise<void>;
};

const timeLimitDefaultMs = 30_000;
const lookMs = 10;

/** Starts a server with this plugin and `others`. Rejects with the reason if a plugin does not start. */
export async function startPlugin(options: PluginTestOptions): Promise<PluginTest> {
  const { timeLimitMs = timeLimitDefaultMs } = options;
  const place = await mkdtemp(join(tmpdir(), 'ledgerplane-test-'));
  const password = randomBytes(12).toString('base64url');
  let server: RunningServer | undefined;
  const stop = async (): Promise<void> => {
    await server?.close();
    server = undefined;
    await rm(place, { recursive: true, force: true });
  };
  try {
    const config = await configOf(options, place, password);
    server = await startServer(config, {
      ...(options.bundled === 'started' ? {} : { bundledPlugins: [join(place, 'bundled')] }),
      passwords: new Passwords(noHashCost),
      log: loggerOf(options),
      signal: AbortSignal.timeout(timeLimitMs),
    });
    const { url, reconcilers, upgrades } = server;
    const admin = testCaller(url, basic('admin', password));
    await untilStarted(admin, config.platformDomain, await namesOf(options), { limitMs: timeLimitMs });
    return {
      ...admin,
      url,
      visitor: testCaller(url, undefined),
      as: users(admin, url, config.platformDomain),
      settled: async () => settled(reconcilers, timeLimitMs),
      upgrade: async (folder) =>
        upgrade(folder, { options, place, admin, upgrades, domain: config.platformDomain, limitMs: timeLimitMs }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Links the plugins into a temporary folder, and returns the settings of a server with these plugins. */
async function configOf(options: PluginTestOptions, place: string, password: string): Promise<Config> {
  const { folder, others = [], domain } = options;
  const plugins = join(place, 'plugins');
  for (const each of [plugins, join(place, 'bundled')]) await mkdir(each);
  for (const [index, each] of [folder, ...others].entries()) {
    const path = pathOf(each);
    const name = basename(path);
    // Folders may have the same name, so each further link gets a unique name. The first link has the name of the
    // folder, because a plugin with an unreadable manifest is reported under this name.
    await symlink(path, index === 0 ? linkOf(options, place) : join(plugins, `${name}.${String(index)}`));
  }
  const decoded = decodeConfig(
    {
      PORT: '0',
      DATA_DIR: join(place, 'data'),
      ADMIN_PASSWORD: password,
      PLUGINS_DIRS: plugins,
      ...(domain === undefined ? {} : { PLATFORM_DOMAIN: domain }),
    },
    place,
  );
  if (!decoded.ok) throw new Error(decoded.mistakes.join('; '));
  return decoded.config;
}

/** Returns the path at which the tested plugin's folder is linked. */
function linkOf({ folder, bundled }: PluginTestOptions, place: string): string {
  return join(place, bundled === 'itself' ? 'bundled' : 'plugins', basename(pathOf(folder)));
}

function pathOf(folder: string | URL): string {
  return resolve(folder instanceof URL ? fileURLToPath(folder) : folder);
}

function loggerOf({ logLevel = 'error' }: PluginTestOptions): pino.Logger {
  return pino({ level: logLevel }, pino.destination({ dest: 2, sync: true }));
}

/** Returns the plugins' names from their manifests. */
async function namesOf({ folder, others = [] }: PluginTestOptions): Promise<readonly string[]> {
  return Promise.all([folder, ...others].map(async (each) => (await manifestOf(each)).name));
}

/** Returns the name and version in a manifest. Without a readable name, returns the folder's name. */
async function manifestOf(
  folder: string | URL,
): Promise<{ readonly name: string; readonly version: string | undefined }> {
  const manifest: unknown = await readFile(join(pathOf(folder), 'plugin.yaml'), 'utf8')
    .then(parse)
    .catch(() => undefined);
  const [metadata, spec] = ['metadata', 'spec'].map((member) => (isObject(manifest) ? manifest[member] : undefined));
  const name = isObject(metadata) ? metadata['name'] : undefined;
  const version = isObject(spec) ? spec['version'] : undefined;
  return {
    name: typeof name === 'string' ? name : basename(pathOf(folder)),
    version: typeof version === 'string' ? version : undefined,
  };
}

async function untilStarted(
  { fetch }: TestCaller,
  domain: string,
  names: readonly string[],
  { limitMs, version }: { readonly limitMs: number; readonly version?: string },
): Promise<void> {
  const endMs = systemClock.monotonic() + limitMs;
  for (const name of names) {
    for (;;) {
      const {
        phase = 'absent',
        running,
        why = 'no Plugin object exists: plugin.yaml has no readable name',
      } = statusIn(await (await fetch(`/apis/plugin.${domain}/v1alpha1/plugins/${name}`)).json());
      if (phase === 'started' && (version === undefined || running === version)) break;
      // During an upgrade, the server may find no folder for a short time.
      const isReplaced = version !== undefined && why.startsWith('FolderMissing');
      if (['failed', 'stopped', 'absent'].includes(phase) && !isReplaced)
        throw new Error(`the plugin ${name} is ${phase}: ${why}`);
      if (systemClock.monotonic() > endMs)
        throw new Error(`the plugin ${name} did not start within ${String(limitMs)} ms: ${why}`);
      await delay(systemClock, lookMs);
    }
  }
}

type ShownStatus = {
  readonly phase?: string;
  readonly running?: unknown;
  readonly why?: string;
};

/** Returns the phase and version of a Plugin object, and the reason and message of its Ready condition. */
function statusIn(plugin: unknown): ShownStatus {
  const status = isObject(plugin) ? plugin['status'] : undefined;
  if (!isObject(status) || typeof status['phase'] !== 'string') return {};
  const conditions: readonly unknown[] = Array.isArray(status['conditions']) ? status['conditions'] : [];
  const ready = conditions.filter(isObject).find(({ type }) => type === 'Ready');
  return {
    phase: status['phase'],
    running: status['version'],
    why: `${String(ready?.['reason'])}: ${String(ready?.['message'])}`,
  };
}

type Upgrading = {
  readonly options: PluginTestOptions;
  readonly place: string;
  readonly admin: TestCaller;
  readonly upgrades: RunningServer['upgrades'];
  readonly domain: string;
  readonly limitMs: number;
};

async function upgrade(
  folder: string | URL,
  { options, place, admin, upgrades, domain, limitMs }: Upgrading,
): Promise<void> {
  const [before, after] = [await manifestOf(options.folder), await manifestOf(folder)];
  if (after.name !== before.name) throw new Error(`the folder contains the plugin ${after.name}, not ${before.name}`);
  await symlink(pathOf(folder), join(place, 'next'));
  // Replaces the link in one step, so that the plugin always has a folder.
  await rename(join(place, 'next'), linkOf(options, place));
  const version = after.version === undefined ? {} : { version: after.version };
  await untilStarted(admin, domain, [after.name], { limitMs, ...version });
  await upgrades.idle();
  const problems = [
    ...upgrades.migrations
      .of(after.name)
      .failures.map(
        ({ id, type, count, name, problem }) =>
          `the migration ${id} fails for ${String(count)} objects of ${type}, the first is ${name}: it ${problem}`,
      ),
    ...upgrades.checks
      .of(after.name)
      .map(
        ({ type, count, first: { name, pointer, detail } }) =>
          `${String(count)} objects of ${type} break the schema, ` +
          `the first is ${name}: ${`${pointer} ${detail}`.trim()}`,
      ),
  ];
  if (problems.length > 0) throw new Error(problems.join('; '));
}

/** Returns the function `as`, which creates a user at the first call for the user. */
function users(admin: TestCaller, url: string, domain: string): PluginTest['as'] {
  const passwords = new Map<string, string>();
  return async (user, { roles = [] } = {}) => {
    const password = passwords.get(user) ?? randomBytes(12).toString('base64url');
    if (!passwords.has(user))
      await admin.client.create(
        { group: '', version: 'v1alpha1', plural: 'users' },
        { metadata: { name: user }, spec: { password } },
      );
    passwords.set(user, password);
    const answer = await admin.fetch(`/apis/api.console.${domain}/v1alpha1/users/${user}/permissions`, {
      method: 'POST',
      body: { roles },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`could not assign the roles ${roles.join(', ')} to the user ${user}: ${text}`);
    return testCaller(url, basic(user, password));
  };
}

async function settled(reconcilers: RunningServer['reconcilers'], limitMs: number): Promise<void> {
  const done = new AbortController();
  const limit = delay(systemClock, limitMs, done.signal).then(() => 'over' as const);
  const steps = (): number =>
    reconcilers().reduce((sum, { counts }) => sum + counts.settled + counts.again + counts.failed, 0);
  const idle = async (): Promise<'idle'> =>
    Promise.all(reconcilers().map(async (reconciler) => reconciler.idle())).then(() => 'idle');
  try {
    for (;;) {
      const before = steps();
      const outcome = await Promise.race([limit, idle()]);
      // A step of one reconciler may create work for another reconciler, so all reconcilers are checked again.
      await nextTurn();
      const failing = reconcilers().flatMap(({ name, failing: keys }) =>
        [...keys].map(([key, times]) => `${name} failed ${String(times)} times for ${key}`),
      );
      if (outcome === 'over')
        throw new Error(
          `the reconcilers did not become idle within ${String(limitMs)} ` +
            `ms${failing.length === 0 ? '' : `: ${failing.join('; ')}`}`,
        );
      if (failing.length === 0 && steps() === before) return;
      if (failing.length > 0) await delay(systemClock, lookMs);
    }
  } finally {
    done.abort();
  }
}

function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
