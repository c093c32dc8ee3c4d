import type { Clock } from '../base/clock.ts';
import { actorOf, type Subject } from '../command/subject.ts';
import { pluginRouteMs } from '../limits.ts';
import type { Endpoints, RouteMounts } from '../plugin/endpoints.ts';
import type { Client, PluginLogger, RouteHandler, RouteRequest } from '../plugin/plugin.ts';
import { refusal, taken, type Answer } from './answer.ts';
import { goneSignal, type Exchange } from './exchange.ts';
import { decodeRefusal, decodeResponse } from './plugin-response.ts';
import { basicChallenge, problem, type Problem } from './problem.ts';
import { decodeBody, mediaTypeOf, readBody } from './read-body.ts';
import { RouteTable, type Found, type Route } from './route-table.ts';

export type PluginRoutesDependencies = {
  readonly clock: Clock;
  readonly log: PluginLogger;
  readonly loggerOf: (plugin: string) => PluginLogger;
  /** The generated API in-process, bound to the caller's rights and to the plugin's own. */
  readonly clientsOf: (plugin: string, caller: { readonly subject: Subject; readonly requestId: string }) => { readonly client: Client; readonly pluginClient: Client };
};

type Mounted = { readonly serving: boolean; readonly table: RouteTable<PluginRoute> };
export type PluginRoute = { readonly plugin: string; readonly serving: boolean; readonly handler: RouteHandler };

/**
 * The custom routes of every plugin (decision 9.6), matched after authorization. Whatever a handler does (throw, reject,
 * never settle, answer rubbish) is contained here and told by the plugin's name.
 */
export class PluginRoutes implements RouteMounts {
  readonly #dependencies: PluginRoutesDependencies;
  /** In the order of mounting: of two plugins with one route the first keeps it. */
  readonly #mounted = new Map<string, Mounted>();

