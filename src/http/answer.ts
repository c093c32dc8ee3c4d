import type { SnapshotSlot } from '../read/snapshot-slots.ts';
import type { Problem } from './problem.ts';

/** The response to a request. A response other than a stream is complete before its first byte is written. */
export type Answer =
  | {
      readonly kind: 'bytes';
      readonly status: number;
      readonly bytes: Uint8Array;
      readonly headers: readonly string[];
      readonly contentType?: string;
    }
  /** A stream. Status and headers are sent before the first chunk, so a later failure can only close the connection. */
  | {
      readonly kind: 'stream';
      readonly chunks: AsyncIterable<Uint8Array>;
      /** 200 by default. */
      readonly status?: number;
      /** Alternating names and values. */
      readonly headers?: readonly string[];
      readonly contentType?: string;
      readonly holdMsMax?: number;
      readonly slot?: SnapshotSlot;
    }
  | { readonly kind: 'empty'; readonly status: 204 | 304; readonly headers: readonly string[] }
  /**
   * A response with its own headers, for example of a plugin. These headers replace the default headers, except for
   * `X-Content-Type-Options`, `X-Request-Id` and `Content-Length`.
   */
  | {
      readonly kind: 'custom';
      readonly status: number;
      readonly bytes: Uint8Array | undefined;
      readonly headers: ReadonlyMap<string, string>;
    }
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** No response is written: other code has taken over the connection, or the client has disconnected. */
  | { readonly kind: 'taken-over' };

export const takenOver: Answer = { kind: 'taken-over' };
const noHeaders: readonly string[] = [];

/** Returns a response with encoded JSON. */
export function bytesAnswer(bytes: Uint8Array, status = 200, headers: readonly string[] = noHeaders): Answer {
  return { kind: 'bytes', status, bytes, headers };
}

export function jsonAnswer(value: unknown, status = 200, headers: readonly string[] = noHeaders): Answer {
  return {
    kind: 'bytes',
    status,
    bytes: Buffer.from(JSON.stringify(value)),
    headers,
  };
}

export function textAnswer(text: string, status = 200, contentType = 'text/plain; charset=utf-8'): Answer {
  return {
    kind: 'bytes',
    status,
    bytes: Buffer.from(text),
    headers: noHeaders,
    contentType,
  };
}

/** Adds headers: alternating names and values. Responses of the kinds `custom` and `taken-over` are unchanged. */
export function withHeaders(answer: Answer, headers: readonly string[]): Answer {
  switch (answer.kind) {
    case 'bytes':
    case 'empty':
      return { ...answer, headers: [...answer.headers, ...headers] };
    case 'stream':
      return { ...answer, headers: [...(answer.headers ?? []), ...headers] };
    case 'problem':
      return { ...answer, problem: { ...answer.problem, headers: [...(answer.problem.headers ?? []), ...headers] } };
    case 'custom':
    case 'taken-over':
      return answer;
  }
}

export function refusal(problem: Problem): Answer {
  return { kind: 'problem', problem };
}
