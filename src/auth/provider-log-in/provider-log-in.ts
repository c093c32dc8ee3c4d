import * as oauth from 'oauth4webapi';

import type { OidcClient } from '../../access/identity-provider.ts';
import { SlidingCounts } from '../../base/sliding-counts.ts';
import { isObject } from '../../base/guards.ts';
import {
  logInFailuresCountedMax,
  logInFailuresInAllMax,
  logInFailureWindowMs,
  oidcExchangesMax,
  oidcLeewayMs,
} from '../../limits/access.ts';
import { unauthorized, type NotAuthenticated } from '../authentication/authenticated.ts';
import type { OidcDependencies } from '../authentication/issuer-keys.ts';
import { oidcAlgorithms, type OidcVerified, type OidcVerifier } from '../authentication/oidc.ts';
import {
  boundedFetch,
  discover,
  ProviderUnavailableError,
  ProviderValue,
  urlIn,
  withinProviderTime,
} from '../authentication/provider-documents.ts';
import type { LogInFlow } from './log-in-flow.ts';

export type ProviderLogInDependencies = OidcDependencies & {
  readonly client: OidcClient;
  /** Verifies ID tokens like bearer tokens: the signature and the claims. */
  readonly verifier: Pick<OidcVerifier, 'verifyFor'>;
};

/** The redirect of a browser from the identity provider. */
export type ProviderRedirect = {
  readonly parameters: URLSearchParams;
  readonly flow: LogInFlow;
  /** The same URI as in the request that began the flow. */
  readonly redirectUri: string;
  /** The network of the client, for the limit of failed log-ins. */
  readonly network: string;
};

const unavailable: NotAuthenticated = {
  ok: false,
  reason: 'unavailable',
  detail: 'the identity provider is not reachable, or its answer is not valid: try again later',
  retryAfterSeconds: 5,
};
const misconfigured: NotAuthenticated = {
  ...unavailable,
  detail: 'the identity provider does not accept this server as its client: the log of the server has the reason',
};
const invalidToken = unauthorized('the answer of the identity provider is not valid for this log-in');

/**
 * Log-ins in a browser by the OpenID Connect authorization code flow with PKCE (OpenID Connect Core 1.0, 3.1; RFC 7636;
 * RFC 9700). The flow is in a cookie of the browser, so each node can finish a flow that another node has begun.
 */
export class ProviderLogIn {
  readonly #dependencies: ProviderLogInDependencies;
  readonly #client: oauth.Client;
  readonly #server: ProviderValue<oauth.AuthorizationServer>;
  /** The failed and pending log-ins by network. */
  readonly #attempts = new SlidingCounts({
    windowMs: logInFailureWindowMs,
    keysMax: logInFailuresCountedMax,
    eventsMax: logInFailuresInAllMax,
  });
  #exchanges = 0;

  constructor(dependencies: ProviderLogInDependencies) {
    const { settings, fetch, client } = dependencies;
    this.#dependencies = dependencies;
    this.#client = { client_id: client.id, [oauth.clockTolerance]: oidcLeewayMs / 1_000 };
    this.#server = new ProviderValue({
      ...dependencies,
      noun: 'the endpoints',
      read: async (signal) => serverOf(settings.issuer, await discover(fetch, settings.issuer, signal)),
    });
  }

  get issuer(): string {
    return this.#dependencies.settings.issuer;
  }

  /** Begins a flow. Returns the flow, and the URL of the provider's log-in page. */
  async begin(
    redirectUri: string,
    returnPath: string,
  ): Promise<{ readonly ok: true; readonly url: string; readonly flow: LogInFlow } | NotAuthenticated> {
    const { clock } = this.#dependencies;
    let server: oauth.AuthorizationServer;
    try {
      server = await this.#server.get();
    } catch (error) {
      return failureOf(error);
    }
    const flow: LogInFlow = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      startedAt: clock.now(),
      returnPath,
    };
    const url = new URL(server.authorization_endpoint ?? '');
    const parameters = {
      client_id: this.#client.client_id,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { ok: true, url: url.href, flow };
  }

  /** Finishes a flow: redeems the code and verifies the ID token. Returns the user of the provider. */
  async finish(redirect: ProviderRedirect): Promise<OidcVerified> {
    const now = this.#dependencies.clock.monotonic();
    const waitMs = this.#attempts.waitMs(redirect.network, logInFailuresInAllMax, now);
    if (waitMs > 0) return tooMany(Math.ceil(waitMs / 1_000));
    if (this.#exchanges >= oidcExchangesMax) return tooMany(1);
    this.#attempts.add(redirect.network, now);
    this.#exchanges += 1;
    try {
      const verified = await this.#redeem(redirect);
      if (verified.ok) this.#attempts.takeBack(redirect.network, now);
      return verified;
    } catch (error) {
      return failureOf(error);
    } finally {
      this.#exchanges -= 1;
    }
  }

  async #redeem({ parameters, flow, redirectUri }: ProviderRedirect): Promise<OidcVerified> {
    const { clock, fetch, client, onProblem, verifier } = this.#dependencies;
    const server = await this.#server.get();
    const given = oauth.validateAuthResponse(server, this.#client, parameters, flow.state);
    if (parameters.getAll('code').length !== 1) return invalidToken;
    const authentication = authenticationOf(client, server);
    const response = await withinProviderTime(clock, async (signal) =>
      oauth.authorizationCodeGrantRequest(server, this.#client, authentication, given, redirectUri, flow.verifier, {
        [oauth.customFetch]: boundedFetch(fetch),
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- `urlIn` allows http on a loopback address only
        [oauth.allowInsecureRequests]: true,
        signal,
      }),
    ).catch((error: unknown) => {
      onProblem(`cannot redeem a code at the identity provider: ${error instanceof Error ? error.message : ''}`);
      throw error;
    });
    const problem = await clientProblem(response);
    if (problem !== undefined) {
      onProblem(`cannot redeem a code at the identity provider: ${problem}`);
      return misconfigured;
    }
    const tokens = await oauth.processAuthorizationCodeResponse(server, this.#client, response, {
      expectedNonce: flow.nonce,
      requireIdToken: true,
    });
    const verified = await verifier.verifyFor(client.id, tokens.id_token ?? '');
    return verified.ok || verified.reason !== 'unauthorized' ? verified : this.#withoutUser();
  }

  #withoutUser(): NotAuthenticated {
    const claim = JSON.stringify(this.#dependencies.settings.usernameClaim);
    return unauthorized(`the ID token of the identity provider is not valid, or its claim ${claim} names no user`);
  }
}

