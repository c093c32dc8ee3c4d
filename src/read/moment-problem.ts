import { isOfEpoch, logPosition, type LogPosition } from '../log/log.ts';
import type { Moment } from './replay.ts';

/** The ends and the epoch of a log, and the current time. */
export type LogNow = {
  /** The position of the first event; undefined for an empty log. */
  readonly first: LogPosition | undefined;
  readonly head: LogPosition;
  readonly epoch: number;
  readonly nowMs: number;
};

export type MomentProblem = {
  readonly reason: 'bad-request' | 'expired';
  readonly detail: string;
};

/**
 * Returns the reason why the log has no state of the moment; otherwise undefined. The moment must not be a time in the
 * future, a position of another epoch, or a position before the first or after the last event.
 */
export function momentProblem(moment: Moment, { first, head, epoch, nowMs }: LogNow): MomentProblem | undefined {
  if (moment.kind === 'time')
    return moment.timeMs <= nowMs ? undefined : badMoment(`${shownTime(moment.timeMs)} is in the future`);
  const position = logPosition(moment.position);
  const shown = `position ${position.toString()}`;
  if (!isOfEpoch(position, epoch))
    return { reason: 'expired', detail: `${shown} belongs to another epoch of the event log` };
  if (position > head) return badMoment(`${shown} is beyond the end of the log, ${head.toString()}`);
  return first === undefined || position < first ? badMoment(beforeFirst(shown)) : undefined;
}

/** Returns the problem of a time before the first event. */
export function earlyTime(timeMs: number): MomentProblem {
  return badMoment(beforeFirst(shownTime(timeMs)));
}

function beforeFirst(shown: string): string {
  return `${shown} is before the log’s first event`;
}

function shownTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function badMoment(detail: string): MomentProblem {
  return { reason: 'bad-request', detail };
}
