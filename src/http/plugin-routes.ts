import type { Subject } from '../command/subject.ts';
import { pluginRouteMs } from '../limits/plugins.ts';
import type { Endpoints, RouteEndpoint, RouteMounts, SocketEndpoint } from '../plugin/endpoints.ts';
import { accountOf, clientOf } from '../read/client.ts';
import type { Allows } from '../watch/guard.ts';
import type { Outboxes } from '../watch/outbox.ts';
import { refusal, taken, type Answer } from './answer.ts';
import { goneSignal, type Exchange } from './exchange.ts';
import { abandon, EventStream } from './plugin-events.ts';
import { askedOf, routeRequest, type CallPorts } from './plugin-request.ts';
import { decodeRefusal, decodeResponse, type DecodedResponse } from './plugin-response.ts';
import { serveSocket, type Upgraded } from './plugin-socket-call.ts';
import { hasStopped, OpenStreams, type Mount, type StreamCount } from './plugin-streams.ts';
import { basicChallenge, problem, type Problem } from './problem.ts';
import { describeRoutes, type RouteDescription } from './route-description.ts';
import { pluginSocketChunksMax, pluginSocketFragmentsMax, pluginSocketMessageBytesMax } from './route-limits.ts';
import { bySpecificity, RouteTable, type Found, type Route } from './route-table.ts';
import { eventStreamHead } from './send.ts';
import { SocketUpgrades } from './socket-upgrades.ts';
import { thrownText } from './thrown.ts';

export type PluginRoutesDependencies = CallPorts & {
  /** Whether what was authorized would be so now, and its credential counts. */
  readonly allows: Allows;
  /** What readers have not taken: the watches' own, so that the bounds hold in sum. */
  readonly outboxes: Outboxes;
};

type Mounted = { readonly mount: Mount; readonly routes: RouteTable<PluginRoute>; readonly sockets: RouteTable<PluginSocketRoute> };
export type PluginRoute = { readonly mount: Mount; readonly endpoint: RouteEndpoint };
export type PluginSocketRoute = { readonly mount: Mount; readonly endpoint: SocketEndpoint };

type FoundOf<H> = Extract<Found<H>, { kind: 'found' }>;

/**
 * The custom APIs of every plugin (decision 9.6), matched after authorization. Whatever a handler does (throw, reject,
 * never settle, answer rubbish) is contained here and told by the plugin's name.
 */
export class PluginRoutes implements RouteMounts {
  readonly #dependencies: PluginRoutesDependencies;
  /** In the order of mounting: of two plugins with one route the first keeps it. */
  readonly #mounted = new Map<string, Mounted>();
  readonly #streams: OpenStreams;
  readonly #upgrades = new SocketUpgrades({ messageBytesMax: pluginSocketMessageBytesMax, fragmentsMax: pluginSocketFragmentsMax, chunksMax: pluginSocketChunksMax });

  constructor(dependencies: PluginRoutesDependencies) {
    this.#dependencies = dependencies;
    this.#streams = new OpenStreams(dependencies.clock, dependencies.outboxes);
  }

  /** Its paths answer 503 from now on, until they are mounted. Throws as `mount` does. */
  announce(plugin: string, endpoints: Endpoints): void {
    this.#put(plugin, endpoints, false);
  }

  /** Replaces the plugin's endpoints. Throws a RangeError for a path that is not its to serve, and then changes nothing. */
  mount(plugin: string, endpoints: Endpoints): void {
    this.#put(plugin, endpoints, true);
  }

  /** Its paths answer 404 from now on, and its streams end; calls in progress end by themselves. */
  unmount(plugin: string): void {
    const mounted = this.#mounted.get(plugin);
    if (mounted === undefined) return;
    this.#mounted.delete(plugin);
    mounted.mount.isOver = true;
    this.#streams.endMount(mounted.mount);
  }

  find(method: string, segments: readonly string[]): Found<PluginRoute> {
    return this.#find(method, segments, ({ routes }) => routes);
  }

  findSocket(segments: readonly string[]): Found<PluginSocketRoute> {
    return this.#find('GET', segments, ({ sockets }) => sockets);
  }

