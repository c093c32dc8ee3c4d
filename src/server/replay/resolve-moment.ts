import { positionAt } from '../../../projections/replay/log-times.ts';
import { systemClock } from '../../base/clock.ts';
import { logPosition, logStart, type LogPosition } from '../../log/log.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import { earlyTime, momentProblem, type MomentProblem } from '../../read/moment-problem.ts';
import type { Moment } from '../../read/replay.ts';
import { RefusedError } from './replay-errors.ts';
import { firstPosition } from './replayed-log.ts';

/**
 * Returns the position of a moment.
 *
 * @throws RefusedError for a moment outside of this log.
 */
export async function resolveMoment(moment: Moment, log: FoundedLog, onBatch: () => void): Promise<LogPosition> {
  const [first, head] = [await firstPosition(log), await log.head()];
  const problem = momentProblem(moment, {
    first,
    head,
    epoch: log.identity().epoch,
    nowMs: systemClock.now(),
  });
  if (problem !== undefined) throw refused(problem);
  if (moment.kind === 'position') return logPosition(moment.position);
  const position = await positionAt(log, moment.timeMs, { until: head, onBatch });
  if (position === logStart) throw refused(earlyTime(moment.timeMs));
  return position;
}

function refused({ reason, detail }: MomentProblem): RefusedError {
  return new RefusedError(reason, detail);
}
