import type { Clock } from '../base/clock.ts';
import { decodeJson } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import { jsonDepthMax } from '../limits/requests.ts';
import { commandAnswerMs } from '../limits/settings.ts';
import { listOf, textOf } from './answer-member.ts';
import { CommandFailure, commandError, ConnectionFailure, RefusalFailure } from './failure.ts';
import { begin, bounded, exchange, type Answered } from './http-exchange.ts';
import { linesOf } from './audit/lines-of.ts';
import type { Identity } from './identity.ts';
import { printable } from './text-table.ts';

export type ServerClientOptions = {
  readonly url: URL;
  readonly identity: Identity;
  readonly clock: Clock;
  /**
   * The authority that must have issued the server's certificate, as PEM; if undefined, any authority that Node trusts.
   */
  readonly ca?: string | undefined;
};
export type Call = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Whether the server may compress the response to a call of `lines` with gzip. */
  readonly isCompressed?: boolean;
  /** The media type of the response; JSON by default. Calls of `lines` ignore it. */
  readonly accept?: string;
  /** Aborts a call of `lines`. Other calls ignore the signal. */
  readonly signal?: AbortSignal;
  /** A file to upload in the form field `file`, instead of a body. */
  readonly file?: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> };
};

/**
 * Sends single requests to a running server (decision 11.2). A refusal is thrown as an error with a readable message.
 */
export class ServerClient {
  readonly #url: URL;
  readonly #identity: Identity;
  readonly #clock: Clock;
  readonly #ca: string | undefined;

  constructor({ url, identity, clock, ca }: ServerClientOptions) {
    this.#ca = ca;
    this.#url = url;
    this.#identity = identity;
    this.#clock = clock;
  }

  /** Sends a request and returns the object in the response. @throws RefusalFailure with the reason of the refusal. */
  async send(call: Call): Promise<Json> {
    const { status, bytes } = await this.#exchange(call);
    return this.#answered(status, bytes);
  }

  /** Sends a request and returns the object in the response; undefined for a 404. */
  async find(call: Call): Promise<Json | undefined> {
    const { status, bytes } = await this.#exchange(call);
    return status === 404 ? undefined : this.#answered(status, bytes);
  }

  /** Sends a request and returns the text of the response. @throws RefusalFailure with the reason of the refusal. */
  async text(call: Call): Promise<string> {
    const { status, bytes } = await this.#exchange(call);
    if (status !== 200) this.#answered(status, bytes);
    return Buffer.from(bytes).toString();
  }

