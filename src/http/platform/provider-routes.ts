import { clearedFlowCookie, flowCookie, flowIn, supersededFlows } from '../../auth/provider-log-in/log-in-flow.ts';
import type { ProviderLogIn } from '../../auth/provider-log-in/provider-log-in.ts';
import { returnPathProblem } from '../../auth/provider-log-in/return-path.ts';
import { networkOf } from '../../base/network-of.ts';
import { jsonAnswer, refusal, withHeaders, type Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem, problemOf, type Problem } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import type { RefusalLog } from '../refusal-log.ts';
import { consoleLogInPath } from './console-log-in.ts';
import { pageOfProblem, wantsPage } from './log-in-page.ts';
import { notLoggedIn } from './session-routes.ts';
import { startSession, type SessionStartDependencies } from './session-start.ts';

export type ProviderRoutesDependencies = SessionStartDependencies & {
  /** Log-ins at the identity provider; undefined if none is configured. */
  readonly provider: ProviderLogIn | undefined;
  /** The URL of this server for browsers, without a slash at the end. If undefined, the host of the request is used. */
  readonly publicUrl: string | undefined;
  /** Whether this server has the web console, which shows browsers why a log-in has failed. */
  readonly hasConsole: boolean;
  readonly refusals: Pick<RefusalLog, 'providerLogInFailed'>;
};

export const providerPath = '/login/oidc';
const callbackPath = `${providerPath}/callback`;

/**
 * Creates the routes for log-ins at the identity provider in a browser. A browser navigates to these routes, so it gets
 * a refusal as a page: the console's log-in page if the console began the log-in, otherwise a plain page. The route
 * `/login/methods` lists the ways to log in, for a page that offers them.
 */
export function providerRoutes(dependencies: ProviderRoutesDependencies): readonly PlatformRoute[] {
  const routes = new ProviderRoutes(dependencies);
  return [
    { method: 'GET', path: '/login/methods', route: () => routes.methods() },
    { method: 'GET', path: providerPath, route: async (_params, exchange) => routes.begin(exchange) },
    { method: 'GET', path: callbackPath, route: async (_params, exchange) => routes.finish(exchange) },
  ];
}

class ProviderRoutes {
  readonly #dependencies: ProviderRoutesDependencies;

  constructor(dependencies: ProviderRoutesDependencies) {
    this.#dependencies = dependencies;
  }

  methods(): Answer {
    const { provider } = this.#dependencies;
    const oidc = provider === undefined ? [] : [{ kind: 'oidc', path: providerPath, issuer: provider.issuer }];
    return jsonAnswer({ methods: [{ kind: 'password', path: '/login' }, ...oidc] });
  }

  async begin(exchange: Exchange): Promise<Answer> {
    const { provider } = this.#dependencies;
    if (provider === undefined) return refused(exchange, notConfigured);
    const misnamed = checkParameterNames(exchange.query, { own: ['return'] });
    if (misnamed !== undefined) return refused(exchange, misnamed);
    const redirectUri = this.#redirectUri(exchange);
    if (redirectUri === undefined) return refused(exchange, noHost);
    const returnPath = this.#returnPath(exchange.query);
    if (typeof returnPath !== 'string') return refused(exchange, returnPath);
    const begun = await provider.begin(redirectUri, returnPath);
    if (!begun.ok) return this.#failed(exchange, notLoggedIn(begun), returnPath);
    const { cookie } = exchange.req.headers;
    return redirect(begun.url, [
      ...supersededFlows(cookie, exchange.sender).map((state) => clearedFlowCookie(state, exchange.sender)),
      flowCookie(begun.flow, exchange.sender),
    ]);
  }

