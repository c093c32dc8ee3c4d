import { freshnessWaitMs } from '../../../limits/writes.ts';
import { logPosition, type LogPosition } from '../../../log/log.ts';
import type { AuditProgress } from '../../../read/audit-progress.ts';
import { momentOf } from '../../../read/decode-replay.ts';
import type { ObjectReader } from '../../../read/objects.ts';
import type { LogTimes, VersionReader } from '../../../read/versions.ts';
import { refusal, takenOver, type Answer } from '../../answer.ts';
import { disconnectSignalOf, type Exchange } from '../../exchange.ts';
import { problem, type ProblemReason } from '../../problem.ts';
import { awaitAudit } from '../await-position.ts';
import { shown } from '../decode-list-query.ts';

export type PastIndexes = {
  readonly models: AuditProgress;
  readonly versions: VersionReader;
  readonly times: LogTimes;
};

export type MomentPorts = {
  readonly reader: Pick<ObjectReader, 'position' | 'isKnown' | 'contains'>;
  readonly audit: Pick<PastIndexes, 'models' | 'times'>;
};

/** A position that this node has folded, or a refusal. */
export type Resolved =
  { readonly ok: true; readonly position: LogPosition } | { readonly ok: false; readonly answer: Answer };

/**
 * Resolves the parameter `at`: a position of this epoch, or a time. A time means the last position at or before the
 * time. Waits for a position that this node has not folded yet.
 */
export async function resolveMoment(exchange: Exchange, ports: MomentPorts): Promise<Resolved> {
  const [text = '', ...more] = exchange.query.getAll('at');
  const moment = more.length > 0 ? 'invalid' : momentOf(text);
  if (moment === undefined || moment === 'invalid')
    return refused(
      'bad-request',
      `at: must be one position of the log or one time (RFC 3339), is ${shown([text, ...more].join(', '))}`,
    );
  for (const other of ['resourceVersion', 'resourceVersionMatch'])
    if (exchange.query.has(other)) return refused('bad-request', `at cannot be combined with ${other}`);
  return moment.kind === 'time'
    ? resolveTime(moment.timeMs, exchange, ports)
    : resolvePosition(logPosition(moment.position), exchange, ports);
}

/** Returns the time in epoch milliseconds that the parameter `at` names; undefined for a position. */
export function timeAsked({ query }: Pick<Exchange, 'query'>): number | undefined {
  const moment = momentOf(query.get('at') ?? '');
  return moment !== undefined && moment !== 'invalid' && moment.kind === 'time' ? moment.timeMs : undefined;
}

/** Waits until this node has folded the position, as for a `resourceVersion`. */
export async function resolvePosition(
  position: LogPosition,
  exchange: Exchange,
  { reader, audit: { models, times } }: MomentPorts,
): Promise<Resolved> {
  const asked = position.toString();
  if (!reader.isKnown(position)) return refused('expired', `at: ${asked} belongs to another epoch of the event log`);
  const behind = await awaitAudit(models, reader.position(), exchange);
  if (behind !== undefined) return { ok: false, answer: behind };
  if (models.position() < position) {
    const signal = disconnectSignalOf(exchange.res);
    const reached = await models.reached(position, { timeoutMs: freshnessWaitMs, signal });
    if (reached === 'aborted') return { ok: false, answer: takenOver };
    if (reached === 'timeout')
      return refused('bad-request', `at: ${asked} is beyond the end of the log, ${models.position().toString()}`);
  }
  const first = times.first();
  return first === undefined || position < first
    ? refused('bad-request', `at: ${asked} is before the log’s first event`)
    : known(position, exchange, reader);
}

/**
 * Waits until the read models of this node contain the position too. The read models may be behind the audit indexes if
 * the log is in EventStoreDB.
 */
async function known(
  position: LogPosition,
  exchange: Exchange,
  reader: Pick<ObjectReader, 'position' | 'contains'>,
): Promise<Resolved> {
  if (reader.position() >= position) return { ok: true, position };
  const signal = disconnectSignalOf(exchange.res);
  const reached = await reader.contains(position, { timeoutMs: freshnessWaitMs, signal });
  if (reached === 'reached') return { ok: true, position };
  if (reached === 'aborted') return { ok: false, answer: takenOver };
  const detail = `at: this node has not yet processed position ${position.toString()}; retry`;
  return { ok: false, answer: refusal(problem('unavailable', detail, { retryAfterSeconds: 1 })) };
}

async function resolveTime(
  timeMs: number,
  exchange: Exchange,
  { reader, audit: { models, times } }: MomentPorts,
): Promise<Resolved> {
  const asked = new Date(timeMs).toISOString();
  if (timeMs > exchange.clock.now()) return refused('bad-request', `at: ${asked} is in the future`);
  const behind = await awaitAudit(models, reader.position(), exchange);
  if (behind !== undefined) return { ok: false, answer: behind };
  const position = times.positionAt(timeMs, models.position());
  return position === undefined
    ? refused('bad-request', `at: ${asked} is before the log’s first event`)
    : known(position, exchange, reader);
}

function refused(reason: ProblemReason, detail: string): Resolved {
  return { ok: false, answer: refusal(problem(reason, detail)) };
}
