import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';


import type { Authenticated } from '../auth/authenticated.ts';
import type { Shown } from '../auth/authenticator.ts';
import { basicPair } from '../auth/basic-pair.ts';
import type { Authorize } from '../auth/authorize.ts';
import { visitor, type Subject } from '../command/subject.ts';
import { queryOf, requestInfo, type RequestInfo } from '../resource/request-path.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import { refusal, taken, type Answer } from './answer.ts';
import { asksForWatch, outlives } from './asks-for-watch.ts';
import { refuseForeignPage } from './browser-guard.ts';
import { networkOf } from '../base/network-of.ts';
import { malformedCondition } from './conditions.ts';
import { goneSignal, headerOf, type Exchange, type Sender } from './exchange.ts';
import type { FixedRoute } from './fixed-routes.ts';
import { notYetServing, type GeneratedApi } from './generated.ts';
import type { Metrics } from './metrics.ts';
import type { PluginRoutes } from './plugin-routes.ts';
import { basicChallenge, logInChallenge, methodNotAllowed, problem, type Problem } from './problem.ts';
import { misnamedParameter } from './query-names.ts';
import type { RefusalLog } from './refusal-log.ts';
import { headProblem } from './request-head.ts';
import type { RouteTable } from './route-table.ts';
import type { RequestMemory, Serving } from './request-memory.ts';
import { send, type Edge, type Recipient } from './send.ts';
import type { SenderOf } from './sender.ts';
import type { WatchEndpoints } from './watching.ts';

/** The cookie counts only where there is no `Authorization`. */
export type Authenticate = (shown: Shown) => Authenticated | Promise<Authenticated>;

export type AppDependencies = Edge & {
  readonly senderOf: SenderOf;
  readonly memory: RequestMemory;
  readonly refusals: RefusalLog;
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly generated: GeneratedApi;
  readonly fixed: RouteTable<FixedRoute>;
  readonly pluginRoutes: PluginRoutes;
  readonly watch: WatchEndpoints;
  readonly metrics: Metrics;
  readonly hosts: AllowedHosts;
  /** An id for a request that brought none of its own. */
  readonly drawRequestId: () => string;
};

/** The connection of a request that asked to leave HTTP. */
export type Upgrade = { readonly socket: Duplex; readonly head: Buffer; readonly release: () => void };

/** A request and the user that it turns out to be of. */
type Served = Recipient & Serving & { subject: Subject | undefined };

/** The order of all requests, top to bottom in `#answer`; decision 2 gives it. */
export class App {
  readonly #dependencies: AppDependencies;

  constructor(dependencies: AppDependencies) {
    this.#dependencies = dependencies;
  }

