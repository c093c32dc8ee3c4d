import { logPosition, type LogPosition } from '../../log/log.ts';
import type { FieldRequirement } from '../../resource/query/list-query.ts';
import { timestampMs } from '../../resource/type/index-key.ts';
import { problem, type Problem, type ProblemResult } from '../problem.ts';
import { isPosition, shown, type Decoded } from '../resources/decode-list-query.ts';

/** A range of positions or of epoch milliseconds, including both ends. */
type Range = {
  readonly from: bigint;
  readonly until: bigint;
  /** The operands of the conditions that set the ends, for messages. */
  readonly named: { readonly from?: bigint; readonly until?: bigint };
};

/** The ranges that a selector requests. A range without a condition is undefined. */
export type AskedRange = {
  readonly position: Range | undefined;
  readonly time: Range | undefined;
};

export type Places = {
  /** The position of the log's first event. */
  readonly first: LogPosition;
  /** The newest position that the response may contain. */
  readonly head: LogPosition;
  /** The present time in epoch milliseconds. */
  readonly now: number;
  /** Returns whether the log may have issued the position in its present epoch. */
  readonly isKnown: (position: LogPosition) => boolean;
  /**
   * Returns the last position up to which all events are at or before `timeMs`; `logStart` if `timeMs` is before the
   * first event.
   */
  readonly positionAt: (timeMs: number) => LogPosition;
};

/** A range of positions, including both ends. */
export type PositionRange = {
  readonly first: LogPosition;
  readonly last: LogPosition;
};

const last = 10n ** 30n;
const everything: Range = { from: 1n, until: last, named: {} };
const operators = '=, <, <=, > and >=';

export function decodeRange(requirements: readonly FieldRequirement[]): Decoded<AskedRange> {
  let [position, time]: [Range | undefined, Range | undefined] = [undefined, undefined];
  for (const requirement of requirements) {
    const isTime = requirement.field === 'time';
    if (!isTime && requirement.field !== 'position') continue;
    const narrowed = narrow((isTime ? time : position) ?? everything, requirement, isTime ? timeOf : positionOf);
    if (!narrowed.ok) return narrowed;
    if (narrowed.value.from > narrowed.value.until)
      return refused(`${requirement.field}: the range of the conditions is empty`);
    if (isTime) time = narrowed.value;
    else position = narrowed.value;
  }
  return { ok: true, value: { position, time } };
}

type Operand = (text: string) => bigint | undefined;

function narrow(range: Range, requirement: FieldRequirement, operandOf: Operand): Decoded<Range> {
  const { field } = requirement;
  const comparison = comparisonOf(requirement);
  if (comparison === undefined) return refused(`${field}: accepts ${operators}, each with one value`);
  const operand = operandOf(comparison.text);
  if (operand === undefined) {
    const wanted = field === 'time' ? 'an RFC 3339 time, such as 2026-01-31T08:00:00Z' : 'a log position';
    return refused(`${field}: must be ${wanted}, is ${shown(comparison.text)}`);
  }
  const { from = range.from, until = range.until } = comparison.ends(operand);
  const [isLater, isEarlier] = [from > range.from, until < range.until];
  const named = { ...range.named, ...(isLater ? { from: operand } : {}), ...(isEarlier ? { until: operand } : {}) };
  return {
    ok: true,
    value: { from: isLater ? from : range.from, until: isEarlier ? until : range.until, named },
  };
}

type Ends = (operand: bigint) => Partial<Pick<Range, 'from' | 'until'>>;

/** For each operator, the range that the operator allows with an operand. */
const endsOf: Readonly<Record<'<' | '<=' | '>' | '>=' | '=', Ends>> = {
  '<': (operand) => ({ until: operand - 1n }),
  '<=': (operand) => ({ until: operand }),
  '>': (operand) => ({ from: operand + 1n }),
  '>=': (operand) => ({ from: operand }),
  '=': (operand) => ({ from: operand, until: operand }),
};

type TimeComparison = {
  readonly text: string;
  readonly ends: Ends;
};

/** Returns the comparison of a requirement; undefined if the requirement does not compare with one value. */
function comparisonOf(requirement: FieldRequirement): TimeComparison | undefined {
  if (!('value' in requirement)) {
    if (requirement.operator !== 'in' || requirement.values.length !== 1) return undefined;
    const [text = ''] = requirement.values;
    return { text, ends: endsOf['='] };
  }
  const { operator, value: text } = requirement;
  return operator === '^=' ? undefined : { text, ends: endsOf[operator] };
}

function timeOf(text: string): bigint | undefined {
  const ms = timestampMs(text);
  // No event is older than 1970, so an earlier time means 1970.
  return ms === undefined ? undefined : BigInt(Math.max(ms, 0));
}

function positionOf(text: string): bigint | undefined {
  return isPosition(text) ? BigInt(text) : undefined;
}

/** Resolves a range to positions, or returns the problem of the range. */
export function resolveRange({ position, time }: AskedRange, places: Places): Decoded<PositionRange> {
  const wrong = positionProblem(position, places) ?? timeProblem(time, places);
  if (wrong !== undefined) return { ok: false, problem: wrong };
  const { head, positionAt } = places;
  const begins = [1n, position?.from ?? 1n, time === undefined ? 1n : positionAt(Number(time.from) - 1) + 1n];
  const ends = [
    head,
    position?.until ?? head,
    time === undefined || time.until === last ? head : positionAt(Number(time.until)),
  ];
  const first = begins.reduce((one, other) => (one > other ? one : other));
  const end = ends.reduce<bigint>((one, other) => (one < other ? one : other), head);
  return { ok: true, value: { first: logPosition(first), last: logPosition(end < 0n ? 0n : end) } };
}

function positionProblem(range: Range | undefined, { first, head, isKnown }: Places): Problem | undefined {
  if (range === undefined) return undefined;
  const { named } = range;
  const asked = [
    [range.from, named.from ?? range.from],
    [range.until, named.until ?? range.until],
  ] as const;
  const foreign = asked.find(([end]) => end > 1n && end < last && !isKnown(logPosition(end)));
  if (foreign !== undefined)
    return problem(
      'expired',
      `fieldSelector: position ${foreign[1].toString()} belongs to another epoch of the event log`,
    );
  // A caller that polls for new events requests the empty range from head + 1.
  if (range.from > head + 1n)
    return problem(
      'bad-request',
      `fieldSelector: position ${(named.from ?? range.from).toString()} is beyond the head of the log, ` +
        head.toString(),
    );
  return range.until < first ? early(`position ${(named.until ?? range.until).toString()}`) : undefined;
}

function timeProblem(range: Range | undefined, { now, first, positionAt }: Places): Problem | undefined {
  if (range === undefined) return undefined;
  if (range.from > BigInt(now))
    return problem('bad-request', `fieldSelector: time ${shownTime(range.from)} is in the future`);
  const isEarly = range.until !== last && positionAt(Number(range.until)) < first;
  return isEarly ? early(`time ${shownTime(range.until)}`) : undefined;
}

function shownTime(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}

function early(end: string): Problem {
  return problem('bad-request', `fieldSelector: ${end} is before the log’s first event`);
}

function refused(detail: string): ProblemResult {
  return { ok: false, problem: problem('bad-request', `fieldSelector: ${detail}`) };
}
