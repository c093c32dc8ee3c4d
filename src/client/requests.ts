import type { Clock } from '../base/clock.ts';
import type { ClientError, TypeName } from '../plugin/api/plugin.ts';
import { connectionError } from './connection-error.ts';
import { decodeRefusal, isUnwritten } from './decode-answer.ts';
import { Repeats, type Repeatable, type RepeatSettings } from './repeats.ts';
import { cancelBody, untilAborted } from './until-aborted.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Credentials = {
  /** A personal access token, or a token of an identity provider. A function is called for each request. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /**
   * The session of a page in a browser, which sends the session cookie. `csrfToken` is in the response to the log-in.
   */
  readonly session?: { readonly csrfToken?: string } | undefined;
};

export type Sent = {
  readonly method?: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Replaces `application/json`, for another form of the response. */
  readonly accept?: string | undefined;
  /** Replaces the content type of the body: a merge patch for the method PATCH, otherwise JSON. */
  readonly contentType?: string | undefined;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The values of query parameters; a list becomes repeated parameters. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

type RequestPorts = RepeatSettings & {
  readonly fetch: Fetch;
  readonly clock: Clock;
};

/** A response with its text. */
type Answered = {
  readonly response: Response;
  readonly text: string;
};

const json = 'application/json';

/** Requests to one server, with one identity. */
export class Requests {
  readonly clock: Clock;
  readonly #base: string;
  readonly #origin: string;
  readonly #credentials: Credentials;
  readonly #fetch: Fetch;
  readonly #repeat: RepeatSettings;

  constructor(url: string | URL, credentials: Credentials, ports: RequestPorts) {
    const { origin, pathname } = serverUrl(url);
    if (credentials.token !== undefined && credentials.session !== undefined)
      throw new TypeError('connect accepts either a token or a session, not both');
    this.#origin = origin;
    this.#base = origin + pathname.replace(/\/+$/u, '');
    this.#credentials = credentials;
    this.#fetch = ports.fetch;
    this.#repeat = ports;
    this.clock = ports.clock;
  }

  /** Resolves with the text of a response of status 2xx. Otherwise like `answered`, and rejects with a refusal. */
  async call(path: string, sent: Sent = {}, repeatable?: Repeatable): Promise<string> {
    const { response, text } = await this.answered(path, sent, repeatable);
    if (response.ok) return text;
    throw this.refusal(response, text);
  }

  /** Returns the response to a call. If the server refuses the call for a short time, sends the request again. */
  async answered(path: string, sent: Sent, repeatable: Repeatable = repeatableOf(sent)): Promise<Answered> {
    const repeats = new Repeats(this.clock, this.#repeat);
    for (;;) {
      const response = await this.answer(path, sent);
      const text = await this.text(response, sent.signal);
      if (response.ok || ![429, 503].includes(response.status)) return { response, text };
      const refused = { error: this.refusal(response, text), isUnwritten: isUnwritten(text) };
      if (!(await repeats.wait(refused, repeatable, sent.signal))) return { response, text };
    }
  }

  /**
   * Sends a request once. Resolves with a response of status 2xx; rejects with a `ClientError`, a `ConnectionError`, or
   * the signal's reason.
   */
  async send(path: string, sent: Sent = {}): Promise<Response> {
    const response = await this.answer(path, sent);
    if (response.ok) return response;
    throw this.refusal(response, await this.text(response, sent.signal));
  }

  /** Returns a response of any status. Rejects redirects, because the credentials are for the named server only. */
  async answer(path: string, sent: Sent): Promise<Response> {
    const { method = 'GET', query = {}, body, signal } = sent;
    const headers = await this.#headers(method, sent);
    const init: RequestInit = {
      method,
      headers,
      redirect: 'error',
      credentials: this.#credentials.session === undefined ? 'omit' : 'same-origin',
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
    const arriving = this.#fetch(this.#base + path + queryOf(query), init);
    if (signal !== undefined) dropWhenAborted(arriving, signal);
    return this.#reached(arriving, signal);
  }

  async text(response: Response, signal?: AbortSignal): Promise<string> {
    return this.#reached(response.text(), signal);
  }

  refusal({ status, headers }: Response, text: string): ClientError {
    return decodeRefusal(text, {
      status,
      retryAfter: headers.get('retry-after'),
      now: this.clock.now(),
    });
  }

  cut(cause: unknown): Error {
    return connectionError(this.#origin, cause);
  }

  async #reached<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await untilAborted(work, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw this.cut(error);
    }
  }

  async #headers(
    method: string,
    { accept = json, body, contentType, ifMatch, ifNoneMatch }: Sent,
  ): Promise<Record<string, string>> {
    const { token, session } = this.#credentials;
    const headers: Record<string, string> = { accept };
    // `fetch` sets the type of a form, because the type contains the boundary between the parts.
    if (body !== undefined && !(body instanceof FormData))
      headers['content-type'] = contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : json);
    setConditions(headers, { ifMatch, ifNoneMatch });
    if (token !== undefined)
      headers['authorization'] = `Bearer ${checked(typeof token === 'string' ? token : await token())}`;
    if (session?.csrfToken !== undefined && method !== 'GET') headers['x-csrf-token'] = session.csrfToken;
    return headers;
  }
}

function repeatableOf({ method = 'GET' }: Sent): Repeatable {
  return method === 'GET' || method === 'HEAD' ? 'always' : 'unwritten';
}

function setConditions(
  headers: Record<string, string>,
  { ifMatch, ifNoneMatch }: Pick<Sent, 'ifMatch' | 'ifNoneMatch'>,
): void {
  if (ifMatch !== undefined) headers['if-match'] = ifMatch;
  if (ifNoneMatch !== undefined) headers['if-none-match'] = ifNoneMatch;
}

/** Closes a response that arrives after the abort, because the response is not read. */
function dropWhenAborted(arriving: Promise<Response>, signal: AbortSignal): void {
  const drop = ({ body }: Response): void => {
    if (signal.aborted) cancelBody(body);
  };
  arriving.then(drop, () => undefined);
}

export function pathOf({ group, version, plural }: TypeName, name?: string): string {
  const root = group === '' ? ['api'] : ['apis', group];
  const parts = [...root, version, plural, ...(name === undefined ? [] : [name])];
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

function queryOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) parameters.append(name, String(each));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** Checks the URL. No error message contains the URL, because the URL may contain a secret. */
function serverUrl(url: string | URL): URL {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/u.test(parsed.protocol))
    throw new TypeError('the url of the server must be an absolute http: or https: URL');
  if (parsed.username !== '' || parsed.password !== '')
    throw new TypeError('the url of the server must not contain a user or a password: use a token');
  return parsed;
}

/** Checks the token. The error that `fetch` throws for an invalid header would contain the token. */
function checked(token: string): string {
  if (!/^[\x21-\x7e]+$/u.test(token)) throw new TypeError('the token contains characters other than visible ASCII');
  return token;
}