  async serve(req: IncomingMessage, res: ServerResponse, upgrade?: Upgrade): Promise<void> {
    const to: Served = { req, res, requestId: this.#identify(req), hold: undefined, subject: undefined };
    try {
      const answer = await this.#answer(to, upgrade);
      if (answer.kind === 'problem' && answer.problem.reason === 'forbidden') this.#noteForbidden(to, answer.problem.detail);
      await send(to, answer, this.#dependencies);
    } catch (error) {
      this.#dependencies.log.error('a request failed', { requestId: to.requestId, method: req.method, path: req.url?.split('?', 1)[0], error: error instanceof Error ? error.stack : String(error) });
      await send(to, refusal(problem('internal-error', 'internal error; the server log has the details under the id of this request')), this.#dependencies);
    }
    to.hold?.served();
    if (res.headersSent) this.#dependencies.metrics.answered(res.statusCode);
  }

  /** Whether a WebSocket is served at the request's path. */
  hasSocketAt(req: IncomingMessage): boolean {
    const { method, url } = lineOf(req);
    const info = this.#infoOf(method, url, true);
    if (info.kind === 'malformed') return false;
    return info.verb === 'watch' || this.#dependencies.pluginRoutes.findSocket(info.segments).kind === 'found';
  }

  async #answer(to: Served, upgrade: Upgrade | undefined): Promise<Answer> {
    const { req, res, requestId } = to;
    const { method, url, rawQuery } = lineOf(req);
    const query = queryOf(url);
    const asks = asksForWatch(req, query, upgrade !== undefined);
    const info = this.#infoOf(method, url, asks);
    if (info.kind === 'malformed') return refusal(problem('bad-request', info.detail));
    const malformed = headProblem(req, this.#dependencies.hosts);
    if (malformed !== undefined) return refusal(malformed);

    const sender = this.#dependencies.senderOf(req);
    const who = this.#authenticate(to, info, sender);
    const authenticated = who instanceof Promise ? await who : who;
    const subject = subjectOf(authenticated, info);
    if (subject === undefined) {
      this.#noteFailure(authenticated, req, { requestId, address: sender.address });
      return unauthenticated(authenticated, req);
    }

    to.subject = subject;
    const isWatch = info.verb === 'watch' || outlives(req, upgrade !== undefined);
    const refused = this.#refuse(req, subject, info) ?? refuseForeignPage(req, { method, subject, isWatch }) ?? refuseCondition(req);
    if (refused !== undefined) return refused;
    if (typeof query === 'string') return refusal(problem('bad-request', query));

    const { memory } = this.#dependencies;
    const exchange: Exchange = { req, res, requestId, method, info, query, rawQuery, subject, sender, memory, serving: to };
    return this.#watch(exchange, upgrade) ?? this.#socket(exchange, upgrade) ?? this.#route(exchange);
  }

  #noteForbidden({ req, requestId, subject }: Served, reason: string): void {
    const username = subject?.kind === 'user' ? subject.name : undefined;
    this.#dependencies.refusals.forbidden({ requestId, address: this.#dependencies.senderOf(req).address, reason, username });
  }

  #noteFailure(refused: Authenticated, { headers: { authorization = '' } }: IncomingMessage, from: { readonly requestId: string; readonly address: string }): void {
    if (refused.ok || refused.reason === 'unavailable') return;
    this.#dependencies.refusals.logInFailed({ ...from, reason: refused.detail, username: basicPair(authorization)?.username });
  }

  /** What is being loaded is told before rights are asked: a rule may name the plugin, whose path this is not for the moment. */
  #refuse(req: IncomingMessage, subject: Subject, info: Request): Answer | undefined {
    const { generated, authorize } = this.#dependencies;
    const plugin = generated.returningAt(info.segments);
    if (plugin !== undefined) return refusal(problem('unavailable', `the plugin ${plugin} is being reloaded`, { retryAfterSeconds: 1 }));
    const expected = generated.expected();
    if (expected.size > 0 && this.#mayCome(info.segments)) return refusal(mayCome(expected));
    return refuseAccess(req, subject, authorize, info);
  }

  /** Nothing is there, and a plugin could have something there: a group, a version, a type or a path of its own. */
  #mayCome(segments: readonly string[]): boolean {
    const { generated, fixed, pluginRoutes } = this.#dependencies;
    if (segments[0] !== 'apis' || segments.length < 2 || generated.isKnown(segments)) return false;
    // The platform's routes for groups and versions are there for whatever they name.
    return (segments.length <= 3 || !fixed.covers(segments)) && pluginRoutes.pluginOf(segments) === undefined;
  }

  /** A plugin's own routes and sockets, and the platform's, are read whatever a request asks for (decision 6.2). */
  #infoOf(method: string, url: string, asks: boolean): RequestInfo {
    const info = requestInfo(method, url, asks ? 'watch' : 'no watch');
    if (info.kind !== 'resource' || info.verb !== 'watch') return info;
    const { generated, fixed, pluginRoutes } = this.#dependencies;
    const isTaken = generated.registrationAt(info) === undefined
      && (fixed.covers(info.segments) || pluginRoutes.pluginOf(info.segments) !== undefined);
    return isTaken ? requestInfo(method, url, 'no watch') : info;
  }

  /** The caller's id when it is sane, so that one id follows a request through several services. */
  #identify(req: IncomingMessage): string {
    const given = req.headers['x-request-id'];
    return typeof given === 'string' && /^[\w.:-]{1,128}$/u.test(given) ? given : this.#dependencies.drawRequestId();
  }

  #authenticate({ req, res }: Recipient, info: Request, { address }: Sender): Authenticated | Promise<Authenticated> {
    const { authorization, cookie } = req.headers;
    // Whoever logs in may hold the cookie of a session that has ended, and brings what is better.
    const counted = isLogIn(info) ? undefined : cookie;
    return this.#dependencies.authenticate({ authorization, cookie: counted, address, gone: () => goneSignal(res) });
  }

  /** Generated APIs come first, so that no plugin's route can stand in for one; then the platform's, then plugins'. */
  #route(exchange: Exchange): Answer | Promise<Answer> {
    const { method, info } = exchange;
    const generated = this.#dependencies.generated.answer(exchange);
    if (generated instanceof Promise || generated.kind !== 'not-served') return generated;
    const fixed = this.#dependencies.fixed.find(method, info.segments);
    if (fixed.kind === 'found') {
      const misnamed = misnamedParameter(exchange.query);
      return misnamed === undefined ? fixed.route(fixed.params, exchange) : refusal(misnamed);
    }
    const plugin = this.#dependencies.pluginRoutes.find(method, info.segments);
    if (plugin.kind === 'found') return this.#dependencies.pluginRoutes.call(exchange, plugin);
    const socket = this.#dependencies.pluginRoutes.findSocket(info.segments);
    if (socket.kind === 'found' && (method === 'GET' || method === 'HEAD')) return refusal(problem('bad-request', 'this path serves a WebSocket: the request needs an upgrade', { headers: ['Upgrade', 'websocket'] }));
    const sockets = socket.kind === 'found' ? ['GET'] : socket.allow;
    const allow = [...new Set([...generated.allow, ...fixed.allow, ...plugin.allow, ...sockets])];
    return refusal(allow.length > 0 ? methodNotAllowed(method, allow) : problem('not-found', 'the server could not find the requested resource'));
  }

  /** Undefined for what is no upgrade, or none to a plugin's socket: that is then served as if it had not asked. */
  #socket(exchange: Exchange, upgrade: Upgrade | undefined): Answer | undefined {
    const { pluginRoutes } = this.#dependencies;
    const found = upgrade === undefined ? undefined : pluginRoutes.findSocket(exchange.info.segments);
    return upgrade === undefined || found?.kind !== 'found' ? undefined : pluginRoutes.upgrade(exchange, found, { ...upgrade, edge: this.#dependencies });
  }

  /** Undefined for what is no watch of a registered type: a watch of no type finds nothing, as any other request. */
  #watch({ req, res, requestId, info, query, subject, sender }: Exchange, upgrade: Upgrade | undefined): Answer | undefined {
    if (info.kind !== 'resource' || info.verb !== 'watch') return undefined;
    const registration = this.#dependencies.generated.registrationAt(info);
    if (registration === undefined) return undefined;
    if (!registration.serving) return refusal(notYetServing(registration));
    const request = { type: registration.type, query, subject, address: networkOf(sender.address), requestId, ...(info.name === undefined ? {} : { name: info.name }) };
    if (upgrade === undefined) {
      this.#dependencies.watch.open(request, req, res);
    } else {
      upgrade.release();
      this.#dependencies.watch.upgrade(request, req, upgrade.socket, upgrade.head);
    }
    return taken;
  }
}

