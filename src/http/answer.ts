import type { Place } from '../read/snapshot-places.ts';
import type { Problem } from './problem.ts';

/** What a request is answered with. Nothing is written before the whole of it is known, but for streams. */
export type Answer =
  | { readonly kind: 'bytes'; readonly status: number; readonly bytes: Uint8Array; readonly headers: readonly string[]; readonly contentType?: string }
  /** Status and head are sent before the first chunk; a failure afterwards can only cut the connection. */
  | { readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array>; readonly holdMsMax?: number; readonly place?: Place }
  | { readonly kind: 'empty'; readonly status: 204 | 304; readonly headers: readonly string[] }
  /** A plugin's: its headers replace the platform's where they have the same name. */
  | { readonly kind: 'custom'; readonly status: number; readonly bytes: Uint8Array | undefined; readonly headers: ReadonlyMap<string, string> }
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** Somebody else has the connection now, or nobody is left to answer. */
  | { readonly kind: 'taken' };

export const taken: Answer = { kind: 'taken' };
const noHeaders: readonly string[] = [];

/** JSON as stored. */
export function bytesAnswer(bytes: Uint8Array, status = 200, headers: readonly string[] = noHeaders): Answer {
  return { kind: 'bytes', status, bytes, headers };
}

export function jsonAnswer(value: unknown, status = 200, headers: readonly string[] = noHeaders): Answer {
  return { kind: 'bytes', status, bytes: Buffer.from(JSON.stringify(value)), headers };
}

export function textAnswer(text: string, status = 200, contentType = 'text/plain; charset=utf-8'): Answer {
  return { kind: 'bytes', status, bytes: Buffer.from(text), headers: noHeaders, contentType };
}

export function refusal(problem: Problem): Answer {
  return { kind: 'problem', problem };
}