  /** The plugin that has a route or a socket at this path, announced or mounted, whatever its method: whose rules may name it. */
  pluginOf(segments: readonly string[]): string | undefined {
    for (const [plugin, { routes, sockets }] of this.#mounted) if (routes.covers(segments) || sockets.covers(segments)) return plugin;
    return undefined;
  }

  /** Every route and socket there is. */
  all(): readonly (Route & { readonly plugin: string })[] {
    return [...this.#mounted].flatMap(([plugin, { routes, sockets }]) => [...routes.all(), ...sockets.all()].map(({ method, pattern }) => ({ plugin, method, pattern })));
  }

  /** Every route and socket there is, with what it says of itself. */
  described(): readonly RouteDescription[] {
    return [...this.#mounted.values()].flatMap(({ mount: { plugin }, routes, sockets }) =>
      describeRoutes(plugin, { routes: routes.all().map(({ route }) => route.endpoint), sockets: sockets.all().map(({ route }) => route.endpoint) }));
  }

  /** Streams open now, of every plugin that has any. */
  streams(): readonly StreamCount[] {
    return this.#streams.counts();
  }

  /** Rights may have changed, or credentials run out: streams that would not be allowed any more end. */
  recheck(allows: Allows): void {
    this.#streams.recheck(allows);
  }

  /** On shutdown: streams end, and none begins. */
  closeStreams(): void {
    this.#streams.closeAll();
  }

  /** A WebSocket, once the handshake is done; a refusal is answered before it. */
  upgrade(exchange: Exchange, { route: { mount, endpoint }, params }: FoundOf<PluginSocketRoute>, upgraded: Upgraded): Answer {
    const refused = mount.serving ? this.#streams.refusal(mount) : notStarted(mount);
    if (refused !== undefined) return refusal(refused);
    return serveSocket({ exchange, mount, endpoint, params, upgraded }, { ...this.#dependencies, streams: this.#streams, upgrades: this.#upgrades });
  }

  async call(exchange: Exchange, { route, params }: FoundOf<PluginRoute>): Promise<Answer> {
    const { mount, endpoint } = route;
    if (!mount.serving) return refusal(notStarted(mount));
    const asked = await askedOf(exchange, endpoint);
    if (!asked.ok) return asked.answer;
    // The body took its time.
    if (mount.isOver) return refusal(hasStopped(mount));
    const calling = new AbortController();
    const outcome = await this.#settled(exchange, route, { params, body: asked.body, signal: calling.signal });
    const decoded = outcome.kind === 'answered' ? decodeResponse(outcome.result, endpoint.responses) : outcome;
    if (decoded.kind === 'events') return this.#stream(exchange, route, { ...decoded, calling });
    calling.abort();
    return this.#answerOf(exchange, route, decoded);
  }

  #answerOf(exchange: Exchange, route: PluginRoute, outcome: Exclude<DecodedResponse, { kind: 'events' }> | Exclude<Settled, { kind: 'answered' }>): Answer {
    const { log } = this.#dependencies;
    const { plugin } = route.mount;
    switch (outcome.kind) {
      case 'answer': return outcome.answer;
      case 'gone': return taken;
      case 'late':
        log.warn('a plugin route did not answer in time', { ...told(exchange, route), limitMs: pluginRouteMs });
        return refusal(problem('timeout', `the plugin ${plugin} did not answer within ${String(pluginRouteMs / 1_000)} s`));
      case 'failed': {
        const refused = decodeRefusal(outcome.error);
        return refused === undefined ? this.#failed(exchange, route, { problem: 'it threw', error: thrownText(outcome.error) }) : refusal(knownOrNot(refused, exchange.subject));
      }
      case 'rubbish': return this.#failed(exchange, route, { problem: outcome.problem, ...(outcome.violations === undefined ? {} : { violations: outcome.violations }) });
    }
  }

  #failed(exchange: Exchange, route: PluginRoute, why: Readonly<Record<string, unknown>>): Answer {
    this.#dependencies.log.error('a plugin route failed', { ...told(exchange, route), ...why });
    return refusal(problem('internal-error', `the plugin ${route.mount.plugin} failed; the server log has the details under the id of this request`));
  }

  /** From here on there is no time limit: it ends with its events, its caller, its plugin or its rights. */
  #stream(exchange: Exchange, route: PluginRoute, { headers, iterator, calling }: Streaming): Answer {
    const { res, method, requestId, subject, sender, info: request } = exchange;
    const { mount } = route;
    const refused = res.closed ? undefined : this.#streams.refusal(mount) ?? this.#lost(exchange);
    if (refused === undefined && !res.closed) {
      res.writeHead(200, eventStreamHead(headers, requestId));
      if (method !== 'HEAD') {
        res.flushHeaders();
        const { clock, log } = this.#dependencies;
        new EventStream({
          mount, subject, request, account: accountOf(clientOf(subject, sender.address)), res, iterator, clock, streams: this.#streams,
          onOver: () => { calling.abort(); },
          onFailed: (what, error) => { log.error('a plugin\'s events failed', { ...told(exchange, route), problem: what, ...(error === undefined ? {} : { error: thrownText(error) }) }); },
        });
        return taken;
      }
      res.end();
    }
    calling.abort();
    abandon(iterator);
    return refused === undefined ? taken : refusal(refused);
  }

  /** The handler took its time: a right that was lost meanwhile would be missed until streams are looked at again. */
  #lost({ subject, info }: Exchange): Problem | undefined {
    return this.#dependencies.allows(subject, info) ? undefined : knownOrNot(problem('forbidden', 'no longer allowed'), subject);
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
      if (!/^\/apis\/[a-z0-9.-]+\/[a-z0-9]+\/./u.test(path)) throw new RangeError(`${path}: a custom API's path is /apis/<group>/<version>/…`);
    }
    for (const endpoint of [...endpoints.routes].sort(bySpecificity)) routes.add(endpoint.method, endpoint.path, { mount, endpoint });
    for (const endpoint of [...endpoints.sockets].sort(bySpecificity)) sockets.add('GET', endpoint.path, { mount, endpoint });
    const before = this.#mounted.get(plugin);
    this.#mounted.set(plugin, { mount, routes, sockets });
    if (before === undefined) return;
    before.mount.isOver = true;
    this.#streams.endMount(before.mount);
  }

  /** The handler's end, its time limit or its caller's leaving, whichever comes first; a later rejection harms nobody. */
  async #settled(exchange: Exchange, { mount: { plugin }, endpoint: { handler } }: PluginRoute, call: { readonly params: Readonly<Record<string, string>>; readonly body: unknown; readonly signal: AbortSignal }): Promise<Settled> {
    const gone = goneSignal(exchange.res);
    return new Promise((resolve) => {
      const settle = (outcome: Settled): void => {
        timer.cancel();
        resolve(outcome);
      };
      const timer = this.#dependencies.clock.after(pluginRouteMs, () => { settle({ kind: 'late' }); });
      gone.addEventListener('abort', () => { settle({ kind: 'gone' }); }, { once: true });
      const request = routeRequest(exchange, { ...call, plugin }, this.#dependencies);
      // Called within a promise, so that a handler that throws at once is one that rejects.
      Promise.resolve(request).then(handler).then((result) => { settle({ kind: 'answered', result }); }, (error: unknown) => { settle({ kind: 'failed', error }); });
    });
  }
}

type Settled = { readonly kind: 'answered'; readonly result: unknown } | { readonly kind: 'failed'; readonly error: unknown } | { readonly kind: 'late' } | { readonly kind: 'gone' };
type Streaming = { readonly headers: ReadonlyMap<string, string>; readonly iterator: AsyncIterator<unknown>; readonly calling: AbortController };

function notStarted({ plugin }: Mount): Problem {
  return problem('unavailable', `the plugin ${plugin} has not started yet`, { retryAfterSeconds: 1 });
}

/** Which call it was, for the log. */
function told({ requestId, info: { path } }: Exchange, { mount: { plugin }, endpoint }: PluginRoute): Readonly<Record<string, unknown>> {
  return { plugin, requestId, path, route: `${endpoint.method} ${endpoint.path}` };
}

/** What a visitor may not do through a client they might do once they have logged in. */
function knownOrNot(refused: Problem, { kind }: Subject): Problem {
  return refused.reason === 'forbidden' && kind === 'visitor' ? problem('unauthorized', refused.detail, { headers: ['WWW-Authenticate', basicChallenge] }) : refused;
}
