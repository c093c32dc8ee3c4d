import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';

import type { Test } from 'tap';

import type { Unindexed } from '../../../src/read/index-build.ts';
import type { Leadership } from '../../../src/read/leadership.ts';
import { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../projections/object-models.ts';
import { catchUp, follow } from '../../../projections/runner.ts';
import { roleType } from '../../../src/auth/types/role-type.ts';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import type { Command } from '../../../src/command/command.ts';
import { createWriteDoor, type Execute } from '../../../src/write/execute.ts';
import { openLmdbLog } from '../../../src/log/lmdb/lmdb-log.ts';
import { logStart, type EventLog } from '../../../src/log/log.ts';
import { CodeFolders } from '../../../src/plugin/errors/error-attribution.ts';
import { PluginHost } from '../../../src/plugin/lifecycle/host.ts';
import type { PackageStore } from '../../../src/plugin/packages/package-store.ts';
import { pluginTypeDeclaration } from '../../../src/plugin/objects/plugin-type.ts';
import type { Endpoints } from '../../../src/plugin/api/endpoints.ts';
import type { MountedReconciler } from '../../../src/plugin/api/reconciler-mounts.ts';
import { LoadMarks } from '../../../src/plugin/load/load-marks.ts';
import type { PluginLogger } from '../../../src/plugin/api/plugin.ts';
import { noRules } from '../../../src/write/rules.ts';
import { TypeRegistry } from '../../../src/plugin/registry/type-registry.ts';
import type { JsonObject, JsonValue } from '../../../src/resource/object/object.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { compileType } from '../../../src/resource/type/type-declaration.ts';

export const domain = 'svc.run';

/** A folder of plugin folders: `{plugin: {file: text}}`. */
export type PluginFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

export async function temporaryFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-plugins-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function writePlugins(root: string, plugins: PluginFiles): Promise<void> {
  for (const [plugin, files] of Object.entries(plugins)) {
    for (const [file, text] of Object.entries(files)) {
      const path = join(root, plugin, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
  }
}

export function manifestYaml(name: string, spec: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    apiVersion: 'plugin.${domain}/v1alpha1',
    kind: 'Plugin',
    metadata: { name },
    spec: { version: '1.0.0', ...spec },
  });
}

/** A module with one type, `<plural>.<group>`, and what else `more` says. */
export function moduleText(
  plural: string,
  { group = `${plural}.example`, more = '' }: { readonly group?: string; readonly more?: string } = {},
): string {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1);
  return `export default { types: [{ group: '${group}', version: 'v1', kind: '${kind}', singular: '${plural}',
    plural: '${plural}',
    schema: { type: 'object', properties: { spec: { type: 'object' }, status: {} } },
      indexes: [{ name: 'spec.color' }] }], ${more} };\n`;
}

export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
};

/** A host on the real log, read models and write door, in folders of its own. */
export type Stage = {
  readonly host: PluginHost;
  readonly suspects: CodeFolders;
  readonly registry: TypeRegistry;
  readonly execute: Execute;
  /** By plugin; a value of undefined is announced and not mounted. */
  readonly routes: ReadonlyMap<string, Endpoints & { readonly serving: boolean }>;
  readonly closedWatches: readonly string[];
  readonly logLines: readonly { readonly level: string; readonly message: string; readonly fields: unknown }[];
  readonly reader: ObjectModels;
  readonly log: EventLog;
  events(): Promise<number>;
  object(type: string, name: string): JsonObject | undefined;
  phase(plugin: string): string | undefined;
  conditions(plugin: string): readonly Condition[];
  /** The reason and message of its Ready condition. */
  ready(plugin: string): string;
  write(type: string, command: Command): Promise<void>;
  setEnabled(plugin: string, enabled: boolean): Promise<void>;
  close(): Promise<void>;
};

