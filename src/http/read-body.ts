import type { IncomingMessage } from 'node:http';

import { decodeJson, type Json } from '../base/json.ts';
import { jsonDepthMax, requestBodyBytesMax } from '../limits/requests.ts';
import { headerOf } from './exchange.ts';
import { problem, type Problem } from './problem.ts';

export type Body<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem }
  /** The client went away in the middle of it: there is nobody to answer. */
  | { readonly ok: false; readonly problem: undefined };

/** What a refused body may still send before its connection is cut: most clients read an answer only once they are done. */
const drainedBytesMax = 64 * requestBodyBytesMax;

/** The body's media type when it is one of `accepted`; without a Content-Type it is JSON (decision 2). */
export function mediaTypeOf(req: IncomingMessage, accepted: readonly string[]): { readonly ok: true; readonly type: string } | { readonly ok: false; readonly problem: Problem } {
  const encoding = headerOf(req, 'content-encoding');
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return unsupported(`a body must come without Content-Encoding, this one has ${JSON.stringify(encoding)}`);
  }
  const header = headerOf(req, 'content-type');
  if (header === undefined) return { ok: true, type: 'application/json' };
  // What tools send as it stands, so that nothing needs to be parsed.
  if (accepted.includes(header)) return { ok: true, type: header };
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const foreign = parameters.find((parameter) => parameter.startsWith('charset=') && !/^charset="?(?:utf-?8|us-ascii)"?$/u.test(parameter));
  if (foreign !== undefined) return unsupported(`a body must be UTF-8, this one has ${foreign}`);
  return accepted.includes(type) ? { ok: true, type } : unsupported(`the body must be ${accepted.join(' or ')}, is ${JSON.stringify(type)}`);
}

/** The whole body, at most `requestBodyBytesMax`. */
export async function readBody(req: IncomingMessage): Promise<Body<Uint8Array>> {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > requestBodyBytesMax) {
    // Node reads what nobody asked for to its end, so that the connection can go on.
    return tooLarge(declared > drainedBytesMax ? ['Connection', 'close'] : []);
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (body: Body<Uint8Array>): void => {
      req.off('close', goneAway);
      resolve(body);
    };
    const goneAway = (): void => { settle({ ok: false, problem: undefined }); };
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= requestBodyBytesMax) chunks.push(chunk);
      else if (bytes > drainedBytesMax) req.destroy();
      else settle(tooLarge([]));
    });
    req.once('end', () => {
      const [only] = chunks;
      settle({ ok: true, value: chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks) });
    });
    req.once('close', goneAway);
    req.on('error', goneAway);
  });
}

/** The whole body as JSON. */
export async function readJson(req: IncomingMessage): Promise<Body<Json>> {
  const body = await readBody(req);
  return body.ok ? decodeBody(body.value) : body;
}

export function decodeBody(bytes: Uint8Array): Body<Json> {
  const decoded = decodeJson(bytes, { depthMax: jsonDepthMax });
  return decoded.ok ? decoded : { ok: false, problem: problem('bad-request', `the body is not acceptable JSON: ${decoded.problem.detail}`) };
}

function tooLarge(headers: readonly string[]): Body<never> {
  return { ok: false, problem: problem('body-too-large', `a body must be at most ${String(requestBodyBytesMax)} bytes`, { headers }) };
}

function unsupported(detail: string): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem: problem('unsupported-media-type', detail) };
}
