import type { AccessEvents } from '../../auth/access-events/access-events.ts';
import { Metrics, type EventLoopSource, type MetricSources } from '../../http/metrics.ts';
import type { RequestCounts } from '../../http/metrics/samples/request-counts.ts';
import type { PluginRoutes } from '../../http/plugin-routes/plugin-routes.ts';
import type { Readiness } from '../readiness.ts';
import type { Certificates } from '../tls/certificates.ts';
import type { Core } from './core.ts';
import type { Upgrades } from './upgrades/compose-upgrades.ts';

type MetricsParts = {
  readonly requests: RequestCounts;
  readonly readiness: Readiness;
  readonly accesses: AccessEvents | undefined;
  readonly eventLoop: EventLoopSource | undefined;
  readonly pluginRoutes: PluginRoutes;
  readonly upgrades: Pick<Upgrades, 'migrations' | 'steps'>;
  readonly certificates: Pick<Certificates, 'current'> | undefined;
};

export function composeMetrics(
  core: Core,
  { requests, readiness, accesses, eventLoop, pluginRoutes, upgrades, certificates }: MetricsParts,
): Metrics {
  const { disk, models, registry, eventLog, resubscriptions, hub, leadership, bound, hooks, conversions } = core;
  const sources: MetricSources = {
    streamBufferBytes: () => hub.outboxes.budget.bytes,
    position: () => models.position(),
    watchers: () => hub.size,
    pluginStreams: () => pluginRoutes.streams(),
    isReady: () => readiness.reasons().length === 0,
    isLogReachable: () => eventLog.state().reachable,
    isLeader: () => leadership.isLeader(),
    resubscriptions,
    eventLoop,
    certificate: certificates === undefined ? undefined : () => certificates.current,
    disk,
    accesses,
    controllers: () => bound.controllers(),
    hooks: () => hooks.counts(),
    conversions: () => conversions.counts(),
    migrations: { progress: () => upgrades.migrations.progress(), slow: () => upgrades.steps.slow() },
    objects: () => registry.all().map(({ type: { key } }) => ({ type: key, count: models.count(key) })),
  };
  return new Metrics(sources, requests);
}
