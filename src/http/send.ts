import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Clock } from '../base/clock.ts';
import { streamPieceBytesMax } from '../limits/lists.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';
import type { SnapshotSlot } from '../read/snapshot-slots.ts';
import { locationOf } from '../resource/query/request-path.ts';
import type { Answer } from './answer.ts';
import { jsonType } from './body/media-types.ts';
import type { Problem } from './problem.ts';
import { problemAnswer } from './problem-body.ts';

/** The dependencies of every response. */
export type Edge = {
  readonly domain: string;
  readonly clock: Clock;
  readonly log: PluginLogger;
};

export type Recipient = {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
};

/**
 * Headers that prevent browsers from guessing the type of a response, executing or framing the response, and reusing
 * the response without revalidation.
 */
const safe = [
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control',
  'no-cache, private',
] as const;

/**
 * Headers of a response without an entity tag. The form of objects and of errors may depend on `Accept`. The value of
 * the last header, the request id, must follow.
 */
const common = [...safe, 'Vary', 'Accept', 'X-Request-Id'] as const;

/**
 * Headers of a response with an entity tag. `Vary` is omitted, because the entity tag identifies the form of the
 * object. Each header costs three microseconds.
 */
const revalidated = [...safe, 'X-Request-Id'] as const;

/** Sends a response. Passes all headers to one `writeHead`, because setting the headers one by one is slow. */
export async function send(to: Recipient, answer: Answer, edge: Edge): Promise<void> {
  const { res, requestId } = to;
  switch (answer.kind) {
    case 'taken-over':
      return;
    case 'bytes':
      begin(res, answer.status, [
        'Content-Type',
        answer.contentType ?? jsonType,
        'Content-Length',
        String(answer.bytes.length),
        ...commonOf(answer.headers),
        requestId,
        ...answer.headers,
      ]);
      end(res, answer.bytes);
      return;
    case 'empty':
      res.writeHead(answer.status, [...commonOf(answer.headers), requestId, ...answer.headers]);
      res.end();
      return;
    case 'custom':
      begin(res, answer.status, customHeaders(answer, requestId));
      res.end(answer.bytes);
      return;
    case 'problem':
      sendProblem(to, answer.problem, edge);
      return;
    case 'stream':
      begin(res, answer.status ?? 200, [
        'Content-Type',
        answer.contentType ?? jsonType,
        ...common,
        requestId,
        ...(answer.headers ?? []),
      ]);
      await sendStream(to, answer, edge);
  }
}

/** `headers` contains alternating names and values. */
function commonOf(headers: readonly string[]): readonly string[] {
  return headers.includes('ETag') ? revalidated : common;
}

/**
 * Writes the head of a response with a body. Sends the head of a queued response alone, because Node would otherwise
 * put the head before a queued `100 Continue`.
 */
function begin(res: ServerResponse, status: number, headers: string[]): void {
  res.writeHead(status, headers);
  if (res.socket === null && res.writableLength > 0) res.flushHeaders();
}

/**
 * The largest body that is copied behind the head. A larger body is written separately, because the copy would cost
 * more.
 */
const joinedBodyBytesMax = 16_384;

/**
 * Ends a response. Node joins head and body into one write only if the body is text. So a small body is passed as
 * Latin-1 text, which preserves every byte.
 */
function end(res: ServerResponse, bytes: Uint8Array): void {
  if (bytes.length > joinedBodyBytesMax) res.end(bytes);
  else res.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'), 'latin1');
}

/** Sends a problem. If a response has begun, closes the connection instead. */
export function sendProblem({ req, res, requestId }: Recipient, problem: Problem, { domain, clock, log }: Edge): void {
  if (res.destroyed) return;
  if (res.headersSent) {
    log.warn('closed a response that failed after it had begun', { requestId, reason: problem.reason });
    res.destroy();
    return;
  }
  const path = pathOf(req);
  const { status, headers, bytes } = problemAnswer(problem, {
    domain,
    path,
    requestId,
    accept: req.headers.accept,
    time: new Date(clock.now()).toISOString(),
    resource: resourceOf(path),
  });
  begin(res, status, [...headers, 'Content-Length', String(bytes.length), ...common, requestId]);
  res.end(bytes);
}

function customHeaders({ headers, bytes }: Extract<Answer, { kind: 'custom' }>, requestId: string): string[] {
  const all = new Map([
    ['cache-control', 'no-cache, private'],
    ...headers,
    ['x-content-type-options', 'nosniff'],
    ['x-request-id', requestId],
  ]);
  if (bytes !== undefined) all.set('content-length', String(bytes.length));
  return [...all].flat();
}

/** Returns the path as the client sent it, for display. */
function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

function resourceOf(path: string): ReturnType<typeof locationOf> {
  return locationOf(path.split('/').filter((segment) => segment !== ''));
}

/**
 * Returns the head of a plugin's server-sent events. X-Accel-Buffering disables the buffers of proxies, which would
 * delay events.
 */
export function eventStreamHead(headers: ReadonlyMap<string, string>, requestId: string): string[] {
  const all = new Map([
    ['cache-control', 'no-store'],
    ['x-accel-buffering', 'no'],
    ...headers,
    ['content-type', 'text/event-stream'],
    ['x-content-type-options', 'nosniff'],
    ['x-request-id', requestId],
  ]);
  return [...all].flat();
}

async function sendStream(
  { req, res, requestId }: Recipient,
  { chunks, holdMsMax, slot }: Extract<Answer, { kind: 'stream' }>,
  { clock, log }: Edge,
): Promise<void> {
  const timer =
    holdMsMax === undefined
      ? undefined
      : clock.after(holdMsMax, () => {
          log.warn('closed a streamed response: the client took too long to read it', { requestId, holdMsMax });
          res.destroy();
        });
  try {
    // Requests the first chunk even if it is not sent. Otherwise `return` would not run the `finally` blocks of the
    // iteration.
    for await (const chunk of chunks) {
      if (res.destroyed || req.method === 'HEAD') break;
      await sendChunk(
        res,
        chunk,
        slot === undefined
          ? undefined
          : {
              slot,
              cutOff: () => {
                cutOff(res, { requestId, log });
              },
            },
      );
    }
    res.end();
  } finally {
    timer?.cancel();
  }
}

/** Sends a chunk in parts. A peer that has read a part makes progress, and keeps its slot. */
async function sendChunk(
  res: ServerResponse,
  chunk: Uint8Array,
  held: { readonly slot: SnapshotSlot; readonly cutOff: () => void } | undefined,
): Promise<void> {
  for (let start = 0; start < chunk.length; start += streamPieceBytesMax) {
    if (res.write(chunk.subarray(start, start + streamPieceBytesMax))) continue;
    held?.slot.waits(held.cutOff);
    await drained(res);
    held?.slot.took();
    if (res.destroyed) return;
  }
}

function cutOff(res: ServerResponse, { requestId, log }: Pick<Recipient, 'requestId'> & Pick<Edge, 'log'>): void {
  log.warn('closed a streamed response: the client stopped reading while other requests waited for its slot', {
    requestId,
  });
  res.destroy();
}

/** Resolves when the connection accepts more data, or when the client has disconnected. */
async function drained(res: ServerResponse): Promise<void> {
  if (res.destroyed) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      res.off('drain', finish);
      res.off('close', finish);
      resolve();
    };
    res.once('drain', finish);
    res.once('close', finish);
  });
}
