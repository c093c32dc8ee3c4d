import type { Clock } from '../base/clock.ts';
import { decodeJson } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import { jsonDepthMax } from '../limits/requests.ts';
import { commandAnswerBytesMax, commandAnswerMs } from '../limits/settings.ts';
import { listOf, textOf } from './answer-member.ts';
import { commandError } from './failure.ts';
import type { CommandFailure } from './failure.ts';
import type { Identity } from './identity.ts';
import { printable } from './text-table.ts';

export type ServerClientOptions = { readonly url: URL; readonly identity: Identity; readonly clock: Clock };
export type Call = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** In place of a body: a file to upload in the form field `file`. */
  readonly file?: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> };
};
type Answered = { readonly status: number; readonly bytes: Uint8Array };

/** Sends one request at a time to a running server (decision 11.2), and throws refusals as readable messages. */
export class ServerClient {
  readonly #url: URL;
  readonly #identity: Identity;
  readonly #clock: Clock;

  constructor({ url, identity, clock }: ServerClientOptions) {
    this.#url = url;
    this.#identity = identity;
    this.#clock = clock;
  }

  /** Returns the object of the response; throws a refusal with its reason. */
  async send(call: Call): Promise<Json> {
    const { status, bytes } = await this.#exchange(call);
    return this.#answered(status, bytes);
  }

  /** The same; undefined for a 404. */
  async find(call: Call): Promise<Json | undefined> {
    const { status, bytes } = await this.#exchange(call);
    return status === 404 ? undefined : this.#answered(status, bytes);
  }

  #answered(status: number, bytes: Uint8Array): Json {
    const decoded = bytes.length === 0 ? undefined : decodeJson(bytes, { depthMax: jsonDepthMax });
    const body = decoded?.ok === true ? decoded.value : undefined;
    if (status < 200 || status > 299) throw this.#refusal(status, body);
    if (body !== undefined) return body;
    if (bytes.length === 0) return {};
    throw commandError(
      `${this.#url.origin} answered ${String(status)} with something that is not JSON: is it a Ledgerplane server?`,
    );
  }

  async #exchange({ method, path, query = {}, body, file }: Call): Promise<Answered> {
    const target = new URL(
      [this.#url.pathname.replace(/\/$/u, ''), ...path.map(encodeURIComponent)].join('/'),
      this.#url,
    );
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
    const giveUp = new AbortController();
    const timer = this.#clock.after(commandAnswerMs, () => {
      giveUp.abort();
    });
    try {
      // Redirects are not followed: the credentials are for the named server only.
      const response = await fetch(target, {
        method,
        redirect: 'manual',
        signal: giveUp.signal,
        headers: headersOf(this.#identity, method, body !== undefined),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(file === undefined ? {} : { body: formOf(file) }),
      });
      return { status: response.status, bytes: await bounded(response) };
    } catch (error) {
      throw commandError(
        giveUp.signal.aborted
          ? `${this.#url.origin} did not answer within ${String(commandAnswerMs / 1_000)} s`
          : `cannot reach ${this.#url.origin}: ${reasonOf(error)}`,
      );
    } finally {
      timer.cancel();
    }
  }

  #refusal(status: number, body: Json | undefined): CommandFailure {
    const words = textOf(body, 'message') ?? textOf(body, 'detail') ?? 'no reason was given';
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
        `the password in ${this.#identity.passwordFile} is no longer the password of ${this.#identity.name}: set LEDGERPLANE_TOKEN, or use --user`,
      );
    }
    return commandError(lines.join('\n'));
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

/** `fetch` writes the Content-Type itself, with the multipart boundary. */
function formOf({ name, bytes }: NonNullable<Call['file']>): FormData {
  const form = new FormData();
  form.set('file', new Blob([bytes]), name);
  return form;
}

async function bounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > commandAnswerBytesMax)
      throw new Error(`its answer is longer than ${String(commandAnswerBytesMax)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The system's error; never the request, which contains credentials. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED')
    return 'connection refused (ECONNREFUSED): is the server running? Set LEDGERPLANE_SERVER if it listens at another address';
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error && cause.message !== '' ? printable(cause.message) : 'the connection failed';
}
