import { hash } from 'node:crypto';

import { sha256, type Hash } from './merkle.ts';

/** An event as all event logs return it. A string stands for its UTF-8 bytes. */
export type LeafEvent = {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly metadata: Uint8Array | string;
  /** The data, or the hash of data that is secret or erased. */
  readonly data: Uint8Array | string | HashedData;
};

/** SHA-256 in hexadecimal digits. */
export type HashedData = { readonly sha256: string };

/**
 * Returns whether the events of this stream are leaves of the tree. Three kinds of streams have no leaves, because
 * their events do not last or differ in a copy of the log: leases are truncated, encryption keys are erased, and each
 * copy has its own founding.
 */
export function isLeafStream(stream: string): boolean {
  return !stream.startsWith('lease:') && !stream.startsWith('key:') && stream !== 'platform:log';
}

/**
 * Returns the JSON `[1,stream,revision,id,type,sha256(metadata),sha256(data)]`, with the hashes in hexadecimal digits.
 * A leaf does not contain the position of its event.
 */
export function leafEntry(event: LeafEvent): Buffer {
  return Buffer.from(entryText(event));
}

/** Returns `leafHash(leafEntry(event))` without copying the entry. */
export function leafOf(event: LeafEvent): Hash {
  return sha256(`\0${entryText(event)}`);
}

export function hexHash(bytes: Uint8Array | string): string {
  return hash('sha256', bytes, 'hex');
}

function entryText({ stream, revision, id, type, metadata, data }: LeafEvent): string {
  const dataHash = typeof data === 'object' && 'sha256' in data ? data.sha256 : hexHash(data);
  return JSON.stringify([1, stream, revision, id, type, hexHash(metadata), dataHash]);
}