function serverOf(issuer: string, document: Readonly<Record<string, unknown>>): oauth.AuthorizationServer {
  const methods = document['token_endpoint_auth_methods_supported'];
  return {
    issuer,
    authorization_endpoint: urlIn(document, 'authorization_endpoint'),
    token_endpoint: urlIn(document, 'token_endpoint'),
    authorization_response_iss_parameter_supported: document['authorization_response_iss_parameter_supported'] === true,
    token_endpoint_auth_methods_supported: Array.isArray(methods)
      ? methods.filter((method) => typeof method === 'string')
      : ['client_secret_basic'],
    // The verifier accepts the same algorithms.
    id_token_signing_alg_values_supported: [...oidcAlgorithms],
  };
}

function authenticationOf({ secret }: OidcClient, server: oauth.AuthorizationServer): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  const { token_endpoint_auth_methods_supported: methods = [] } = server;
  return methods.includes('client_secret_post') && !methods.includes('client_secret_basic')
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret);
}

/**
 * Returns the problem of a token response if the provider refuses this server, for example its client secret. Returns
 * undefined for any other response, and for a refused code: the error `invalid_grant` (RFC 6749, 5.2).
 */
async function clientProblem(response: Response): Promise<string | undefined> {
  if (response.ok || response.status >= 500) return undefined;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const error = isObject(body) ? body['error'] : undefined;
  if (error === 'invalid_grant') return undefined;
  return `the token endpoint responded with the status ${String(response.status)} and the error ${errorCode(error)}`;
}

/** Returns an error code of OAuth; `unknown` for any other text, which may come from an attacker. */
function errorCode(value: unknown): string {
  return typeof value === 'string' && /^[a-z_]{1,64}$/u.test(value) ? value : 'unknown';
}

function tooMany(retryAfterSeconds: number): NotAuthenticated {
  return { ok: false, reason: 'too-many-requests', detail: 'too many log-ins: try again later', retryAfterSeconds };
}

/** The library's errors for an unusable response of the provider, for which the user is not responsible. */
const brokenResponses: ReadonlySet<string> = new Set([
  oauth.RESPONSE_IS_NOT_CONFORM,
  oauth.RESPONSE_IS_NOT_JSON,
  oauth.PARSE_ERROR,
]);

function failureOf(error: unknown): NotAuthenticated {
  if (error instanceof ProviderUnavailableError) return unavailable;
  if (error instanceof oauth.AuthorizationResponseError)
    return unauthorized(`the identity provider did not log the user in: ${errorCode(error.error)}`);
  if (error instanceof oauth.ResponseBodyError)
    return unauthorized('the identity provider refused the code: the code has expired or was already used');
  if (error instanceof oauth.OperationProcessingError)
    return error.code !== undefined && brokenResponses.has(error.code) ? unavailable : invalidToken;
  if (error instanceof oauth.UnsupportedOperationError) return invalidToken;
  throw error;
}
