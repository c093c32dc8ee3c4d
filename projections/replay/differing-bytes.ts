import { createHash } from 'node:crypto';

/** The bytes of one entry in the live table and in the replayed table. */
export type Sides = {
  readonly live: Buffer | undefined;
  readonly replayed: Buffer | undefined;
};

/** Describes the difference if only one side has the entry; undefined if both sides have the entry. */
export function differenceOfPresence({ live, replayed }: Sides): string | undefined {
  if (live === undefined) return 'the entry follows from the log, but is missing in the live read model';
  return replayed === undefined ? 'the entry is in the live read model, but does not follow from the log' : undefined;
}

/**
 * Describes the difference by the first different offset and the hashes of both byte sequences; undefined for equal
 * bytes.
 */
export function differenceOfBytes(live: Buffer, replayed: Buffer): string | undefined {
  return live.equals(replayed) ? undefined : `${placeOf(live, replayed)}; ${hashesOf(live, replayed)}`;
}

export function placeOf(live: Buffer, replayed: Buffer): string {
  return `the contents first differ at byte ${String(firstDifferentByte(live, replayed))}`;
}

export function firstDifferentByte(live: Buffer, replayed: Buffer): number {
  let at = 0;
  while (at < live.length && live[at] === replayed[at]) at += 1;
  return at;
}

export function hashesOf(live: Buffer, replayed: Buffer): string {
  return `SHA-256 ${hashOf(live)} live, ${hashOf(replayed)} replayed`;
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
