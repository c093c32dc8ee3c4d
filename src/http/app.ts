import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Authenticated } from '../auth/authentication/authenticated.ts';
import type { Shown } from '../auth/authentication/authenticator.ts';
import { basicPair } from '../auth/authentication/basic-pair.ts';
import type { Authorize } from '../auth/authorization/authorize.ts';
import { visitor, type Subject } from '../command/subject.ts';
import { accountOf, clientOf } from '../read/client.ts';
import { queryOf } from '../resource/query/request-path.ts';
import { isLogIn, refuseAccess, subjectOf, unauthenticated, type WellFormedRequest } from './access-refusal.ts';
import type { AllowedHosts } from './client/allowed-hosts.ts';
import type { ConsolePages } from './console/console-pages.ts';
import { refusal, type Answer } from './answer.ts';
import { asksForWatch, outlives } from './watch/watch-negotiation.ts';
import { refuseForeignPage } from './csrf.ts';
import { checkConditionSyntax } from './resources/conditional-requests.ts';
import { Dispatcher, type DispatcherDependencies, type Upgrade } from './dispatcher.ts';
import { disconnectSignalOf, type Exchange, type Sender } from './exchange.ts';
import type { Metrics } from './metrics.ts';
import { nothingWritten, problem, type Problem } from './problem.ts';
import type { RefusalLog } from './refusal-log.ts';
import { takeBearer } from './connection/bearer-subprotocol.ts';
import { headProblem } from './connection/request-head.ts';
import type { RequestMemory, Serving } from './body/request-memory.ts';
import { YamlAnswers } from './representation/yaml-answers.ts';
import { prefersYaml } from './body/prefers-yaml.ts';
import { send, type Recipient } from './send.ts';
import type { SenderOf } from './client/client-address.ts';
import type { UpgradeWaits } from '../write/admission/upgrade-waits.ts';

/** Verifies credentials. The cookie is used only without an `Authorization` header. */
export type Authenticate = (shown: Shown) => Authenticated | Promise<Authenticated>;

export type AppDependencies = DispatcherDependencies & {
  readonly senderOf: SenderOf;
  readonly memory: RequestMemory;
  /** Lets writes wait during upgrades of plugins. If undefined, they are refused at once. */
  readonly upgradeWaits?: UpgradeWaits | undefined;
  readonly refusals: RefusalLog;
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly metrics: Metrics;
  readonly hosts: AllowedHosts;
  /** The web console; undefined if it is disabled. */
  readonly console: ConsolePages | undefined;
  /** Draws an id for a request without a valid X-Request-Id. */
  readonly drawRequestId: () => string;
};

const repeatedSoon = { retryAfterSeconds: 1, ...nothingWritten };

/** The methods of writes. */
const changing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

type Writing = { readonly method: string; readonly subject: Subject; readonly sender: Sender };

type Served = Recipient & Serving & { subject: Subject | undefined };

type RequestOrigin = {
  readonly requestId: string;
  readonly address: string;
};

/** Handles all requests that Node can parse. */
export class App {
  readonly #dependencies: AppDependencies;
  readonly #dispatcher: Dispatcher;
  readonly #yaml: YamlAnswers;

  constructor(dependencies: AppDependencies) {
    this.#dependencies = dependencies;
    this.#yaml = new YamlAnswers(dependencies.clock);
    this.#dispatcher = new Dispatcher(dependencies);
  }

