import type { Steps } from '../../src/base/steps.ts';
import { hasBit, type Bits } from './index-bits.ts';
import { ordinalMask, type OrderView, type Span } from './order-view.ts';

/** A part of an order, with a filter. A hit is a posting with all bits of `mark` and an ordinal in `bits`. */
export type Walk = {
  readonly sequence: OrderView;
  /** The range of ranks: `low` is inclusive, `high` is exclusive. */
  readonly low: number;
  readonly high: number;
  /** The mark that a hit must have; 0 if a hit needs no mark. */
  readonly mark: number;
  /** The ordinals of hits; undefined if a hit may have any ordinal. */
  readonly bits: Bits | undefined;
};

export type CountedWalk = Walk & { readonly total: number };

export type Slice = {
  readonly skip: number;
  readonly take: number;
};

/** The number of spans in one step. A span has at most `chunkPostingsMax` postings. */
const spansPerStep = 8;

/** Calls `visit` with each span until `visit` returns false. */
export function* inSpans(spans: Iterable<Span>, visit: (span: Span) => unknown): Steps<undefined> {
  let visited = 0;
  for (const span of spans) {
    if (visit(span) === false) return;
    visited += 1;
    if (visited % spansPerStep === 0) yield;
  }
}

export function isHit(posting: number, { mark, bits }: Walk): boolean {
  return (posting & mark) === mark && (bits === undefined || hasBit(bits, posting & ordinalMask));
}

/** Returns the number of hits before `rank`. Counts from the nearer end of the walk. */
export function* hitsBefore(walk: CountedWalk, rank: number): Steps<number> {
  const at = Math.min(Math.max(rank, walk.low), walk.high);
  if (at - walk.low <= walk.high - at) return yield* hitsIn(walk, walk.low, at);
  return walk.total - (yield* hitsIn(walk, at, walk.high));
}

export function* hitsIn(walk: Walk, low: number, high: number): Steps<number> {
  if (isWhole(walk)) return Math.max(0, high - low);
  let count = 0;
  yield* inSpans(walk.sequence.spans(low, high), (span) => {
    count += hitsInSpan(walk, span);
  });
  return count;
}

function isWhole({ mark, bits }: Walk): boolean {
  return mark === 0 && bits === undefined;
}

/** Counts the hits in a span. For speed in this hot loop, the code handles only numbers and does not branch on bits. */
function hitsInSpan({ mark, bits }: Walk, { chunk: { ordinals }, from, to }: Span): number {
  let count = 0;
  for (let offset = from; offset < to; offset++) {
    const posting = ordinals[offset] ?? 0;
    if ((posting & mark) !== mark) continue;
    const ordinal = posting & ordinalMask;
    count += bits === undefined ? 1 : ((bits[ordinal >>> 5] ?? 0) >>> (ordinal & 31)) & 1;
  }
  return count;
}

/** Returns the rank of the hit that has exactly `before` hits before it. Searches from the nearer end of the walk. */
export function* rankOfHit(walk: CountedWalk, before: number): Steps<number> {
  return before <= walk.total / 2
    ? yield* rankForward(walk, before)
    : yield* rankBackward(walk, walk.total - 1 - before);
}

/**
 * Returns the rank of the hit that has exactly `before` hits before it. Searches from the low end. Returns `high` if
 * the hit does not exist.
 */
export function* rankForward(walk: Walk, before: number): Steps<number> {
  if (isWhole(walk)) return Math.min(walk.high, walk.low + before);
  let rest = before;
  let rank = walk.low;
  yield* inSpans(walk.sequence.spans(walk.low, walk.high), (span) => {
    const { chunk, from, to } = span;
    const hits = hitsInSpan(walk, span);
    if (hits <= rest) {
      rest -= hits;
      rank += to - from;
      return true;
    }
    for (let offset = from; offset < to; offset++) {
      if (isHit(chunk.ordinals[offset] ?? 0, walk) && rest-- === 0) break;
      rank += 1;
    }
    return false;
  });
  return rank;
}

/** Returns the rank of the hit that has exactly `after` hits after it. Searches from the high end. */
function* rankBackward(walk: Walk, after: number): Steps<number> {
  if (isWhole(walk)) return walk.high - 1 - after;
  let rest = after;
  let rank = walk.high - 1;
  yield* inSpans(walk.sequence.spansBackward(walk.low, walk.high), (span) => {
    const { chunk, from, to } = span;
    const hits = hitsInSpan(walk, span);
    if (hits <= rest) {
      rest -= hits;
      rank -= to - from;
      return true;
    }
    for (let offset = to - 1; offset >= from; offset--) {
      if (isHit(chunk.ordinals[offset] ?? 0, walk) && rest-- === 0) break;
      rank -= 1;
    }
    return false;
  });
  return rank;
}

/** The ordinals of at most `take` hits, beginning at `rank`. */
export function* ordinalsFrom(walk: Walk, rank: number, take: number): Steps<number[]> {
  const found: number[] = [];
  if (take <= 0) return found;
  yield* inSpans(walk.sequence.spans(rank, walk.high), ({ chunk, from, to }) => {
    const end = Math.min(to, isWhole(walk) ? from + take - found.length : to);
    return collect(walk, { chunk, from, to: end }, found) < take;
  });
  if (found.length > take) found.length = take;
  return found;
}

/** Adds the hits of a span to `found` and returns the new length of `found`. */
function collect({ mark, bits }: Walk, { chunk: { ordinals }, from, to }: Span, found: number[]): number {
  for (let offset = from; offset < to; offset++) {
    const posting = ordinals[offset] ?? 0;
    if ((posting & mark) === mark && (bits === undefined || hasBit(bits, posting & ordinalMask)))
      found.push(posting & ordinalMask);
  }
  return found.length;
}