export type StageOptions = {
  readonly dataDir: string;
  readonly bundled?: readonly string[];
  readonly extra?: readonly string[];
  readonly clock?: Clock;
  readonly buildIndexes?: (type: ResourceType, build: () => Promise<void>) => Promise<void>;
  /** Always leads when absent. */
  readonly leadership?: Leadership;
  readonly packages?: PackageStore;
  readonly disabledPlugins?: readonly string[];
  /** Of another node, which closes it; its own when absent. */
  readonly log?: EventLog;
  /** Comes between the host and the write door. */
  readonly guard?: (execute: Execute) => Execute;
  /** Leaves `start` to the test. */
  readonly onLoaded?: (stage: Stage) => Promise<void>;
};

export async function openStage(t: Test, options: StageOptions): Promise<Stage> {
  const {
    dataDir,
    clock = systemClock,
    leadership = { isLeader: () => true, subscribe: () => () => undefined },
  } = options;
  const registry = new TypeRegistry();
  const log =
    options.log ??
    (await openLmdbLog({
      dir: join(dataDir, 'log'),
      onFatal: (error) => {
        t.fail('the log failed', { error });
      },
    }));
  const tables = new LmdbTables(join(dataDir, 'read-models'));
  const models = new ObjectModels({
    tables,
    identity: () => ({ logId: 'the only one', epoch: 0 }),
    types: (key) => registry.byKey(key)?.type,
    clock,
  });
  for (const declaration of [pluginTypeDeclaration(domain), roleType]) {
    const compiled = compileType(declaration, { plugin: 'platform', bundled: true, domain });
    if (!compiled.ok) throw new Error(compiled.problems.join('; '));
    registry.register(compiled.type);
  }
  const platformTypes = registry.all().map(({ type }) => type);
  const execute = createWriteDoor({
    log,
    reader: models,
    clock,
    domain,
    uuid: randomUUID,
    suffix: () => 'aaaaa',
    lastEventTime: () => 0,
    rules: noRules,
    secrets: { keep: () => Promise.reject(new Error('nothing is withheld here')) },
  });
  const routes = new Map<string, Endpoints & { serving: boolean }>();
  const reconcilers = new Map<string, readonly MountedReconciler[]>();
  const closedWatches: string[] = [];
  const logLines: { level: string; message: string; fields: unknown }[] = [];
  const suspects = new CodeFolders();
  const host = new PluginHost({
    loadMarks: new LoadMarks(join(dataDir, 'plugin-loads'), randomUUID(), recorder(logLines)),
    suspects,
    registry,
    execute: options.guard?.(execute) ?? execute,
    reader: models,
    changes: models,
    leadership,
    clock,
    domain,
    namesOf: (type, page) => models.namesOf(type, page),
    platformVersion: '1.2.0',
    uuid: randomUUID,
    ...(options.packages === undefined ? {} : { packages: options.packages }),
    disabledPlugins: new Set(options.disabledPlugins),
    folders: { bundled: options.bundled ?? [], extra: options.extra ?? [] },
    log: recorder(logLines),
    loggerOf: () => recorder(logLines),
    routes: {
      announce: (plugin, declared) => {
        routes.set(plugin, { ...declared, serving: false });
      },
      mount: (plugin, declared) => {
        routes.set(plugin, { ...declared, serving: true });
      },
      unmount: (plugin) => {
        routes.delete(plugin);
      },
    },
    reconcilers: {
      mount: (plugin, declared) => {
        reconcilers.set(plugin, declared);
      },
      unmount: async (plugin) => {
        reconcilers.delete(plugin);
      },
      health: () => [],
      subscribe: () => () => undefined,
    },
    migrations: {
      mount: () => undefined,
      unmount: async () => Promise.resolve(),
      of: () => ({ running: [], failures: [] }),
      subscribe: () => () => undefined,
    },
    buildIndexes: async (type) => {
      let unindexed: Unindexed = { count: 0 };
      const build = async (): Promise<void> => {
        unindexed = await models.buildIndexes(type);
      };
      await (options.buildIndexes?.(type, build) ?? build());
      return unindexed;
    },
    closeWatches: (key) => {
      closedWatches.push(key);
    },
  });
  await host.loadTypes();
  const stopping = new AbortController();
  await catchUp(log, models, { signal: stopping.signal });
  const following = follow(log, models, stopping.signal);
  for (const type of platformTypes) {
    await models.buildIndexes(type);
    registry.serve(type.key);
  }
  const stage = stageOf(
    { host, suspects, registry, execute, routes, closedWatches, logLines, reader: models, log },
    {
      events: async () => {
        let count = 0;
        for await (const batch of log.readAll({ after: logStart, categories: ['object'] })) count += batch.length;
        return count;
      },
      close: async () => {
        await host.stop();
        stopping.abort();
        await following;
        if (options.log === undefined) await log.close();
        await tables.close();
      },
    },
  );
  if (options.onLoaded === undefined) await host.start();
  else await options.onLoaded(stage);
  return stage;
}

