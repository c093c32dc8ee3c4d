import { hasBit, type Bits } from './index-bits.ts';
import { ordinalMask, type OrderedSequence } from './ordered-sequence.ts';

/** A part of an order, and which of its postings count: hits are those with `mark` whose ordinal is in `bits`. */
export type Walk = {
  readonly sequence: OrderedSequence;
  /** Ranks: from `low` up to `high`. */
  readonly low: number;
  readonly high: number;
  /** 0: every posting. */
  readonly mark: number;
  /** undefined: every object. */
  readonly bits: Bits | undefined;
  /** Hits in all. */
  readonly total: number;
};

export type Slice = { readonly skip: number; readonly take: number };

export function isHit(posting: number, mark: number, bits: Bits | undefined): boolean {
  return (posting & mark) === mark && (bits === undefined || hasBit(bits, posting & ordinalMask));
}

/** Hits before `rank`, counted from the nearer end. */
export function hitsBefore(walk: Walk, rank: number): number {
  const at = Math.min(Math.max(rank, walk.low), walk.high);
  return at - walk.low <= walk.high - at ? hitsIn(walk, walk.low, at) : walk.total - hitsIn(walk, at, walk.high);
}

export function hitsIn({ sequence, mark, bits }: Walk, low: number, high: number): number {
  if (low >= high) return 0;
  if (mark === 0 && bits === undefined) return high - low;
  let count = 0;
  sequence.spans(low, high, ({ ordinals }, from, to) => {
    for (let offset = from; offset < to; offset++) {
      if (isHit(ordinals[offset] ?? 0, mark, bits)) count += 1;
    }
    return true;
  });
  return count;
}

/** The rank of the hit that has `before` hits before it. */
export function rankOfHit(walk: Walk, before: number): number {
  if (walk.mark === 0 && walk.bits === undefined) return walk.low + before;
  return before <= walk.total / 2 ? rankForward(walk, before) : rankBackward(walk, walk.total - 1 - before);
}

function rankForward({ sequence, low, high, mark, bits }: Walk, before: number): number {
  let rest = before;
  let rank = low;
  sequence.spans(low, high, ({ ordinals }, from, to) => {
    for (let offset = from; offset < to; offset++) {
      if (isHit(ordinals[offset] ?? 0, mark, bits) && rest-- === 0) {
        rank += offset - from;
        return false;
      }
    }
    rank += to - from;
    return true;
  });
  return rank;
}

function rankBackward({ sequence, low, high, mark, bits }: Walk, after: number): number {
  let rest = after;
  let rank = high;
  sequence.spansBackward(low, high, ({ ordinals }, from, to) => {
    for (let offset = to - 1; offset >= from; offset--) {
      if (isHit(ordinals[offset] ?? 0, mark, bits) && rest-- === 0) {
        rank -= to - offset;
        return false;
      }
    }
    rank -= to - from;
    return true;
  });
  return rank;
}

/** The ordinals of the hits from `rank` on, at most `take`. */
export function ordinalsFrom({ sequence, high, mark, bits }: Walk, rank: number, take: number): number[] {
  const found: number[] = [];
  if (take <= 0) return found;
  sequence.spans(rank, high, ({ ordinals }, from, to) => {
    for (let offset = from; offset < to; offset++) {
      const posting = ordinals[offset] ?? 0;
      if (isHit(posting, mark, bits) && found.push(posting & ordinalMask) === take) return false;
    }
    return true;
  });
  return found;
}