  async serve(req: IncomingMessage, res: ServerResponse, upgrade?: Upgrade): Promise<void> {
    const to: Served = {
      req,
      res,
      requestId: this.#identify(req),
      hold: undefined,
      subject: undefined,
    };
    const beganMs = this.#dependencies.clock.monotonic();
    let isStream = false;
    try {
      const answer = await this.#answer(to, upgrade);
      isStream = answer.kind === 'stream' || answer.kind === 'taken-over';
      if (answer.kind === 'problem') this.#noteRefusal(to, answer.problem);
      const isYaml = prefersYaml(req.headers.accept);
      await send(to, isYaml ? await this.#yaml.of(answer, this.#accountOf(to)) : answer, this.#dependencies);
    } catch (error) {
      this.#dependencies.log.error('a request failed with an unexpected error', {
        requestId: to.requestId,
        method: req.method,
        path: req.url?.split('?', 1)[0],
        error: error instanceof Error ? error.stack : String(error),
      });
      await send(
        to,
        refusal(problem('internal-error', 'internal error: the server log contains the details for this request id')),
        this.#dependencies,
      );
    }
    to.hold?.served();
    const latencyMs = isStream ? undefined : this.#dependencies.clock.monotonic() - beganMs;
    if (res.headersSent) this.#dependencies.metrics.answered(res.statusCode, latencyMs);
  }

  /** Returns whether the request's path is that of a watch or of a plugin's WebSocket. */
  hasSocketAt(req: IncomingMessage): boolean {
    const { method, url } = lineOf(req);
    return this.#dispatcher.hasSocketAt(method, url);
  }

  async #answer(to: Served, upgrade: Upgrade | undefined): Promise<Answer> {
    const { req, res, requestId } = to;
    const { method, url, rawQuery } = lineOf(req);
    const query = queryOf(url);
    const wantsWatch = asksForWatch(req, query, upgrade !== undefined);
    const info = this.#dispatcher.infoOf(method, url, wantsWatch);
    if (info.kind === 'malformed') return refusal(problem('bad-request', info.detail));
    const early = this.#answerEarly(req, info, upgrade);
    if (early !== undefined) return early;

    const sender = this.#dependencies.senderOf(req);
    const who = this.#authenticate(to, info, sender);
    const authenticated = who instanceof Promise ? await who : who;
    const subject = subjectOf(authenticated, info);
    if (subject === undefined) {
      this.#noteFailure(authenticated, req, { requestId, address: sender.address });
      return unauthenticated(authenticated, req);
    }

    to.subject = subject;
    const returned = this.#awaitReturn(to, info, { method, subject, sender });
    if (returned !== undefined) await returned;
    const isWatch = info.verb === 'watch' || outlives(req, upgrade !== undefined);
    const refused =
      this.#refuse(req, subject, info) ?? refuseForeignPage(req, { method, subject, isWatch }) ?? refuseCondition(req);
    if (refused !== undefined) return refused;
    if (typeof query === 'string') return refusal(problem('bad-request', query));

    const { clock, memory } = this.#dependencies;
    const exchange: Exchange = {
      req,
      res,
      requestId,
      method,
      info,
      query,
      rawQuery,
      subject,
      sender,
      clock,
      memory,
      serving: to,
    };
    return this.#dispatcher.dispatch(exchange, upgrade);
  }

  /**
   * Lets a write wait for a plugin that is being reloaded, before its body is read. Returns undefined if the request
   * need not wait. Reads are refused at once, because another node can answer them.
   */
  #awaitReturn({ res }: Served, info: WellFormedRequest, from: Writing): Promise<unknown> | undefined {
    const { upgradeWaits, generated, memory } = this.#dependencies;
    if (upgradeWaits === undefined || !changing.has(from.method) || !generated.isReturning(info)) return undefined;
    return upgradeWaits.until(() => !generated.isReturning(info), {
      of: memory.writerOf(from),
      deadline: upgradeWaits.deadline(),
      disconnected: disconnectSignalOf(res),
    });
  }

  /** Returns the response to a request whose credentials do not matter: a malformed one, or one for the console. */
  #answerEarly(
    req: IncomingMessage,
    info: WellFormedRequest,
    upgrade: Upgrade | undefined,
  ): Answer | Promise<Answer> | undefined {
    const malformed = headProblem(req, this.#dependencies.hosts);
    if (malformed !== undefined) return refusal(malformed);
    const offer = upgrade === undefined ? undefined : takeBearer(req);
    if (offer !== undefined) return refusal(problem('bad-request', offer));
    return this.#dependencies.console?.answer(req, info);
  }

  /** Returns the account of the request, for the fair scheduling of responses. */
  #accountOf({ req, subject }: Served): string {
    return accountOf(clientOf(subject ?? visitor, this.#dependencies.senderOf(req).address));
  }

  /**
   * Records a forbidden request, or a visitor's request that needs credentials. Failed log-ins are recorded elsewhere.
   */
  #noteRefusal({ req, requestId, subject }: Served, { reason, detail }: Problem): void {
    if ((reason !== 'forbidden' && reason !== 'unauthorized') || subject === undefined) return;
    const { refusals, senderOf } = this.#dependencies;
    const { method, url } = lineOf(req);
    const info = this.#dispatcher.infoOf(method, url, false);
    if (info.kind === 'malformed') return;
    const { address } = senderOf(req);
    const refused = { requestId, address, reason: detail, username: undefined };
    if (reason === 'unauthorized') {
      if (subject.kind === 'visitor' && !isLogIn(info)) refusals.unauthorized(refused);
    } else if (subject.kind === 'user') {
      const { name: username, credential } = subject;
      const token = credential.kind === 'token' ? credential.name : undefined;
      refusals.forbidden({ ...refused, username, token, verb: info.verb, path: info.path });
    } else refusals.forbidden({ ...refused, verb: info.verb, path: info.path });
  }

  #noteFailure(
    refused: Authenticated,
    { headers: { authorization = '' } }: IncomingMessage,
    from: RequestOrigin,
  ): void {
    if (refused.ok || refused.reason === 'unavailable') return;
    this.#dependencies.refusals.logInFailed({
      ...from,
      reason: refused.detail,
      username: basicPair(authorization)?.username,
    });
  }

  /**
   * Returns the refusal of a request; undefined if the request is allowed. A plugin that is not loaded yet is reported
   * before the authorization, because rules may grant paths by the plugin's name.
   */
  #refuse(req: IncomingMessage, subject: Subject, info: WellFormedRequest): Answer | undefined {
    const { generated, authorize } = this.#dependencies;
    const plugin = generated.returningAt(info.segments);
    if (plugin !== undefined)
      return refusal(problem('unavailable', `the plugin ${plugin} is being reloaded`, repeatedSoon));
    const expected = generated.expected();
    if (expected.size > 0 && this.#dispatcher.mayBeServedLater(info.segments)) return refusal(notServedYet(expected));
    return refuseAccess(req, subject, authorize, info);
  }

  /** Returns the id of a request. A valid X-Request-Id of the caller is kept. */
  #identify(req: IncomingMessage): string {
    const given = req.headers['x-request-id'];
    return typeof given === 'string' && /^[\w.:-]{1,128}$/u.test(given) ? given : this.#dependencies.drawRequestId();
  }

  #authenticate(
    { req, res }: Recipient,
    info: WellFormedRequest,
    { address }: Sender,
  ): Authenticated | Promise<Authenticated> {
    const { authorization, cookie } = req.headers;
    // A log-in ignores the cookie, which may belong to an ended session.
    const counted = isLogIn(info) ? undefined : cookie;
    return this.#dependencies.authenticate({
      authorization,
      cookie: counted,
      address,
      signal: () => disconnectSignalOf(res),
    });
  }
}

function lineOf({ method = 'GET', url = '/' }: IncomingMessage): {
  readonly method: string;
  readonly url: string;
  readonly rawQuery: string;
} {
  const query = url.indexOf('?');
  return {
    method,
    url,
    rawQuery: query === -1 ? '' : url.slice(query + 1),
  };
}

function notServedYet(expected: ReadonlySet<string>): Problem {
  const names = [...expected].filter((name) => name !== '').join(', ');
  const which = names === '' ? 'plugins' : `the plugins ${names}`;
  return problem(
    'unavailable',
    `this path is not served yet; it may be served after ${which} have been loaded`,
    repeatedSoon,
  );
}

function refuseCondition(req: IncomingMessage): Answer | undefined {
  const malformed = checkConditionSyntax(req);
  return malformed === undefined ? undefined : refusal(problem('bad-request', malformed));
}
