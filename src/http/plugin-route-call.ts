import type { Subject } from '../command/subject.ts';
import { pluginRouteMs } from '../limits/plugins.ts';
import type { RouteEndpoint } from '../plugin/api/endpoints.ts';
import { accountOf, clientOf } from '../read/client.ts';
import type { Allows } from '../watch/guard.ts';
import { refusal, takenOver, type Answer } from './answer.ts';
import { disconnectSignalOf, type Exchange } from './exchange.ts';
import { abandon, EventStream } from './plugin-routes/plugin-events.ts';
import { requestOf, routeRequest, type CallPorts } from './plugin-routes/plugin-request.ts';
import { decodeRefusal, decodeResponse, type DecodedResponse } from './plugin-routes/plugin-response.ts';
import { hasStopped, type Mount, type OpenStreams } from './plugin-routes/plugin-streams.ts';
import { basicChallenge, problem, type Problem } from './problem.ts';
import type { FoundOf } from './route-table.ts';
import { eventStreamHead } from './send.ts';
import { thrownText } from './thrown-text.ts';

export type RouteCallDependencies = CallPorts & {
  /** Returns whether an authorized request is still allowed, with a credential that is still valid. */
  readonly allows: Allows;
};

export type PluginRoute = {
  readonly mount: Mount;
  readonly endpoint: RouteEndpoint;
};

