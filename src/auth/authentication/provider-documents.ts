import { isTrustedUrl } from '../../access/identity-provider.ts';
import type { Clock } from '../../base/clock.ts';
import { isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { oidcDocumentBytesMax, oidcFetchMs, oidcKeysMs, oidcRetryMs } from '../../limits/access.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { shortJson } from '../../resource/schema/schema-violations.ts';

/** Thrown while the identity provider does not respond, or responds with an unusable document. */
export class ProviderUnavailableError extends Error {}

export type ProviderDependencies = {
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /**
   * Called if the identity provider is unreachable or its response is invalid. The problem is reported to the operator,
   * never to the caller.
   */
  readonly onProblem: (problem: string) => void;
};

/**
 * Creates a `fetch` for requests to the identity provider. It follows no redirect and reads the whole body, at most
 * `oidcDocumentBytesMax` bytes, so that the response is complete when the promise resolves. Rejects if the caller's
 * signal aborts.
 */
export function boundedFetch(base: typeof fetch): (url: string, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await base(url, { ...init, redirect: 'error' });
    const { status, headers } = response;
    if (response.body === null) return new Response(null, { status, headers });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const body: AsyncIterable<Uint8Array> = response.body;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > oidcDocumentBytesMax)
        throw new Error(`${url} responded with more than ${String(oidcDocumentBytesMax)} bytes`);
      chunks.push(chunk);
    }
    return new Response(Buffer.concat(chunks), { status, headers });
  };
}

/**
 * Runs a task with requests to the identity provider. The signal aborts after `oidcFetchMs`, which limits all requests
 * of the task together. Throws a `ProviderUnavailableError` with a text that describes the failure.
 */
export async function withinProviderTime<T>(clock: Clock, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const timer = clock.after(oidcFetchMs, () => {
    stop.abort();
  });
  try {
    return await task(stop.signal);
  } catch (error) {
    const why = stop.signal.aborted ? `no response within ${String(oidcFetchMs / 1_000)} s` : reasonOf(error);
    throw new ProviderUnavailableError(why, { cause: error });
  } finally {
    timer.cancel();
  }
}

/** Returns a text that describes the failure. `fetch` stores the actual failure in the `cause` of its error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Reads a JSON object from the identity provider. Throws an error that names the URL and the problem. */
export async function readDocument(
  base: typeof fetch,
  url: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await boundedFetch(base)(url, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`${url} responded with the status ${String(response.status)}`);
  const decoded = decodeJson(Buffer.from(await response.arrayBuffer()), { depthMax: jsonDepthMax });
  if (!decoded.ok || !isObject(decoded.value)) throw new Error(`${url} did not respond with a JSON object`);
  return decoded.value;
}

/**
 * Reads the discovery document of an issuer. The issuer in the document must equal the configured issuer (OpenID
 * Connect Discovery 1.0, 4.3).
 */
export async function discover(
  base: typeof fetch,
  issuer: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const url = `${issuer.replace(/\/$/u, '')}/.well-known/openid-configuration`;
  const document = await readDocument(base, url, signal);
  const named = document['issuer'];
  if (named !== issuer)
    throw new Error(
      `the discovery document names the issuer ${shortJson(named, 200)}, but OIDC_ISSUER is ${JSON.stringify(issuer)}`,
    );
  return document;
}

/** Returns the URL in a member of the discovery document. Throws if the URL is missing or not trusted. */
export function urlIn(document: Readonly<Record<string, unknown>>, member: string): string {
  const url = document[member];
  if (typeof url !== 'string' || !isTrustedUrl(url))
    throw new Error(`the ${member} of the discovery document must be an https URL without credentials or fragment`);
  return url;
}

export type ProviderValueOptions<T> = ProviderDependencies & {
  /** The noun for the value in the report of a failure, such as `the keys`. */
  readonly noun: string;
  readonly read: (signal: AbortSignal) => Promise<T>;
};

/**
 * A cached value of the identity provider, for example its keys. The value is fetched on first use, and on the first
 * use after its expiry. All callers share a fetch in progress. After a failed fetch, no fetch begins for `oidcRetryMs`,
 * so that clients cannot cause any number of requests.
 */
export class ProviderValue<T> {
  readonly #options: ProviderValueOptions<T>;
  #known: { readonly value: T; readonly fetchedAt: number } | undefined;
  /** The monotonic time of the last failed fetch. */
  #failedAt = -Infinity;
  #pending: Promise<T> | undefined;

  constructor(options: ProviderValueOptions<T>) {
    this.#options = options;
  }

  /** Returns the value, at most `oidcKeysMs` old. Throws a `ProviderUnavailableError`. */
  async get(): Promise<T> {
    const known = this.#known;
    return known === undefined || this.ageMs() >= oidcKeysMs ? this.refresh() : known.value;
  }

  /** The milliseconds since the last successful fetch; Infinity before the first one. */
  ageMs(): number {
    return this.#known === undefined ? Infinity : this.#options.clock.monotonic() - this.#known.fetchedAt;
  }

  /** Fetches the value, unless a fetch has just failed. */
  async refresh(): Promise<T> {
    if (this.#options.clock.monotonic() - this.#failedAt < oidcRetryMs)
      throw new ProviderUnavailableError('the identity provider is not reachable');
    this.#pending ??= this.#fetch().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #fetch(): Promise<T> {
    const { clock, onProblem, noun, read } = this.#options;
    try {
      const value = await withinProviderTime(clock, read);
      this.#known = { value, fetchedAt: clock.monotonic() };
      return value;
    } catch (error) {
      this.#failedAt = clock.monotonic();
      onProblem(`cannot fetch ${noun} of the identity provider: ${error instanceof Error ? error.message : ''}`);
      throw error;
    }
  }
}
