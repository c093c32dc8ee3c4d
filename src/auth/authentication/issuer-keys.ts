import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';

import { isObject } from '../../base/guards.ts';
import { isTrustedUrl, type OidcSettings } from '../../access/identity-provider.ts';
import { decodeJson } from '../../base/json.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { oidcDocumentBytesMax, oidcFetchMs, oidcKeysMs, oidcRetryMs, oidcUnknownKeyMs } from '../../limits/access.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { shortJson } from '../../resource/schema/schema-violations.ts';

export type OidcDependencies = {
  readonly settings: OidcSettings;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /**
   * Called if the identity provider is unreachable or its response is invalid. The problem is reported to the operator,
   * never to the caller.
   */
  readonly onProblem: (problem: string) => void;
};

/** Thrown while the keys are not available, so that a token can be neither accepted nor refused. */
export class KeysUnavailableError extends Error {}

type KeySet = {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly fetchedAt: number;
};

/**
 * The identity provider's public keys. The keys are fetched on first use, and when they are used after they have
 * expired. They are also fetched for a token that names an unknown key, since the provider may have rotated its keys.
 * Such fetches have a limited rate, so that clients cannot cause any number of requests.
 */
export class IssuerKeys {
  readonly #dependencies: OidcDependencies;
  #keys: KeySet | undefined;
  /** The monotonic time of the last failed fetch. */
  #failedAt = -Infinity;
  /** The fetch in progress, which all callers share. */
  #asking: Promise<KeySet> | undefined;

  constructor(dependencies: OidcDependencies) {
    this.#dependencies = dependencies;
  }

  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const { clock } = this.#dependencies;
    const known = this.#keys;
    if (known === undefined || clock.monotonic() - known.fetchedAt >= oidcKeysMs)
      return (await this.#fetch()).find(header, token);
    try {
      return await known.find(header, token);
    } catch (error) {
      const mayFetch =
        error instanceof errors.JWKSNoMatchingKey && clock.monotonic() - known.fetchedAt >= oidcUnknownKeyMs;
      if (!mayFetch) throw error;
    }
    return (await this.#fetch()).find(header, token);
  }

  async #fetch(): Promise<KeySet> {
    const { clock } = this.#dependencies;
    if (clock.monotonic() - this.#failedAt < oidcRetryMs)
      throw new KeysUnavailableError('the identity provider is not reachable');
    this.#asking ??= this.#fetchKeys().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #fetchKeys(): Promise<KeySet> {
    const { settings, clock, onProblem } = this.#dependencies;
    const stop = new AbortController();
    const timer: Timer = clock.after(oidcFetchMs, () => {
      stop.abort();
    });
    try {
      const keys = await this.#document(settings.jwksUrl ?? (await this.#discover(stop.signal)), stop.signal);
      this.#keys = { find: createLocalJWKSet(keySetOf(keys)), fetchedAt: clock.monotonic() };
      return this.#keys;
    } catch (error) {
      this.#failedAt = clock.monotonic();
      const why = stop.signal.aborted ? `no response within ${String(oidcFetchMs / 1_000)} s` : reasonOf(error);
      onProblem(`cannot fetch the keys of the identity provider: ${why}`);
      throw new KeysUnavailableError(why, { cause: error });
    } finally {
      timer.cancel();
    }
  }

  /**
   * Returns the URL of the keys from the discovery document. The issuer in the document must equal the configured
   * issuer (OpenID Connect Discovery 1.0, 4).
   */
  async #discover(signal: AbortSignal): Promise<string> {
    const { issuer } = this.#dependencies.settings;
    const document = await this.#document(`${issuer.replace(/\/$/u, '')}/.well-known/openid-configuration`, signal);
    const named = document['issuer'];
    if (named !== issuer)
      throw new Error(
        `the discovery document names the issuer ${shortJson(named, 200)}, but OIDC_ISSUER is ` +
          JSON.stringify(issuer),
      );
    const { jwks_uri: url } = document;
    if (typeof url !== 'string' || !isTrustedUrl(url))
      throw new Error('the jwks_uri of the discovery document must be an https URL without credentials or fragment');
    return url;
  }

  async #document(url: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const response = await this.#dependencies.fetch(url, {
      signal,
      redirect: 'error',
      headers: { accept: 'application/json' },
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new Error(`${url} responded with the status ${String(response.status)}`);
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const body: AsyncIterable<Uint8Array> = response.body;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > oidcDocumentBytesMax)
        throw new Error(`${url} responded with more than ${String(oidcDocumentBytesMax)} bytes`);
      chunks.push(chunk);
    }
    const decoded = decodeJson(Buffer.concat(chunks), { depthMax: jsonDepthMax });
    if (!decoded.ok || !isObject(decoded.value)) throw new Error(`${url} did not respond with a JSON object`);
    return decoded.value;
  }
}

function keySetOf(document: Readonly<Record<string, unknown>>): JSONWebKeySet {
  if (!isKeySet(document)) throw new Error('the keys are not a JSON Web Key Set');
  return document;
}

function isKeySet(document: object): document is JSONWebKeySet {
  return (
    'keys' in document &&
    Array.isArray(document.keys) &&
    document.keys.every((key: unknown) => isObject(key) && typeof key['kty'] === 'string')
  );
}

/** Returns a text that describes the failure. `fetch` stores the actual failure in the `cause` of its error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