function lineOf({ method = 'GET', url = '/' }: IncomingMessage): { readonly method: string; readonly url: string; readonly rawQuery: string } {
  const query = url.indexOf('?');
  return { method, url, rawQuery: query === -1 ? '' : url.slice(query + 1) };
}

function mayCome(expected: ReadonlySet<string>): Problem {
  const names = [...expected].filter((name) => name !== '').join(', ');
  const which = names === '' ? 'plugins' : `the plugins ${names}`;
  return problem('unavailable', `this path is not served yet; it may be after ${which} have been loaded`, { retryAfterSeconds: 1 });
}

function refuseCondition(req: IncomingMessage): Answer | undefined {
  const malformed = malformedCondition(req);
  return malformed === undefined ? undefined : refusal(problem('bad-request', malformed));
}

type Request = Exclude<RequestInfo, { kind: 'malformed' }>;

function isLogIn({ kind, verb, path }: Request): boolean {
  return kind === 'non-resource' && verb === 'create' && path === '/login';
}

const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version']);

/** A probe that shows credentials is answered while none can be checked, too: what it asks is whether that is so. */
function subjectOf(authenticated: Authenticated, { verb, path }: Request): Subject | undefined {
  if (authenticated.ok) return authenticated.subject;
  return authenticated.reason === 'unavailable' && verb === 'get' && probes.has(path) ? visitor : undefined;
}

function unauthenticated(refused: Authenticated, req: IncomingMessage): Answer {
  if (refused.ok) throw new Error('invariant broken: who is authenticated was refused');
  if (refused.reason === 'unauthorized') return unauthorized(refused.detail, req.headers.authorization === undefined ? logInChallenge : basicChallenge);
  return refusal(problem(refused.reason, refused.detail, { retryAfterSeconds: refused.retryAfterSeconds }));
}

function unauthorized(detail: string, challenge = basicChallenge): Answer {
  return refusal(problem('unauthorized', detail, { headers: ['WWW-Authenticate', challenge] }));
}

function refuseAccess(req: IncomingMessage, subject: Subject, authorize: Authorize, info: Request): Answer | undefined {
  // To act as somebody else is not possible here; not to say so would be to act as the wrong one.
  if (headerOf(req, 'impersonate-user') !== undefined) return refusal(problem('forbidden', 'impersonation is not supported'));
  const access = authorize(subject, info);
  if (access.allowed) return undefined;
  if (access.isUndecided === true) return refusal(problem('unavailable', access.reason, { retryAfterSeconds: 1 }));
  return subject.kind === 'visitor' ? unauthorized(access.reason) : refusal(problem('forbidden', access.reason));
}
