import { leafHash, sha256, type Hash } from './merkle.ts';

/** An event as the log's port has it, in either log: EventStoreDB's adapter has removed its `$append` member. */
export type LeafEvent = {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly metadata: Uint8Array;
  readonly data: Uint8Array;
};

/** The same with the data's SHA-256 in hexadecimal digits for the data, which nobody may see or which is gone. */
export type HashedLeafEvent = Omit<LeafEvent, 'data'> & { readonly dataHash: string };

/**
 * Whether an event of this stream is a leaf of the tree. Leases are cut and end with their nodes, keys are erased, and
 * each copy of a log has a founding of its own.
 */
export function isLeafStream(stream: string): boolean {
  return !stream.startsWith('lease:') && !stream.startsWith('key:') && stream !== 'platform:log';
}

/** JSON `[1,stream,revision,id,type,sha256(metadata),sha256(data)]`, the hashes in hexadecimal; without a position. */
export function leafEntry(event: LeafEvent | HashedLeafEvent): Buffer {
  const { stream, revision, id, type, metadata } = event;
  const dataHash = 'dataHash' in event ? event.dataHash : hexHash(event.data);
  return Buffer.from(JSON.stringify([1, stream, revision, id, type, hexHash(metadata), dataHash]));
}

export function leafOf(event: LeafEvent | HashedLeafEvent): Hash {
  return leafHash(leafEntry(event));
}

export function hexHash(bytes: Uint8Array): string {
  return sha256(bytes).toString('hex');
}
