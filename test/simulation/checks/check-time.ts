import { clockDifferenceMsMax } from '../../../src/limits/log.ts';
import type { Step } from '../history.ts';
import { epoch, type Invocation, type World } from '../world.ts';

/** What the log's clock says is known to within the travel of one message and its answer, in ms. */
const inexactMs = 15_000;

/**
 * 8: an event is about as late as the log's clock, if that was known at the decision, and no earlier than the one
 * before it, as long as that one counts: every writer that decided on the state before had folded its event.
 */
export function checkTime(
  { recorded, metadata, previous, previousLanded, landed }: Step,
  invocation: Invocation | undefined,
  { coverage }: World,
): void {
  const where = `${recorded.stream}@${String(recorded.revision)}`;
  const time = Date.parse(metadata.time) - epoch;
  if (invocation === undefined || !invocation.knewTime) {
    if (Math.abs(time - landed) > 2 * clockDifferenceMsMax) coverage.note('stamped by a wrong clock');
    return;
  }
  const [least, most] = [
    invocation.invoked - clockDifferenceMsMax - inexactMs,
    landed + clockDifferenceMsMax + inexactMs,
  ];
  if (time < least || time > most)
    throw new Error(`${where} is of ${metadata.time}, and landed at ${new Date(epoch + landed).toISOString()}`);
  if (previous === undefined || previousLanded === undefined) return;
  const counts = Date.parse(previous.time) - epoch <= previousLanded + clockDifferenceMsMax - inexactMs;
  if (counts && metadata.time < previous.time)
    throw new Error(`${where} is of ${metadata.time}, the one before it of ${previous.time}`);
}
