import { auditFoldWaitMs } from '../../limits/audit.ts';
import { freshnessWaitMs } from '../../limits/writes.ts';
import type { LogPosition } from '../../log/log.ts';
import type { AuditProgress } from '../../read/audit-progress.ts';
import type { ObjectReader } from '../../read/objects.ts';
import { refusal, takenOver, type Answer } from '../answer.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import { problem, type Problem } from '../problem.ts';
import type { Freshness } from './decode-list-query.ts';

/**
 * Waits until this node has folded the requested position. Returns a refusal if the position belongs to another epoch,
 * or after a timeout. With `exact`, also returns a refusal if this node has folded later events.
 */
export async function staleness(
  freshness: Freshness,
  exchange: Exchange,
  reader: Pick<ObjectReader, 'position' | 'isKnown' | 'contains'>,
): Promise<Answer | undefined> {
  const { notBefore, match } = freshness;
  if (notBefore === undefined) return undefined;
  if (!reader.isKnown(notBefore)) return refusal(foreignPosition(notBefore));
  if (reader.position() < notBefore) {
    const reached = await reader.contains(notBefore, {
      timeoutMs: freshnessWaitMs,
      signal: disconnectSignalOf(exchange.res),
    });
    if (reached === 'aborted') return takenOver;
    if (reached === 'timeout') {
      const detail = `Too large resource version: ${notBefore.toString()}, current: ${reader.position().toString()}`;
      return refusal(
        problem('timeout', detail, {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        }),
      );
    }
  }
  if (match === 'exact' && reader.position() !== notBefore) {
    return refusal(
      problem(
        'expired',
        `the state at ${notBefore.toString()} is not available; the current position is ` +
          reader.position().toString(),
      ),
    );
  }
  return undefined;
}

/** A position has no meaning in another epoch, so the client must read its data again. */
function foreignPosition(position: LogPosition): Problem {
  return problem(
    'expired',
    `resourceVersion ${position.toString()} belongs to another epoch of the event log: read again from the start`,
  );
}

/**
 * Waits until the audit indexes contain `position`, which the read models of this node contain already. Returns
 * undefined on success, and a refusal with status 503 after a timeout.
 */
export async function awaitAudit(
  audit: AuditProgress,
  position: LogPosition,
  { res }: Pick<Exchange, 'res'>,
): Promise<Answer | undefined> {
  const unavailable = audit.unavailable();
  if (unavailable !== undefined) return notYet(unavailable);
  const before = audit.position();
  if (before >= position) return undefined;
  const reached = await audit.reached(position, { timeoutMs: auditFoldWaitMs, signal: disconnectSignalOf(res) });
  if (reached === 'reached') return undefined;
  if (reached === 'timeout' && audit.position() === before) audit.overdue();
  return reached === 'aborted'
    ? takenOver
    : notYet(`the audit indexes have not yet processed position ${position.toString()}; retry`);
}

function notYet(reason: string): Answer {
  return refusal(problem('unavailable', reason, { retryAfterSeconds: 1 }));
}
