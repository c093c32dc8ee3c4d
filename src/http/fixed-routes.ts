import type { TypeRegistry } from '../plugin/registry/type-registry.ts';
import { jsonAnswer, refusal, textAnswer, type Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { coreVersions, groupDocument, groupList, resourceList, type DiscoveryDocument } from './resources/discovery.ts';
import type { Metrics } from './metrics.ts';
import { problem } from './problem.ts';
import { RouteTable } from './route-table.ts';

export type FixedRoute = (params: Readonly<Record<string, string>>, exchange: Exchange) => Answer | Promise<Answer>;

/** A path of the platform outside of the generated APIs; `{name}` stands for one segment. */
export type PlatformRoute = { readonly method: string; readonly path: string; readonly route: FixedRoute };

export type FixedRouteOptions = {
  readonly registry: TypeRegistry;
  /** The reasons why this node is not ready, one line each; empty when it is. */
  readonly readiness: () => readonly string[];
  /** The platform's version, a semantic version. */
  readonly version: string;
  readonly metrics: Metrics;
  readonly more: readonly PlatformRoute[];
};

/** Health, version, metrics and discovery, independent of registered types. */
export function fixedRoutes({
  registry,
  readiness,
  version,
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
  get('/version', () => jsonAnswer(versionDocument(version)));
  get('/metrics', async () => textAnswer(await metrics.text(), 200, metricsType));
  get('/api', () => jsonAnswer(coreVersions(registry)));
  get('/api/{version}', ({ version: wanted = '' }) => found(resourceList(registry, '', wanted)));
  get('/apis', () => jsonAnswer(groupList(registry)));
  get('/apis/{group}', ({ group = '' }) => found(groupDocument(registry, group)));
  get('/apis/{group}/{version}', ({ group = '', version: wanted = '' }) =>
    found(resourceList(registry, group, wanted)),
  );
  for (const { method, path, route } of more) routes.add(method, path, route);
  return routes;
}

/** Prometheus' text exposition format. */
const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

function readyAnswer(reasons: readonly string[]): Answer {
  if (reasons.length === 0) return textAnswer('ok');
  return textAnswer(`not ready\n${reasons.map((reason) => `- ${reason}\n`).join('')}`, 503);
}

function found(document: DiscoveryDocument | undefined): Answer {
  return document === undefined
    ? refusal(problem('not-found', 'the server could not find the requested resource'))
    : jsonAnswer(document);
}

/** The members of Kubernetes, then the platform's own. */
function versionDocument(version: string): DiscoveryDocument {
  const [major = '0', minor = '0'] = version.split('.');
  return {
    major,
    minor,
    gitVersion: `v${version}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: `node ${process.versions.node}`,
    platform: `${process.platform}/${process.arch}`,
    name: 'ledgerplane',
    version,
  };
}
