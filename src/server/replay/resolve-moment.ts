import { positionAt } from '../../../projections/replay/log-times.ts';
import { systemClock } from '../../base/clock.ts';
import { logPosition, logStart, type LogPosition } from '../../log/log.ts';
import type { FoundedLog } from '../../log/founded-log.ts';
import { momentProblem } from '../../read/moment-problem.ts';
import type { Moment } from '../../read/replay.ts';
import { RefusedError } from './replay-errors.ts';
import { firstPosition } from './replayed-log.ts';

/** Returns the position of a moment. @throws RefusedError for a moment outside this log. */
export async function resolveMoment(moment: Moment, log: FoundedLog, onBatch: () => void): Promise<LogPosition> {
  const head = await log.head();
  const problem = momentProblem(moment, { head, epoch: log.identity().epoch, nowMs: systemClock.now() });
  if (problem !== undefined) throw new RefusedError(problem.reason, problem.detail);
  if (moment.kind === 'time') {
    const position = await positionAt(log, moment.timeMs, { until: head, onBatch });
    if (position !== logStart) return position;
    throw new RefusedError('bad-request', `${new Date(moment.timeMs).toISOString()} is before the log’s first event`);
  }
  const position = logPosition(moment.position);
  const first = await firstPosition(log);
  if (first !== undefined && position >= first) return position;
  throw new RefusedError('bad-request', `position ${position.toString()} is before the log’s first event`);
}