  /**
   * Completes a log-in after the redirect from the provider. Clears the cookie of the log-in in each case, because the
   * provider accepts a code only once. A redirect without this cookie is refused: another browser began the log-in,
   * possibly to log the user in to the account of an attacker.
   */
  async finish(exchange: Exchange): Promise<Answer> {
    const { provider } = this.#dependencies;
    if (provider === undefined) return refused(exchange, notConfigured);
    const { query, req, sender, clock } = exchange;
    const redirectUri = this.#redirectUri(exchange);
    if (redirectUri === undefined) return refused(exchange, noHost);
    const state = query.getAll('state').length === 1 ? (query.get('state') ?? '') : '';
    const flow = flowIn(req.headers.cookie, state, sender, clock.now());
    if (flow === undefined) {
      this.#recordFailure(exchange, noFlow.detail);
      return this.#failed(exchange, noFlow);
    }
    const network = networkOf(sender.address);
    const verified = await provider.finish({ parameters: query, flow, redirectUri, network });
    const cleared = clearedFlowCookie(flow.state, sender);
    if (!verified.ok) {
      if (verified.reason !== 'unavailable') this.#recordFailure(exchange, verified.detail);
      return withHeaders(this.#failed(exchange, notLoggedIn(verified), flow.returnPath), ['Set-Cookie', cleared]);
    }
    const started = await startSession(
      exchange,
      { subject: verified.subject, status: { issuer: provider.issuer } },
      this.#dependencies,
    );
    if (!started.ok)
      return withHeaders(this.#failed(exchange, problemOf(started.rejection), flow.returnPath), [
        'Set-Cookie',
        cleared,
      ]);
    return redirect(flow.returnPath, [started.cookie, cleared]);
  }

  /** Answers a failed log-in with a redirect to the console's log-in page if possible, otherwise with a refusal. */
  #failed(exchange: Exchange, failure: Problem, returnPath?: string): Answer {
    const { query, requestId } = exchange;
    const page =
      this.#dependencies.hasConsole && wantsPage(exchange)
        ? consoleLogInPath({ refused: failure, isDenied: query.has('error'), returnPath, requestId })
        : undefined;
    return page === undefined ? refused(exchange, failure, returnPath) : redirect(page, []);
  }

  /** Returns the path in the parameter `return`; by default, the root of this server as the browser sees it. */
  #returnPath(query: URLSearchParams): string | Problem {
    const { publicUrl } = this.#dependencies;
    const [given, ...more] = query.getAll('return');
    if (given === undefined)
      return publicUrl === undefined ? '/' : `${new URL(publicUrl).pathname.replace(/\/$/u, '')}/`;
    const detail = more.length > 0 ? 'must be given once' : returnPathProblem(given);
    return detail === undefined ? given : problem('bad-request', `return: ${detail}`);
  }

  /** Returns this server's URI to which the provider redirects; undefined if this server's host is not known. */
  #redirectUri({ req: { headers }, sender: { isSecure } }: Exchange): string | undefined {
    const { publicUrl } = this.#dependencies;
    const base = publicUrl ?? `${isSecure ? 'https' : 'http'}://${headers.host ?? ''}`;
    return URL.canParse(base) ? `${base}${callbackPath}` : undefined;
  }

  #recordFailure({ requestId, sender: { address } }: Exchange, reason: string): void {
    this.#dependencies.refusals.providerLogInFailed({ requestId, address, reason });
  }
}

const notConfigured = problem(
  'not-found',
  'this server has no identity provider for log-ins: OIDC_CLIENT_ID is not set',
);
const noHost = problem('bad-request', 'the request names no host: the server needs the setting PUBLIC_URL');
const noFlow = problem(
  'bad-request',
  'this log-in was not begun in this browser, or it has ended or expired: begin it again',
);

function redirect(location: string, cookies: readonly string[]): Answer {
  return {
    kind: 'bytes',
    status: 303,
    bytes: Buffer.alloc(0),
    contentType: 'text/plain; charset=utf-8',
    headers: [
      'Location',
      location,
      // The URL of this response may contain an authorization code, so browsers must not send it as `Referer`.
      'Referrer-Policy',
      'no-referrer',
      ...cookies.flatMap((cookie) => ['Set-Cookie', cookie]),
    ],
  };
}

/** Returns a refusal as a page for a browser, otherwise as a problem. The link on the page keeps the return path. */
function refused(exchange: Exchange, refusedAs: Problem, returnPath?: string): Answer {
  if (!wantsPage(exchange)) return refusal(refusedAs);
  const path = exchange.info.path === callbackPath ? '../oidc' : 'oidc';
  const query = returnPath === undefined ? '' : `?return=${encodeURIComponent(returnPath)}`;
  return pageOfProblem(exchange, refusedAs, refusedAs === notConfigured ? undefined : `${path}${query}`);
}
