import { logPosition, logStart, type LogPosition } from '../../log/log.ts';
import { momentProblem } from '../../read/moment-problem.ts';
import type { Moment } from '../../read/replay.ts';
import type { TreeReader } from '../../read/tree.ts';
import type { LogTimes } from '../../read/versions.ts';

/** A place in the log: a moment, or the index of a leaf. */
export type ExportPlace = Moment | { readonly kind: 'leaf'; readonly index: number };

/** The index of the first leaf, and the index after the last leaf. */
export type LeafRange = { readonly from: number; readonly until: number };

/** The start of a range: before a place (`from`) or after it (`after`). */
export type RangeStart = { readonly kind: 'from' | 'after'; readonly place: ExportPlace };

export type RequestedRange = {
  /** The start of the range; undefined means the beginning of the log. */
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
  readonly times: Pick<LogTimes, 'positionAt'>;
};

export type ResolvedRange =
  | { readonly ok: true; readonly range: LeafRange }
  | { readonly ok: false; readonly reason: 'bad-request' | 'expired'; readonly detail: string };

type Leaves = { readonly ok: true; readonly leaves: number } | Extract<ResolvedRange, { ok: false }>;

/** Returns the leaves between two places, both of which this node must have folded. */
export function leafRange({ start, until }: RequestedRange, dependencies: RangeDependencies): ResolvedRange {
  const size = dependencies.tree.size();
  const first = start === undefined ? { ok: true as const, leaves: 0 } : leavesBefore(start, dependencies);
  if (!first.ok) return first;
  const last = until === undefined ? { ok: true as const, leaves: size } : leavesUpTo(until, dependencies);
  if (!last.ok) return last;
  const range = { from: first.leaves, until: last.leaves };
  return range.from > range.until
    ? refused('bad-request', `${start?.kind ?? 'from'} is later than until`)
    : { ok: true, range };
}

/** Returns the number of leaves before a range. */
function leavesBefore({ kind, place }: RangeStart, dependencies: RangeDependencies): Leaves {
  const upTo = leavesUpTo(place, dependencies);
  if (kind === 'after' || !upTo.ok) return upTo;
  const { tree, position, times } = dependencies;
  switch (place.kind) {
    case 'leaf':
      return { ok: true, leaves: place.index };
    case 'position':
      return { ok: true, leaves: place.position === 0n ? 0 : tree.leavesUntil(logPosition(place.position - 1n)) };
    case 'time':
      return { ok: true, leaves: tree.leavesUntil(times.positionAt(place.timeMs - 1, position()) ?? logStart) };
  }
}

/** Returns the number of leaves up to and including a place. */
function leavesUpTo(place: ExportPlace, { tree, position, epoch, nowMs, times }: RangeDependencies): Leaves {
  if (place.kind === 'leaf') {
    const size = tree.size();
    if (place.index < size) return { ok: true, leaves: place.index + 1 };
    return refused('bad-request', `there is no leaf ${String(place.index)}: the tree has ${String(size)}`);
  }
  const head = position();
  const problem = momentProblem(place, { head, epoch: epoch(), nowMs: nowMs() });
  if (problem !== undefined) return { ok: false, ...problem };
  const last = place.kind === 'time' ? times.positionAt(place.timeMs, head) : logPosition(place.position);
  return { ok: true, leaves: tree.leavesUntil(last ?? logStart) };
}

function refused(reason: 'bad-request' | 'expired', detail: string): Extract<ResolvedRange, { ok: false }> {
  return { ok: false, reason, detail };
}
