import { isOfEpoch, logPosition, type LogPosition } from '../log/log.ts';
import type { Moment } from './replay.ts';

/** The end and the epoch of a log, and the current time. */
export type LogNow = { readonly head: LogPosition; readonly epoch: number; readonly nowMs: number };

export type MomentProblem = { readonly reason: 'bad-request' | 'expired'; readonly detail: string };

/** The reason why the log has no such moment: it is in the future or in another epoch. Undefined without a problem. */
export function momentProblem(moment: Moment, { head, epoch, nowMs }: LogNow): MomentProblem | undefined {
  if (moment.kind === 'time') {
    if (moment.timeMs <= nowMs) return undefined;
    return { reason: 'bad-request', detail: `${new Date(moment.timeMs).toISOString()} is in the future` };
  }
  const position = logPosition(moment.position);
  const shown = `position ${position.toString()}`;
  if (position > head)
    return { reason: 'bad-request', detail: `${shown} is beyond the end of the log, ${head.toString()}` };
  return isOfEpoch(position, epoch)
    ? undefined
    : { reason: 'expired', detail: `${shown} belongs to an earlier epoch of the log` };
}
