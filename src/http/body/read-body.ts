import type { IncomingMessage } from 'node:http';

import { decodeJson, type Json } from '../../base/json.ts';
import { bodyTurnBytesMin, jsonDepthMax, requestBodyBytesMax } from '../../limits/requests.ts';
import { parsedValueBytes } from '../../limits/writes.ts';
import { BodyBuffer } from './body-buffer.ts';
import { headerOf, type Exchange } from '../exchange.ts';
import { jsonType } from './media-types.ts';
import { problem, type ProblemResult } from '../problem.ts';

export type Body<T> =
  | { readonly ok: true; readonly value: T }
  | ProblemResult
  /** The client disconnected while it sent the body. */
  | { readonly ok: false; readonly problem: undefined };

/**
 * The maximum length of a refused body that is read and dropped. Most clients read the response only after they have
 * sent the whole body.
 */
const drainedBytesMax = 64 * requestBodyBytesMax;

/**
 * Returns the media type of the body; JSON without a Content-Type. Refuses a type that `accepted` does not contain, a
 * Content-Encoding, and a charset other than UTF-8 and ASCII.
 */
export function mediaTypeOf(
  req: IncomingMessage,
  accepted: readonly string[],
): { readonly ok: true; readonly type: string } | ProblemResult {
  const encoding = headerOf(req, 'content-encoding');
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return unsupported(`the body must not have a Content-Encoding, but has ${JSON.stringify(encoding)}`);
  }
  const header = headerOf(req, 'content-type');
  if (header === undefined) return { ok: true, type: jsonType };
  if (accepted.includes(header)) return { ok: true, type: header };
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const foreign = parameters.find(
    (parameter) => parameter.startsWith('charset=') && !/^charset="?(?:utf-?8|us-ascii)"?$/u.test(parameter),
  );
  if (foreign !== undefined) return unsupported(`the body must be UTF-8, but its Content-Type has ${foreign}`);
  return accepted.includes(type)
    ? { ok: true, type }
    : unsupported(`the body must be ${accepted.join(' or ')}, is ${JSON.stringify(type)}`);
}

export type Reading = Pick<Exchange, 'req' | 'res' | 'subject' | 'sender' | 'memory' | 'serving'>;

/** Reads the whole body. Refuses a body of more than `bytesMax` bytes, and a body for which no memory is free. */
export async function readBody(reading: Reading, bytesMax = requestBodyBytesMax): Promise<Body<Uint8Array>> {
  const { req, memory } = reading;
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > bytesMax) {
    // Node reads a refused body to its end, so that the connection can be reused. A body of more than `drainedBytesMax`
    // closes the connection.
    return tooLarge(bytesMax, declared > drainedBytesMax ? ['Connection', 'close'] : []);
  }
  return new Promise((resolve) => {
    let buffer: BodyBuffer | undefined = new BodyBuffer(declared > 0 ? declared : bytesMax);
    let bytes = 0;
    const settle = (body: Body<Uint8Array>): void => {
      buffer = undefined;
      req.off('close', goneAway);
      resolve(body);
    };
    const goneAway = (): void => {
      settle({ ok: false, problem: undefined });
    };
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > drainedBytesMax) req.destroy();
      if (buffer === undefined) return;
      if (bytes > bytesMax) settle(tooLarge(bytesMax, []));
      else if (memory.hold(reading, buffer.growthFor(chunk))) buffer.add(chunk);
      else settle(noRoom);
    });
    req.once('end', () => {
      settle({ ok: true, value: buffer?.bytes() ?? empty });
    });
    req.once('close', goneAway);
    req.on('error', goneAway);
  });
}

const empty = Buffer.alloc(0);

export const noRoom: Body<never> = {
  ok: false,
  problem: problem('too-many-requests', 'the memory for request bodies is used up: try again later', {
    retryAfterSeconds: 1,
  }),
};

export async function readJson(reading: Reading): Promise<Body<Json>> {
  const body = await readBody(reading);
  // Waits for a turn, because many large bodies may be complete or refused at the same time.
  if (body.ok ? body.value.length >= bodyTurnBytesMin : body.problem !== undefined) {
    const turn = reading.memory.turn();
    if (turn !== undefined) await turn;
    if (reading.res.closed) return { ok: false, problem: undefined };
  }
  return body.ok ? decodeBody(body.value, reading) : body;
}

/** Decodes JSON, and reserves memory for the value. One byte of JSON may take tens of bytes of memory. */
export function decodeBody(bytes: Uint8Array, reading: Reading): Body<Json> {
  const decoded = decodeJson(bytes, { depthMax: jsonDepthMax });
  if (!decoded.ok) return notValid(decoded.problem.detail);
  return holdingValues(decoded.value, decoded.values, reading);
}

/**
 * Reserves memory for a decoded value until the request is answered. Returns a refusal if too little memory is free.
 */
export function holdingValues(value: Json, values: number, reading: Reading): Body<Json> {
  return reading.memory.hold(reading, parsedValueBytes * values) ? { ok: true, value } : noRoom;
}

export function notValid(detail: string): Body<never> {
  return { ok: false, problem: problem('bad-request', `the body is not valid: ${detail}`) };
}

function tooLarge(bytesMax: number, headers: readonly string[]): Body<never> {
  return {
    ok: false,
    problem: problem('body-too-large', `a body must be at most ${String(bytesMax)} bytes`, { headers }),
  };
}

function unsupported(detail: string): ProblemResult {
  return { ok: false, problem: problem('unsupported-media-type', detail) };
}
