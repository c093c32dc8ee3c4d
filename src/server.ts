import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';

import { Collector } from '../reconcilers/collector.ts';
import { LmdbTables } from '../projections/lmdb-tables.ts';
import { ObjectModels } from '../projections/object-models.ts';
import { catchUp, CheckpointMismatchError, follow } from '../projections/runner.ts';
import { ensureAdministrator } from './auth/administrator.ts';
import { Authenticator } from './auth/authenticate.ts';
import { Passwords } from './auth/password.ts';
import { Secrets } from './auth/secrets.ts';
import { systemClock, type Clock } from './base/clock.ts';
import { StartError, type Config } from './config.ts';
import { takeDataDir } from './data-dir.ts';
import { createWriteDoor } from './execute.ts';
import { createHttpServer } from './http/http-server.ts';
import { PluginRoutes } from './http/plugin-routes.ts';
import { createWatchEndpoints } from './http/watch-endpoints.ts';
import { WatchHub } from './watch/hub.ts';
import { openLmdbLog } from './log/lmdb-log.ts';
import { TypeRegistry } from './plugin/type-registry.ts';
import widgets from '../plugins/example/main.ts';
import type { TypeKey } from './resource/index-entry.ts';
import type { ResourceType } from './resource/resource-type.ts';
import { compileType } from './resource/type-declaration.ts';

export type RunningServer = { readonly url: string; readonly ready: { readonly events: number; readonly types: number }; close(): Promise<void> };

export async function startServer(config: Config, { log, clock = systemClock, onFatal }: { readonly log: Logger; readonly clock?: Clock; readonly onFatal?: (error: Error) => void }): Promise<RunningServer> {
  const fatal = onFatal ?? ((error: Error) => { log.fatal(error); process.exit(1); });
  const lock = await takeDataDir(config.dataDir);
  const eventLog = await openLmdbLog({ dir: join(config.dataDir, 'log'), onFatal: fatal });
  const head = await eventLog.head();
  const registry = new TypeRegistry();
  const types = (key: TypeKey): ResourceType | undefined => registry.byKey(key)?.type;
  const tables = new LmdbTables(join(config.dataDir, 'read-models'));
  const models = new ObjectModels({ tables, logId: await eventLog.identity(), types, clock });
  const secrets = new Secrets(eventLog, clock);
  const passwords = new Passwords();
  const report = await ensureAdministrator({ secrets, passwords, dataDir: config.dataDir, password: config.adminPassword });
  for (const notice of report.notices) log.warn(notice);
  const declared = widgets as { types: unknown[] };
  for (const declaration of declared.types) {
    const compiled = compileType(declaration, { plugin: 'example', bundled: true, domain: config.platformDomain });
    if (!compiled.ok) throw new Error(compiled.problems.join());
    registry.register(compiled.type);
  }
  const stop = new AbortController();
  await catchUp(eventLog, models, stop.signal);
  const following = follow(eventLog, models, stop.signal).catch(fatal);
  const execute = createWriteDoor({ log: eventLog, reader: models, clock, domain: config.platformDomain, uuid: randomUUID, suffix: drawSuffix, lastEventTime: 0 });
  const collector = new Collector({ changes: models, reader: models, execute, types, clock, uuid: randomUUID, onError: (error, key) => { log.error({ error, key }); } });
  for (const { type } of registry.all()) { await models.buildIndexes(type); registry.serve(type.key); collector.enqueueAll(type); }
  const edge = { domain: config.platformDomain, clock, log: { debug: () => {}, info: () => {}, warn: (m: string, f?: object) => { log.warn(f, m); }, error: (m: string, f?: object) => { log.error(f, m); } } };
  const hub = new WatchHub({ feed: models, reader: models, log: eventLog, clock, report: (error) => { log.error({ err: error }, 'a watch failed'); } });
  const authenticator = new Authenticator({ secrets, passwords, clock });
  const pluginRoutes = new PluginRoutes({ ...edge } as never);
  const http = createHttpServer({
    ...edge, registry, reader: models, feed: models, execute, authenticate: (a, b) => authenticator.authenticate(a, b), pluginRoutes,
    watch: createWatchEndpoints({ ...edge, hub }), readiness: () => [], version: '0.1.0',
  });
  await new Promise<void>((resolve) => http.server.listen(config.port, config.host, resolve));
  const address = http.server.address() as { port: number };
  void CheckpointMismatchError; void StartError;
  return {
    url: `http://${config.host}:${String(address.port)}`,
    ready: { events: Number(head), types: registry.all().length },
    close: async () => {
      hub.closeAll();
      await http.close(1000);
      await collector.stop();
      stop.abort();
      await following;
      await eventLog.close();
      await tables.close();
      await lock.release();
    },
  };
}

const suffixAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
function drawSuffix(): string {
  return Array.from({ length: 5 }, () => suffixAlphabet[randomInt(suffixAlphabet.length)]).join('');
}
