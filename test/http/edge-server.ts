import type { AddressInfo } from 'node:net';

import type { Authenticated } from '../../src/auth/authentication/authenticated.ts';
import { isProbe, refusalOf, type Authorize } from '../../src/auth/authorization/authorize.ts';
import { visitor, type Subject } from '../../src/command/subject.ts';
import { createHttpServer, type HttpDependencies } from '../../src/http/http-server.ts';
import { logStart } from '../../src/log/log.ts';
import { Metrics } from '../../src/http/metrics.ts';
import { PluginRoutes } from '../../src/http/plugin-routes/plugin-routes.ts';
import { unrecorded } from '../../src/auth/access-events/access-recorder.ts';
import { RefusalLog } from '../../src/http/refusal-log.ts';
import { createSenderOf } from '../../src/http/client/client-address.ts';
import { TypeRegistry } from '../../src/plugin/registry/type-registry.ts';
import type { Client, PluginLogger } from '../../src/plugin/api/plugin.ts';
import type { Clock } from '../../src/base/clock.ts';
import { RequestMemory } from '../../src/http/body/request-memory.ts';
import { HeldBytes } from '../../src/write/admission/held-bytes.ts';
import { Writers } from '../../src/write/admission/writers.ts';
import { Outboxes, type OutboxBounds } from '../../src/watch/outbox.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { MemoryObjects } from '../support/memory/memory-objects.ts';
import { transport } from './transport.ts';

export const administrator: Subject = { kind: 'user', name: 'admin', credential: { kind: 'password', uid: 'u' } };

/** The edge is tested, not the decision: one user may do everything, visitors may read probes and discovery. */
const authorize: Authorize = (subject, request) => {
  const isOpen =
    isProbe(request) ||
    (request.kind === 'non-resource' &&
      request.verb === 'get' &&
      /^\/apis?(?:\/|$)/u.test(request.path) &&
      request.segments.length <= 3);
  return isOpen || subject.kind === 'user'
    ? { allowed: true }
    : { allowed: false, reason: refusalOf(subject, request) };
};

export type LogLine = {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

type EdgeChanges = Partial<HttpDependencies> & { readonly clock?: Clock; readonly bounds?: OutboxBounds };

/** The edge alone has no indexes of the past. */
const unindexed: HttpDependencies['audit'] = {
  models: {
    position: () => logStart,
    unavailable: () => 'no past is indexed here',
    overdue: () => undefined,
    reached: () => Promise.resolve('timeout'),
  },
  versions: { lastAt: () => undefined, positionOf: () => undefined },
  lists: { listAt: () => Promise.reject(new Error('no past is indexed here')) },
  times: { positionAt: () => undefined, timeAt: () => undefined, first: () => undefined },
};

/** The HTTP edge alone, over read models in memory; `Authorization: admin` is the super administrator. */
export async function startEdge({ bounds, ...overrides }: EdgeChanges = {}) {
  const clock = overrides.clock ?? new FakeClock();
  const outboxes = new Outboxes(clock, bounds);
  const lines: LogLine[] = [];
  const line =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      lines.push({ level, message, fields });
    };
  const log: PluginLogger = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const registry = overrides.registry ?? new TypeRegistry();
  const eventLog = Object.assign(new MemoryLog(), { identity: () => ({ logId: 'log', epoch: 0 }) });
  const objects = new MemoryObjects(eventLog, clock, []);
  const client: Client = refusingClient();
  const { certificate } = transport;
  const pluginRoutes = new PluginRoutes({
    outboxes,
    clock,
    log,
    loggerOf: () => log,
    clientsOf: () => ({ client, pluginClient: client }),
    allows: (subject, request) => (overrides.authorize ?? authorize)(subject, request).allowed,
  });
  const http = createHttpServer({
    domain: 'svc.run',
    clock,
    log,
    registry,
    pluginRoutes,
    reader: objects,
    feed: objects,
    memory: new RequestMemory({ held: new HeldBytes(), writers: Writers.unlimited(clock), clock }),
    eventLog,
    audit: unindexed,
    execute: () => Promise.reject(new Error('nothing is written here')),
    senderOf: createSenderOf([]),
    refusals: new RefusalLog({ log: { warn: () => undefined }, clock, isUser: () => false, accesses: unrecorded }),
    authenticate: ({ authorization }): Authenticated => ({
      ok: true,
      subject: authorization === 'admin' ? administrator : visitor,
    }),
    authorize,
    platformRoutes: [],
    watch: {
      open: (_request, _req, res) => {
        res.end('open');
      },
      upgrade: (_request, _req, socket) => {
        socket.end('upgraded');
      },
    },
    readiness: () => [],
    version: '1.2.3',
    metrics: new Metrics({
      position: () => 0n,
      watchers: () => 0,
      streamBufferBytes: () => outboxes.budget.bytes,
      disk: { freeBytes: 0, reserveBytes: 0 },
      pluginStreams: () => pluginRoutes.streams(),
      objects: () => [],
      isReady: () => true,
      isLogReachable: () => true,
      isLeader: () => true,
      resubscriptions: () => 0,
      controllers: () => [{ name: 'collector', depth: 2, spinning: 1, counts: { settled: 5, failed: 1 } }],
      hooks: () => [{ plugin: 'example', type: 'widgets.example.com', hook: 'validate', slow: 2, failed: 0 }],
      conversions: () => [{ plugin: 'example', type: 'widgets.example.com', conversion: 'v1 to v2', slow: 3 }],
      migrations: {
        progress: () => [{ plugin: 'example', id: 'rename', objects: 9, visited: 5, changed: 4, failed: 1 }],
        slow: () => [{ plugin: 'example', migration: 'rename', slow: 3 }],
      },
    }),
    certificate,
    ...overrides,
  });
  await new Promise<void>((resolve) => {
    http.server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = http.server.address() as AddressInfo;
  const isSecure = (overrides.certificate ?? certificate) !== undefined;
  const url = `${isSecure ? 'https' : 'http'}://127.0.0.1:${String(port)}`;
  return {
    http,
    url,
    port,
    clock,
    lines,
    registry,
    pluginRoutes,
    outboxes,
    call: async (
      path: string,
      init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> } = {},
    ) => fetch(url + path, { ...init, headers: { authorization: 'admin', ...init.headers } }),
    // Cuts off those that have left HTTP, too: the server of Node does not know them.
    stop: async () => http.close(0),
  };
}

function refusingClient(): Client {
  const refuse = (): Promise<never> => Promise.reject(new Error('no client here'));
  return {
    get: refuse,
    list: refuse,
    create: refuse,
    update: refuse,
    patchStatus: refuse,
    patch: refuse,
    delete: refuse,
  };
}