  #answered(status: number, bytes: Uint8Array): Json {
    const decoded = bytes.length === 0 ? undefined : decodeJson(bytes, { depthMax: jsonDepthMax });
    const body = decoded?.ok === true ? decoded.value : undefined;
    if (status < 200 || status > 299) throw this.#refusal(status, body);
    if (body !== undefined) return body;
    if (bytes.length === 0) return {};
    throw commandError(
      `the response of ${this.#url.origin} (${String(status)}) is not JSON: is this a Ledgerplane server?`,
    );
  }

  /**
   * Sends JSON, and yields the lines of the response as they arrive. @throws RefusalFailure with the reason of the
   * refusal, and ConnectionFailure if the connection ends before the end of the response.
   */
  async *lines({ method, path, query = {}, body, isCompressed, signal }: Call): AsyncGenerator<Uint8Array> {
    const gone = new AbortController();
    const coding = isCompressed === true ? { 'accept-encoding': 'gzip' } : {};
    const headers = { ...headersOf(this.#identity, method, body !== undefined), ...coding };
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    try {
      const ends = signal === undefined ? gone.signal : AbortSignal.any([gone.signal, signal]);
      const sent = { method, headers, body: bytes, ca: this.#ca, signal: ends };
      const answer = await begin(this.#target(path, query), sent).catch((error: unknown) => {
        throw this.#unreachable(error);
      });
      if (answer.status < 200 || answer.status > 299) this.#answered(answer.status, await bounded(answer.body));
      yield* linesOf(answer.body);
    } catch (error) {
      if (error instanceof CommandFailure) throw error;
      throw new ConnectionFailure(`the connection to ${this.#url.origin} was lost: ${reasonOf(error)}`);
    } finally {
      gone.abort();
    }
  }

  #target(path: readonly string[], query: Readonly<Record<string, string>>): URL {
    const target = new URL(
      [this.#url.pathname.replace(/\/$/u, ''), ...path.map(encodeURIComponent)].join('/'),
      this.#url,
    );
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
    return target;
  }

  async #exchange({ method, path, query = {}, body, file, accept }: Call): Promise<Answered> {
    const target = this.#target(path, query);
    const giveUp = new AbortController();
    const timer = this.#clock.after(commandAnswerMs, () => {
      giveUp.abort();
    });
    try {
      const sent = await bodyOf(body, file);
      const wanted = accept === undefined ? {} : { accept };
      const headers = { ...headersOf(this.#identity, method, body !== undefined), ...sent.headers, ...wanted };
      return await exchange(target, {
        method,
        headers,
        body: sent.bytes,
        ca: this.#ca,
        signal: giveUp.signal,
      });
    } catch (error) {
      if (!giveUp.signal.aborted) throw this.#unreachable(error);
      const seconds = String(commandAnswerMs / 1_000);
      throw new ConnectionFailure(`${this.#url.origin} did not respond within ${seconds} s`);
    } finally {
      timer.cancel();
    }
  }

  #unreachable(error: unknown): ConnectionFailure {
    return new ConnectionFailure(`cannot reach ${this.#url.origin}: ${reasonOf(error)}`);
  }

  #refusal(status: number, body: Json | undefined): RefusalFailure {
    const words = textOf(body, 'message') ?? textOf(body, 'detail') ?? 'the server returned no reason';
    const reason = textOf(body, 'reason');
    const lines = [
      `${printable(words)} (${[String(status), ...(reason === undefined ? [] : [printable(reason)])].join(' ')})`,
    ];
    for (const violation of listOf(body, 'errors')) {
      const detail = textOf(violation, 'detail');
      if (detail !== undefined && !words.includes(detail))
        lines.push(`${printable(textOf(violation, 'pointer') ?? '')}: ${printable(detail)}`);
    }
    if (status === 401 && this.#identity.kind === 'user' && this.#identity.passwordFile !== undefined) {
      lines.push(
        `the password in ${this.#identity.passwordFile} is no longer the password of ${this.#identity.name}: ` +
          `set LEDGERPLANE_TOKEN, or use --user`,
      );
    }
    return new RefusalFailure(lines.join('\n'), status);
  }
}

function headersOf(identity: Identity, method: string, hasBody: boolean): Readonly<Record<string, string>> {
  const authorization =
    identity.kind === 'token'
      ? `Bearer ${identity.token}`
      : `Basic ${Buffer.from(`${identity.name}:${identity.password}`).toString('base64')}`;
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return {
    authorization,
    accept: 'application/json',
    'user-agent': 'ledgerplane',
    ...(hasBody ? { 'content-type': contentType } : {}),
  };
}

type Body = {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array | undefined;
};

async function bodyOf(body: unknown, file: Call['file']): Promise<Body> {
  if (file === undefined)
    return { headers: {}, bytes: body === undefined ? undefined : Buffer.from(JSON.stringify(body)) };
  const form = new FormData();
  form.set('file', new Blob([file.bytes]), file.name);
  // `Response` creates the Content-Type with the multipart boundary.
  const encoded = new Response(form);
  return {
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    bytes: Buffer.from(await encoded.arrayBuffer()),
  };
}

/**
 * Returns a text that describes a failed request, with the system's error. The text never contains the request, because
 * a request contains credentials.
 */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED')
    return (
      'connection refused (ECONNREFUSED): is the server running? ' +
      'Set LEDGERPLANE_SERVER if it listens at another address'
    );
  if (code === 'EPROTO')
    return 'the server does not use TLS at this address: use an http:// address, or set TLS to the value of the server';
  if (typeof code === 'string' && unverified.has(code))
    return (
      `the server's certificate was issued by an unknown authority (${code}): ` +
      `set LEDGERPLANE_CA to the authority's PEM file`
    );
  return error instanceof Error && error.message !== '' ? printable(error.message) : 'the connection failed';
}

const unverified: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);
