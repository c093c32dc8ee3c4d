import { jsonAnswer, textAnswer, type Answer } from './answer.ts';
import type { ApiResource } from './discovery/api-catalog.ts';
import type { Discovery } from './discovery/discovery.ts';
import { versionDocument } from './discovery/version-document.ts';
import type { Exchange } from './exchange.ts';
import type { Metrics } from './metrics.ts';
import { RouteTable } from './route-table.ts';
import type { WatchedRoute } from './watch/watching.ts';

export type FixedRoute = (params: Readonly<Record<string, string>>, exchange: Exchange) => Answer | Promise<Answer>;

/** A path of the platform outside of the generated APIs; `{name}` matches one segment. */
export type PlatformRoute = {
  readonly method: string;
  readonly path: string;
  readonly route: FixedRoute;
  /** The resource at this path, for discovery. */
  readonly resource?: ApiResource;
  readonly watched?: WatchedRoute;
};

export type FixedRouteOptions = {
  readonly discovery: Discovery;
  /** The reasons why this node is not ready, one line each; empty if the node is ready. */
  readonly readiness: () => readonly string[];
  /** The platform's version, a semantic version. */
  readonly version: string;
  /** The domain of the platform's groups. */
  readonly domain: string;
  readonly metrics: Metrics;
  readonly more: readonly PlatformRoute[];
};

export function watchedRoutes(routes: readonly PlatformRoute[]): readonly WatchedRoute[] {
  return routes.map(({ watched }) => watched).filter((watched) => watched !== undefined);
}

/** Creates the routes for health, version, metrics and discovery, and adds the routes in `more`. */
export function fixedRoutes({
  discovery,
  readiness,
  version,
  domain,
  metrics,
  more,
}: FixedRouteOptions): RouteTable<FixedRoute> {
  const routes = new RouteTable<FixedRoute>();
  const get = (pattern: string, route: FixedRoute): void => {
    routes.add('GET', pattern, route);
  };
  get('/healthz', () => textAnswer('ok'));
  get('/livez', () => textAnswer('ok'));
  get('/readyz', () => readyAnswer(readiness()));
  get('/version', () => jsonAnswer(versionDocument(version, domain)));
  get('/metrics', async () => textAnswer(await metrics.text(), 200, metricsType));
  for (const path of ['/api', '/api/{version}', '/apis', '/apis/{group}', '/apis/{group}/{version}'])
    get(path, (_params, exchange) => discovery.answer(exchange));
  for (const { method, path, route } of more) routes.add(method, path, route);
  return routes;
}

/** Prometheus' text exposition format. */
const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

function readyAnswer(reasons: readonly string[]): Answer {
  if (reasons.length === 0) return textAnswer('ok');
  return textAnswer(`not ready\n${reasons.map((reason) => `- ${reason}\n`).join('')}`, 503);
}
