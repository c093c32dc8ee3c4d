import type { Duplex } from 'node:stream';

import { networkOf } from '../base/network-of.ts';
import { requestInfo, type RequestInfo, type ResourceLocation } from '../resource/query/request-path.ts';
import { refusal, takenOver, type Answer } from './answer.ts';
import type { Discovery } from './discovery/discovery.ts';
import type { Exchange } from './exchange.ts';
import type { FixedRoute } from './fixed-routes.ts';
import { notYetServing, type GeneratedApi } from './resources/generated.ts';
import type { PluginRoutes } from './plugin-routes/plugin-routes.ts';
import { methodNotAllowed, problem } from './problem.ts';
import { checkParameterNames } from './query-names.ts';
import type { RouteTable } from './route-table.ts';
import type { Edge } from './send.ts';
import type { WatchedRoute, WatchEndpoints } from './watch/watching.ts';

/** The connection of an upgrade request. */
export type Upgrade = {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly release: () => void;
};

export type DispatcherDependencies = Edge & {
  readonly generated: GeneratedApi;
  readonly discovery: Discovery;
  readonly fixed: RouteTable<FixedRoute>;
  readonly pluginRoutes: PluginRoutes;
  readonly watch: WatchEndpoints;
  /** The collections of platform routes that can be watched. */
  readonly watched: readonly WatchedRoute[];
};

/** Routes a request to a generated API, a route of the platform, or a route or socket of a plugin. */
export class Dispatcher {
  readonly #dependencies: DispatcherDependencies;

  constructor(dependencies: DispatcherDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Parses the request. A request for a watch is an ordinary request if only a route without watches serves the path.
   */
  infoOf(method: string, url: string, wantsWatch: boolean): RequestInfo {
    const info = requestInfo(method, url, wantsWatch ? 'watch' : 'no watch');
    if (info.kind !== 'resource' || info.verb !== 'watch') return info;
    const { generated, fixed, pluginRoutes } = this.#dependencies;
    const isTaken =
      generated.registrationAt(info) === undefined &&
      this.#watchedAt(info) === undefined &&
      (fixed.covers(info.segments) || pluginRoutes.pluginOf(info.segments) !== undefined);
    return isTaken ? requestInfo(method, url, 'no watch') : info;
  }

  /** Returns whether the path is that of a watch or of a plugin's WebSocket. */
  hasSocketAt(method: string, url: string): boolean {
    const info = this.infoOf(method, url, true);
    if (info.kind === 'malformed') return false;
    return info.verb === 'watch' || this.#dependencies.pluginRoutes.findSocket(info.segments).kind === 'found';
  }

  /** Returns whether a plugin that is not loaded yet could add a group, version, type or custom route at this path. */
  mayBeServedLater(segments: readonly string[]): boolean {
    const { generated, discovery, fixed, pluginRoutes } = this.#dependencies;
    if (segments[0] !== 'apis' || segments.length < 2 || generated.isKnown(segments)) return false;
    if (segments.length <= 3 && discovery.has(`/${segments.join('/')}`)) return false;
    // A path of at most three segments always matches the platform's routes for groups and versions, so such a match
    // proves nothing.
    return (segments.length <= 3 || !fixed.covers(segments)) && pluginRoutes.pluginOf(segments) === undefined;
  }

  dispatch(exchange: Exchange, upgrade: Upgrade | undefined): Answer | Promise<Answer> {
    return this.#watch(exchange, upgrade) ?? this.#socket(exchange, upgrade) ?? this.#route(exchange);
  }

  /** Searches the generated APIs first, so that no plugin's route can replace a generated API. */
  #route(exchange: Exchange): Answer | Promise<Answer> {
    const { method, info } = exchange;
    const generated = this.#dependencies.generated.answer(exchange);
    if (generated instanceof Promise || generated.kind !== 'not-served') return generated;
    const fixed = this.#dependencies.fixed.find(method, info.segments);
    if (fixed.kind === 'found') {
      const misnamed = checkParameterNames(exchange.query);
      return misnamed === undefined ? fixed.route(fixed.params, exchange) : refusal(misnamed);
    }
    const plugin = this.#dependencies.pluginRoutes.find(method, info.segments);
    if (plugin.kind === 'found') return this.#dependencies.pluginRoutes.call(exchange, plugin);
    const socket = this.#dependencies.pluginRoutes.findSocket(info.segments);
    if (socket.kind === 'found' && (method === 'GET' || method === 'HEAD'))
      return refusal(
        problem('bad-request', 'this path serves a WebSocket: the request requires an upgrade', {
          headers: ['Upgrade', 'websocket'],
        }),
      );
    const sockets = socket.kind === 'found' ? ['GET'] : socket.allow;
    const allow = [...new Set([...generated.allow, ...fixed.allow, ...plugin.allow, ...sockets])];
    return refusal(
      allow.length > 0
        ? methodNotAllowed(method, allow)
        : problem('not-found', 'the server could not find the requested resource'),
    );
  }

  /** Serves an upgrade to a plugin's socket. Returns undefined for any other request. */
  #socket(exchange: Exchange, upgrade: Upgrade | undefined): Answer | undefined {
    const { pluginRoutes } = this.#dependencies;
    const found = upgrade === undefined ? undefined : pluginRoutes.findSocket(exchange.info.segments);
    return upgrade === undefined || found?.kind !== 'found'
      ? undefined
      : pluginRoutes.upgrade(exchange, found, { ...upgrade, edge: this.#dependencies });
  }

  /** Serves a watch. Returns undefined if the request is not a watch, or if its type is unknown. */
  #watch(
    { req, res, requestId, info, query, subject, sender }: Exchange,
    upgrade: Upgrade | undefined,
  ): Answer | undefined {
    if (info.kind !== 'resource' || info.verb !== 'watch') return undefined;
    const registration = this.#dependencies.generated.registrationAt(info);
    if (registration?.serving === false) return refusal(notYetServing(registration));
    const watched = registration && { type: registration.type, endpoints: this.#dependencies.watch };
    const { type, endpoints } = watched ?? this.#watchedAt(info) ?? {};
    if (type === undefined || endpoints === undefined) return undefined;
    const request = {
      type,
      query,
      subject,
      address: networkOf(sender.address),
      requestId,
      ...(info.name === undefined ? {} : { name: info.name }),
    };
    if (upgrade === undefined) {
      endpoints.open(request, req, res);
    } else {
      upgrade.release();
      endpoints.upgrade(request, req, upgrade.socket, upgrade.head);
    }
    return takenOver;
  }

  #watchedAt({ group, version, resource, name }: ResourceLocation): WatchedRoute | undefined {
    if (name !== undefined) return undefined;
    return this.#dependencies.watched.find(
      ({ type }) => type.group === group && type.version === version && type.plural === resource,
    );
  }
}
