import { createHash } from 'node:crypto';

/** Merkle trees and their proofs, word by word as RFC 9162 (section 2.1) defines them: slow, and without an index. */

export function naiveRoot(entries: readonly Uint8Array[]): Buffer {
  const [first, ...others] = entries;
  if (first === undefined) return digest();
  if (others.length === 0) return digest(Uint8Array.of(0), first);
  const split = splitOf(entries.length);
  return digest(Uint8Array.of(1), naiveRoot(entries.slice(0, split)), naiveRoot(entries.slice(split)));
}

/** PATH(m, D_n). */
export function naivePath(index: number, entries: readonly Uint8Array[]): readonly Buffer[] {
  if (entries.length === 1) return [];
  const split = splitOf(entries.length);
  const [left, right] = [entries.slice(0, split), entries.slice(split)];
  return index < split
    ? [...naivePath(index, left), naiveRoot(right)]
    : [...naivePath(index - split, right), naiveRoot(left)];
}

/** PROOF(m, D_n), for m > 0. */
export function naiveConsistency(size: number, entries: readonly Uint8Array[]): readonly Buffer[] {
  return subproof(size, entries, true);
}

function subproof(size: number, entries: readonly Uint8Array[], isWhole: boolean): readonly Buffer[] {
  if (size === entries.length) return isWhole ? [] : [naiveRoot(entries)];
  const split = splitOf(entries.length);
  const [left, right] = [entries.slice(0, split), entries.slice(split)];
  return size <= split
    ? [...subproof(size, left, isWhole), naiveRoot(right)]
    : [...subproof(size - split, right, false), naiveRoot(left)];
}

function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

function digest(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
