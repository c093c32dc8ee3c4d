import { logPosition, logStart, type LogPosition } from '../../log/log.ts';
import { earlyTime, momentProblem, type MomentProblem } from '../../read/moment-problem.ts';
import type { Moment } from '../../read/replay.ts';
import type { TreeReader } from '../../read/tree.ts';
import type { LogTimes } from '../../read/versions.ts';

/** A place in the log: a moment, or the index of a leaf. */
export type ExportPlace = Moment | { readonly kind: 'leaf'; readonly index: number };

/** The index of the first leaf, and the index after the last leaf. */
export type LeafRange = {
  readonly from: number;
  readonly until: number;
};

/** The start of a range: before a place (`from`) or after a place (`after`). */
export type RangeStart = {
  readonly kind: 'from' | 'after';
  readonly place: ExportPlace;
};

export type RequestedRange = {
  /** Undefined means the beginning of the log. */
  readonly start: RangeStart | undefined;
  /** The inclusive end of the range; undefined means the last leaf that this node has folded. */
  readonly until: ExportPlace | undefined;
};

export type RangeDependencies = {
  readonly tree: Pick<TreeReader, 'size' | 'leavesUntil'>;
  /** The last folded position. */
  readonly position: () => LogPosition;
  readonly epoch: () => number;
  readonly nowMs: () => number;
  readonly times: LogTimes;
};

export type ResolvedRange = { readonly ok: true; readonly range: LeafRange } | ({ readonly ok: false } & MomentProblem);

type Leaves = { readonly ok: true; readonly leaves: number } | Extract<ResolvedRange, { ok: false }>;

/**
 * Returns the range of leaves between two places, or the problem of a place. A requested leaf or position must be one
 * that this node has folded, and a requested time must not be in the future. The range may begin before the first
 * event, but cannot end before the first event.
 */
export function leafRange({ start, until }: RequestedRange, dependencies: RangeDependencies): ResolvedRange {
  const size = dependencies.tree.size();
  const first = start === undefined ? { ok: true as const, leaves: 0 } : leavesBefore(start, dependencies);
  if (!first.ok) return first;
  const last = until === undefined ? { ok: true as const, leaves: size } : leavesUpTo(until, dependencies);
  if (!last.ok) return last;
  const range = { from: first.leaves, until: last.leaves };
  return range.from > range.until
    ? { ok: false, reason: 'bad-request', detail: `${start?.kind ?? 'from'} is later than until` }
    : { ok: true, range };
}

/** Returns the number of leaves before a range. */
function leavesBefore({ kind, place }: RangeStart, dependencies: RangeDependencies): Leaves {
  const problem = isStart(kind, place) ? undefined : placeProblem(place, dependencies);
  if (problem !== undefined) return { ok: false, ...problem };
  const { tree, position, times } = dependencies;
  const before = kind === 'from' ? 1 : 0;
  switch (place.kind) {
    case 'leaf':
      return { ok: true, leaves: place.index + 1 - before };
    case 'position':
      return { ok: true, leaves: tree.leavesUntil(logPosition(place.position - BigInt(before))) };
    case 'time':
      return { ok: true, leaves: tree.leavesUntil(times.positionAt(place.timeMs - before, position()) ?? logStart) };
  }
}

/** Returns whether the range begins after the position 0, which is the beginning of the log. */
function isStart(kind: RangeStart['kind'], place: ExportPlace): boolean {
  return kind === 'after' && place.kind === 'position' && place.position === 0n;
}

/** Returns the number of leaves up to and including a place. */
function leavesUpTo(place: ExportPlace, dependencies: RangeDependencies): Leaves {
  const problem = placeProblem(place, dependencies);
  if (problem !== undefined) return { ok: false, ...problem };
  const { tree, position, times } = dependencies;
  if (place.kind === 'leaf') return { ok: true, leaves: place.index + 1 };
  if (place.kind === 'position') return { ok: true, leaves: tree.leavesUntil(logPosition(place.position)) };
  const last = times.positionAt(place.timeMs, position());
  return last === undefined ? { ok: false, ...earlyTime(place.timeMs) } : { ok: true, leaves: tree.leavesUntil(last) };
}

function placeProblem(
  place: ExportPlace,
  { tree, times, position, epoch, nowMs }: RangeDependencies,
): MomentProblem | undefined {
  if (place.kind !== 'leaf')
    return momentProblem(place, {
      first: times.first(),
      head: position(),
      epoch: epoch(),
      nowMs: nowMs(),
    });
  const size = tree.size();
  if (place.index < size) return undefined;
  return {
    reason: 'bad-request',
    detail: `there is no leaf ${String(place.index)}: the tree has ${String(size)} leaves`,
  };
}
