import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { commandAnswerBytesMax } from '../limits/settings.ts';

export type Sent = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /**
   * The authorities that may have issued the server's certificate, as PEM; if undefined, the authorities that Node
   * trusts.
   */
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
};

export type Answered = {
  readonly status: number;
  readonly bytes: Uint8Array;
};

/**
 * Sends one request on a new connection and reads the whole response, within a size limit. Redirects are not followed,
 * because the credentials are for this server only. Rejects with the system's error, or with an error for a response
 * that is too long.
 */
export async function exchange(target: URL, sent: Sent): Promise<Answered> {
  const { status, body } = await begin(target, sent);
  return { status, bytes: await bounded(body) };
}

type StreamedResponse = {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
};

/** Sends one request, and returns the status and the body as soon as the response begins. */
export async function begin(target: URL, { method, headers, body, ca, signal }: Sent): Promise<StreamedResponse> {
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  const options: RequestOptions = { method, agent: false, signal, headers: { ...headers, ...length } };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request =
      target.protocol === 'https:' ? requestTls(target, { ...options, ca }) : requestPlain(target, options);
    request.once('response', resolve).on('error', reject).end(body);
  });
  return { status: response.statusCode ?? 0, body: plainBody(response) };
}

/** Decompresses a compressed body. A server compresses a response only if the request allows compression. */
function plainBody(response: IncomingMessage): AsyncIterable<Uint8Array> {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  const gunzip = createGunzip();
  // The pipeline passes an error of the response to the reader of `gunzip`.
  pipeline(response, gunzip, () => undefined);
  return gunzip;
}

export async function bounded(response: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    if (length > commandAnswerBytesMax)
      throw new Error(`the response is longer than ${String(commandAnswerBytesMax)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
