import type { Endpoints, RouteMounts, SocketEndpoint } from '../../plugin/api/endpoints.ts';
import type { Allows } from '../../watch/guard.ts';
import type { Outboxes } from '../../watch/outbox.ts';
import { refusal, type Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import { notStarted, PluginRouteCalls, type PluginRoute, type RouteCallDependencies } from '../plugin-route-call.ts';
import { serveSocket, type Upgraded } from './plugin-socket-call.ts';
import { OpenStreams, type Mount, type StreamCount } from './plugin-streams.ts';
import type { DescribedRoute } from '../../openapi/route-operations.ts';
import { describeRoutes } from './route-description.ts';
import { pluginSocketChunksMax, pluginSocketFragmentsMax, pluginSocketMessageBytesMax } from './route-limits.ts';
import { bySpecificity, RouteTable, type Found, type FoundOf, type Route } from '../route-table.ts';
import { SocketUpgrades } from '../connection/socket-upgrades.ts';

export type PluginRoutesDependencies = RouteCallDependencies & {
  /** The unread data of clients. Watches and plugins share the limits. */
  readonly outboxes: Outboxes;
};

type PluginSocketRoute = {
  readonly mount: Mount;
  readonly endpoint: SocketEndpoint;
};
type Mounted = {
  readonly mount: Mount;
  readonly routes: RouteTable<PluginRoute>;
  readonly sockets: RouteTable<PluginSocketRoute>;
};

/** The custom APIs of all plugins. A failure of a handler ends only the handler's request. */
export class PluginRoutes implements RouteMounts {
  readonly #dependencies: PluginRoutesDependencies;
  /**
   * The endpoints by plugin. If two plugins have the same route, the plugin that was announced or mounted first serves
   * the route.
   */
  readonly #mounted = new Map<string, Mounted>();
  #revision = 0;
  readonly #streams: OpenStreams;
  readonly #calls: PluginRouteCalls;
  readonly #upgrades = new SocketUpgrades({
    messageBytesMax: pluginSocketMessageBytesMax,
    fragmentsMax: pluginSocketFragmentsMax,
    chunksMax: pluginSocketChunksMax,
  });

  constructor(dependencies: PluginRoutesDependencies) {
    this.#dependencies = dependencies;
    this.#streams = new OpenStreams(dependencies.clock, dependencies.outboxes);
    this.#calls = new PluginRouteCalls(dependencies, this.#streams);
  }

  /**
   * Announces the plugin's endpoints. Their paths return 503 until `mount` is called.
   *
   * @throws RangeError like `mount`.
   */
  announce(plugin: string, endpoints: Endpoints): void {
    this.#put(plugin, endpoints, false);
  }

  /**
   * Replaces the endpoints of the plugin.
   *
   * @throws RangeError for a path that the plugin must not serve; nothing changes then.
   */
  mount(plugin: string, endpoints: Endpoints): void {
    this.#put(plugin, endpoints, true);
  }

  /** Removes the plugin's endpoints, and ends its streams. Calls in progress complete. */
  unmount(plugin: string): void {
    const mounted = this.#mounted.get(plugin);
    if (mounted === undefined) return;
    this.#mounted.delete(plugin);
    this.#revision += 1;
    mounted.mount.isOver = true;
    this.#streams.endMount(mounted.mount);
  }

  find(method: string, segments: readonly string[]): Found<PluginRoute> {
    return this.#find(method, segments, ({ routes }) => routes);
  }

  findSocket(segments: readonly string[]): Found<PluginSocketRoute> {
    return this.#find('GET', segments, ({ sockets }) => sockets);
  }

  /**
   * Returns the first plugin that has a route or socket at this path, for any method. The plugin may be announced or
   * mounted.
   */
  pluginOf(segments: readonly string[]): string | undefined {
    for (const [plugin, { routes, sockets }] of this.#mounted)
      if (routes.covers(segments) || sockets.covers(segments)) return plugin;
    return undefined;
  }

  all(): readonly (Route & { readonly plugin: string })[] {
    return [...this.#mounted].flatMap(([plugin, { routes, sockets }]) =>
      [...routes.all(), ...sockets.all()].map(({ method, pattern }) => ({ plugin, method, pattern })),
    );
  }

  described(): readonly DescribedRoute[] {
    return [...this.#mounted.values()].flatMap(({ mount: { plugin }, routes, sockets }) =>
      describeRoutes(plugin, {
        routes: routes.all().map(({ route }) => route.endpoint),
        sockets: sockets.all().map(({ route }) => route.endpoint),
      }),
    );
  }

  /** Returns a number that increases with each change of the routes. */
  revision(): number {
    return this.#revision;
  }

  streams(): readonly StreamCount[] {
    return this.#streams.counts();
  }

  /** Ends streams that are no longer allowed after a change of rights or an expiry of credentials. */
  recheck(allows: Allows): void {
    this.#streams.recheck(allows);
  }

  /** Ends all streams at a shutdown. No new streams can be opened then. */
  closeStreams(): void {
    this.#streams.closeAll();
  }

  /** Serves a WebSocket. A refusal is sent before the handshake. */
  upgrade(
    exchange: Exchange,
    { route: { mount, endpoint }, params }: FoundOf<PluginSocketRoute>,
    upgraded: Upgraded,
  ): Answer {
    const refused = mount.serving ? this.#streams.refusal(mount) : notStarted(mount);
    if (refused !== undefined) return refusal(refused);
    return serveSocket(
      { exchange, mount, endpoint, params, upgraded },
      { ...this.#dependencies, streams: this.#streams, upgrades: this.#upgrades },
    );
  }

  /** Calls the route's handler. Returns the handler's response, a refusal, or `taken-over` for a stream of events. */
  call(exchange: Exchange, found: FoundOf<PluginRoute>): Promise<Answer> {
    return this.#calls.call(exchange, found);
  }

  #find<H>(method: string, segments: readonly string[], tableOf: (mounted: Mounted) => RouteTable<H>): Found<H> {
    const allow = new Set<string>();
    for (const mounted of this.#mounted.values()) {
      const found = tableOf(mounted).find(method, segments);
      if (found.kind === 'found') return found;
      for (const allowed of found.allow) allow.add(allowed);
    }
    return { kind: 'not-served', allow: [...allow].sort() };
  }

  #put(plugin: string, endpoints: Endpoints, serving: boolean): void {
    const mount: Mount = { plugin, serving, isOver: false };
    const routes = new RouteTable<PluginRoute>();
    const sockets = new RouteTable<PluginSocketRoute>();
    for (const { path } of [...endpoints.routes, ...endpoints.sockets]) {
      if (!/^\/apis\/[a-z0-9.-]+\/[a-z0-9]+\/./u.test(path))
        throw new RangeError(`${path}: the path of a custom API must start with /apis/<group>/<version>/`);
    }
    for (const endpoint of [...endpoints.routes].sort(bySpecificity))
      routes.add(endpoint.method, endpoint.path, { mount, endpoint });
    for (const endpoint of [...endpoints.sockets].sort(bySpecificity))
      sockets.add('GET', endpoint.path, { mount, endpoint });
    const before = this.#mounted.get(plugin);
    this.#mounted.set(plugin, { mount, routes, sockets });
    this.#revision += 1;
    if (before === undefined) return;
    before.mount.isOver = true;
    this.#streams.endMount(before.mount);
  }
}