type Settled =
  | { readonly kind: 'answered'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' }
  | { readonly kind: 'disconnected' };

type Streaming = {
  readonly headers: ReadonlyMap<string, string>;
  readonly iterator: AsyncIterator<unknown>;
  readonly calling: AbortController;
};

type CallInput = {
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
};

/** Calls plugins' route handlers. Each call results in one response, or in a stream of events. */
export class PluginRouteCalls {
  readonly #dependencies: RouteCallDependencies;
  readonly #streams: OpenStreams;

  constructor(dependencies: RouteCallDependencies, streams: OpenStreams) {
    this.#dependencies = dependencies;
    this.#streams = streams;
  }

  async call(exchange: Exchange, { route, params }: FoundOf<PluginRoute>): Promise<Answer> {
    const { mount, endpoint } = route;
    if (!mount.serving) return refusal(notStarted(mount));
    const request = await requestOf(exchange, endpoint);
    if (!request.ok) return request.answer;
    // The plugin may have stopped while the body arrived.
    if (mount.isOver) return refusal(hasStopped(mount));
    const calling = new AbortController();
    const outcome = await this.#settled(exchange, route, { params, body: request.body, signal: calling.signal });
    const decoded = outcome.kind === 'answered' ? decodeResponse(outcome.result, endpoint.responses) : outcome;
    if (decoded.kind === 'events') return this.#stream(exchange, route, { ...decoded, calling });
    calling.abort();
    return this.#answerOf(exchange, route, decoded);
  }

  #answerOf(
    exchange: Exchange,
    route: PluginRoute,
    outcome: Exclude<DecodedResponse, { kind: 'events' }> | Exclude<Settled, { kind: 'answered' }>,
  ): Answer {
    const { log } = this.#dependencies;
    const { plugin } = route.mount;
    switch (outcome.kind) {
      case 'answer':
        return outcome.answer;
      case 'disconnected':
        return takenOver;
      case 'late':
        log.warn('a plugin route did not answer in time', { ...logFieldsOf(exchange, route), limitMs: pluginRouteMs });
        return refusal(
          problem('timeout', `the plugin ${plugin} did not answer within ${String(pluginRouteMs / 1_000)} s`),
        );
      case 'failed': {
        const refused = decodeRefusal(outcome.error);
        return refused === undefined
          ? this.#failed(exchange, route, { problem: 'the handler threw an error', error: thrownText(outcome.error) })
          : refusal(asUnauthorizedForVisitors(refused, exchange.subject));
      }
      case 'rubbish':
        return this.#failed(exchange, route, {
          problem: outcome.problem,
          ...(outcome.violations === undefined ? {} : { violations: outcome.violations }),
        });
    }
  }

  #failed(exchange: Exchange, route: PluginRoute, why: Readonly<Record<string, unknown>>): Answer {
    this.#dependencies.log.error('a plugin route failed', { ...logFieldsOf(exchange, route), ...why });
    return refusal(
      problem(
        'internal-error',
        `the plugin ${route.mount.plugin} failed: the server log contains the details for this request id`,
      ),
    );
  }

  /**
   * Starts a stream of events, which has no time limit. Returns a refusal if too many streams are open, or if the
   * caller has lost the right.
   */
  #stream(exchange: Exchange, route: PluginRoute, { headers, iterator, calling }: Streaming): Answer {
    const { res, method, requestId, subject, sender, info: request } = exchange;
    const { mount } = route;
    const refused = res.closed ? undefined : (this.#streams.refusal(mount) ?? this.#lostRight(exchange));
    if (refused === undefined && !res.closed) {
      res.writeHead(200, eventStreamHead(headers, requestId));
      if (method !== 'HEAD') {
        res.flushHeaders();
        const { clock, log } = this.#dependencies;
        new EventStream({
          mount,
          subject,
          request,
          account: accountOf(clientOf(subject, sender.address)),
          res,
          iterator,
          clock,
          streams: this.#streams,
          onOver: () => {
            calling.abort();
          },
          onFailed: (what, error) => {
            log.error('the event stream of a plugin route failed', {
              ...logFieldsOf(exchange, route),
              problem: what,
              ...(error === undefined ? {} : { error: thrownText(error) }),
            });
          },
        });
        return takenOver;
      }
      res.end();
    }
    calling.abort();
    abandon(iterator);
    return refused === undefined ? takenOver : refusal(refused);
  }

  /**
   * Returns a refusal if the caller lost the right while the handler ran. A new stream is not notified of earlier
   * changes of rights.
   */
  #lostRight({ subject, info }: Exchange): Problem | undefined {
    return this.#dependencies.allows(subject, info)
      ? undefined
      : asUnauthorizedForVisitors(
          problem('forbidden', 'the caller is no longer allowed to make this request'),
          subject,
        );
  }

  /** Waits for the handler's result, the time limit, or the disconnect of the caller, whichever is first. */
  async #settled(
    exchange: Exchange,
    { mount: { plugin }, endpoint: { handler, query: schemas } }: PluginRoute,
    call: CallInput,
  ): Promise<Settled> {
    const disconnected = disconnectSignalOf(exchange.res);
    return new Promise((resolve) => {
      const settle = (outcome: Settled): void => {
        timer.cancel();
        resolve(outcome);
      };
      const timer = this.#dependencies.clock.after(pluginRouteMs, () => {
        settle({ kind: 'late' });
      });
      disconnected.addEventListener(
        'abort',
        () => {
          settle({ kind: 'disconnected' });
        },
        { once: true },
      );
      const request = routeRequest(exchange, { ...call, plugin, schemas }, this.#dependencies);
      // Within a promise, an exception of the handler becomes a rejection.
      Promise.resolve(request)
        .then(handler)
        .then(
          (result) => {
            settle({ kind: 'answered', result });
          },
          (error: unknown) => {
            settle({ kind: 'failed', error });
          },
        );
    });
  }
}

export function notStarted({ plugin }: Mount): Problem {
  return problem('unavailable', `the plugin ${plugin} has not started yet`, { retryAfterSeconds: 1 });
}

function logFieldsOf(
  { requestId, info: { path } }: Exchange,
  { mount: { plugin }, endpoint }: PluginRoute,
): Readonly<Record<string, unknown>> {
  return { plugin, requestId, path, route: `${endpoint.method} ${endpoint.path}` };
}

/** A visitor might have the right after a log-in, so a 403 for a visitor becomes a 401. */
function asUnauthorizedForVisitors(refused: Problem, { kind }: Subject): Problem {
  return refused.reason === 'forbidden' && kind === 'visitor'
    ? problem('unauthorized', refused.detail, { headers: ['WWW-Authenticate', basicChallenge] })
    : refused;
}