type Parts = Pick<
  Stage,
  'host' | 'suspects' | 'registry' | 'execute' | 'routes' | 'closedWatches' | 'logLines' | 'reader' | 'log'
>;

function stageOf(parts: Parts, ends: Pick<Stage, 'close' | 'events'>): Stage {
  const typeOf = (key: string): ResourceType => {
    const found = parts.registry.all().find(({ type }) => type.key === key);
    if (found === undefined) throw new Error(`no type ${key}`);
    return found.type;
  };
  const object = (type: string, name: string): JsonObject | undefined => {
    const stored = parts.reader.get(type as never, name);
    return stored === undefined ? undefined : (JSON.parse(Buffer.from(stored.bytes).toString()) as JsonObject);
  };
  const status = (plugin: string): { phase?: string; conditions?: Condition[] } =>
    (object(`plugins.plugin.${domain}`, plugin)?.['status'] ?? {}) as { phase?: string; conditions?: Condition[] };
  const write = async (type: string, command: Command): Promise<void> => {
    const outcome = await parts.execute(typeOf(type), command, {
      cause: { actor: 'someone', verb: command.type, requestId: 'r' },
      dryRun: false,
      fieldValidation: undefined,
      origin: 'client',
      subject: { kind: 'platform', part: 'test' },
    });
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.rejection));
  };
  return {
    ...parts,
    ...ends,
    object,
    write,
    phase: (plugin) => status(plugin).phase,
    conditions: (plugin) => status(plugin).conditions ?? [],
    ready: (plugin) => {
      const found = (status(plugin).conditions ?? []).find(({ type }) => type === 'Ready');
      return found === undefined ? '' : `${found.reason}: ${found.message}`;
    },
    setEnabled: async (plugin, enabled) => {
      await write(`plugins.plugin.${domain}`, mergePatch(plugin, { spec: { enabled } }));
      await parts.host.settled();
    },
  };
}

/** Resolves once the plugin's object says so: each change of the read models is looked at. */
export async function untilCondition(
  stage: Stage,
  plugin: string,
  holds: (ready: string, phase: string | undefined) => boolean,
): Promise<void> {
  await new Promise<void>((resolve) => {
    // The host's own timers and watchers keep no process alive.
    const { port1, port2 } = new MessageChannel();
    port1.ref();
    const look = (): void => {
      if (!holds(stage.ready(plugin), stage.phase(plugin))) return;
      unsubscribe();
      port2.close();
      resolve();
    };
    const unsubscribe = stage.reader.subscribe(look);
    look();
  });
}

export function mergePatch(name: string, document: JsonValue): Command {
  return { type: 'patch', name, patch: { kind: 'merge', document }, part: 'main', preconditions: {} };
}

function recorder(lines: { level: string; message: string; fields: unknown }[]): PluginLogger {
  const at =
    (level: string) =>
    (message: string, fields?: unknown): void => {
      lines.push({ level, message, fields });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