  constructor(dependencies: PluginRoutesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Its paths answer 503 from now on, until they are mounted. Throws as `mount` does. */
  announce(plugin: string, endpoints: Endpoints): void {
    this.#put(plugin, endpoints, false);
  }

  /** Replaces the plugin's routes. Throws a RangeError for a path that is not its to serve, and then changes nothing. */
  mount(plugin: string, endpoints: Endpoints): void {
    this.#put(plugin, endpoints, true);
  }

  /** Its paths answer 404 from now on; calls in progress end by themselves. */
  unmount(plugin: string): void {
    this.#mounted.delete(plugin);
  }

  find(method: string, segments: readonly string[]): Found<PluginRoute> {
    const allow = new Set<string>();
    for (const { table } of this.#mounted.values()) {
      const found = table.find(method, segments);
      if (found.kind === 'found') return found;
      for (const allowed of found.allow) allow.add(allowed);
    }
    return { kind: 'not-served', allow: [...allow].sort() };
  }

  /** The plugin that has a route at this path, announced or mounted, whatever its method: whose rules may name it. */
  pluginOf(segments: readonly string[]): string | undefined {
    for (const [plugin, { table }] of this.#mounted) if (table.covers(segments)) return plugin;
    return undefined;
  }

  /** Every route there is. */
  all(): readonly (Route & { readonly plugin: string })[] {
    return [...this.#mounted].flatMap(([plugin, { table }]) => table.all().map(({ method, pattern }) => ({ plugin, method, pattern })));
  }

  async call(exchange: Exchange, { route, params }: Extract<Found<PluginRoute>, { kind: 'found' }>): Promise<Answer> {
    const { plugin, serving, handler } = route;
    if (!serving) return refusal(problem('unavailable', `the plugin ${plugin} has not started yet`, { retryAfterSeconds: 1 }));
    const body = await bodyOf(exchange);
    if (!body.ok) return body.answer;
    const { log } = this.#dependencies;
    const outcome = await this.#settled(exchange, plugin, { params, body: body.value, handler });
    if (outcome.kind === 'gone') return taken;
    if (outcome.kind === 'late') {
      log.warn('a plugin route did not answer in time', { plugin, requestId: exchange.requestId, path: exchange.info.path, limitMs: pluginRouteMs });
      return refusal(problem('timeout', `the plugin ${plugin} did not answer within ${String(pluginRouteMs / 1_000)} s`));
    }
    const refused = outcome.kind === 'failed' ? decodeRefusal(outcome.error) : undefined;
    if (refused !== undefined) return refusal(knownOrNot(refused, exchange.subject));
    const decoded = outcome.kind === 'answered' ? decodeResponse(outcome.result) : { ok: false as const, problem: 'it threw' };
    if (decoded.ok) return decoded.answer;
    const cause = outcome.kind === 'failed' ? { error: outcome.error instanceof Error ? outcome.error.stack : String(outcome.error) } : {};
    log.error('a plugin route failed', { plugin, requestId: exchange.requestId, path: exchange.info.path, problem: decoded.problem, ...cause });
    return refusal(problem('internal-error', `the plugin ${plugin} failed; the log has the detail under this request's id`));
  }

  #put(plugin: string, { routes }: Endpoints, serving: boolean): void {
    const table = new RouteTable<PluginRoute>();
    for (const { method, path, handler } of routes) {
      if (!/^\/apis\/[a-z0-9.-]+\/[a-z0-9]+\/./u.test(path)) throw new RangeError(`${method} ${path}: a route's path is /apis/<group>/<version>/…`);
      table.add(method, path, { plugin, serving, handler });
    }
    this.#mounted.set(plugin, { serving, table });
  }

  /** The handler's end, its time limit or its caller's leaving, whichever comes first; a later rejection harms nobody. */
  async #settled(exchange: Exchange, plugin: string, call: Call): Promise<Settled> {
    const { clock, loggerOf, clientsOf } = this.#dependencies;
    const { subject, requestId } = exchange;
    const controller = new AbortController();
    const gone = goneSignal(exchange.res);
    return new Promise((resolve) => {
      const settle = (outcome: Settled): void => {
        timer.cancel();
        controller.abort();
        resolve(outcome);
      };
      const timer = clock.after(pluginRouteMs, () => { settle({ kind: 'late' }); });
      gone.addEventListener('abort', () => { settle({ kind: 'gone' }); }, { once: true });
      const request: RouteRequest = {
        params: call.params,
        query: queryOf(exchange.query),
        headers: headersOf(exchange),
        body: call.body,
        user: { name: actorOf(subject) },
        time: new Date(clock.now()).toISOString(),
        ...clientsOf(plugin, { subject, requestId }),
        signal: controller.signal,
        log: loggerOf(plugin),
      };
      // Called within a promise, so that a handler that throws at once is one that rejects.
      Promise.resolve(request).then(call.handler).then((result) => { settle({ kind: 'answered', result }); }, (error: unknown) => { settle({ kind: 'failed', error }); });
    });
  }
}

type Call = { readonly params: Readonly<Record<string, string>>; readonly body: unknown; readonly handler: RouteHandler };
type Settled = { readonly kind: 'answered'; readonly result: unknown } | { readonly kind: 'failed'; readonly error: unknown } | { readonly kind: 'late' } | { readonly kind: 'gone' };

/** What a visitor may not do through a client they might do once they have logged in. */
function knownOrNot(refused: Problem, { kind }: Subject): Problem {
  return refused.reason === 'forbidden' && kind === 'visitor' ? problem('unauthorized', refused.detail, { headers: ['WWW-Authenticate', basicChallenge] }) : refused;
}

/** A merge patch is what a client's `patch` takes, so a route may be sent one under its own name. */
const patchTypes = ['application/merge-patch+json', 'application/json'];

/** Decoded JSON; undefined without a body, whatever its media type then says. */
async function bodyOf({ req, method }: Exchange): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly answer: Answer }> {
  const media = mediaTypeOf(req, method === 'PATCH' ? patchTypes : ['application/json']);
  const body = await readBody(req);
  if (!body.ok) return { ok: false, answer: body.problem === undefined ? taken : refusal(body.problem) };
  if (body.value.length === 0) return { ok: true, value: undefined };
  if (!media.ok) return { ok: false, answer: refusal(media.problem) };
  const json = decodeBody(body.value);
  return json.ok ? json : { ok: false, answer: json.problem === undefined ? taken : refusal(json.problem) };
}

function queryOf(query: URLSearchParams): RouteRequest['query'] {
  return Object.fromEntries([...new Set(query.keys())].map((name) => {
    const [first = '', ...more] = query.getAll(name);
    return [name, more.length === 0 ? first : [first, ...more]];
  }));
}

/** Credentials are the platform's business: a plugin acts through its clients. */
function headersOf({ req }: Exchange): RouteRequest['headers'] {
  const { authorization: _authorization, cookie: _cookie, ...headers } = req.headers;
  return headers;
}
