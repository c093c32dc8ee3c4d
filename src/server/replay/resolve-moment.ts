import { positionAt } from '../../../projections/replay/log-times.ts';
import { systemClock } from '../../base/clock.ts';
import { isOfEpoch, logPosition, logStart, type LogPosition } from '../../log/log.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import type { Moment } from '../../read/replay.ts';
import { RefusedError } from './replay-errors.ts';
import { firstPosition } from './replayed-log.ts';

/** Returns the position of a moment. @throws RefusedError for a moment outside this log. */
export async function resolveMoment(moment: Moment, log: FoundedLog, onBatch: () => void): Promise<LogPosition> {
  const head = await log.head();
  if (moment.kind === 'time') {
    const shown = new Date(moment.timeMs).toISOString();
    if (moment.timeMs > systemClock.now()) throw new RefusedError('bad-request', `${shown} is in the future`);
    const position = await positionAt(log, moment.timeMs, { until: head, onBatch });
    if (position !== logStart) return position;
    throw new RefusedError('bad-request', `${shown} is before the log’s first event`);
  }
  const position = logPosition(moment.position);
  const shown = position.toString();
  const first = await firstPosition(log);
  if (position !== logStart && position < head && !isOfEpoch(position, log.identity().epoch))
    throw new RefusedError('expired', `position ${shown} is of an earlier epoch of the log`);
  if (first === undefined || position < first)
    throw new RefusedError('bad-request', `position ${shown} is before the log’s first event`);
  if (position > head)
    throw new RefusedError('bad-request', `position ${shown} is beyond the end of the log, ${head.toString()}`);
  return position;
}
