import { delay } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { Reply } from './eventstore-appender.ts';
import { retryDelayMs } from './eventstore-contact.ts';
import { logLookUpsMax } from './eventstore-limits.ts';
import type { Reads } from './eventstore-reads.ts';
import { ordinal, streamRevision } from '../log.ts';
import type { AppendOutcome, ExpectedRevision, ProposedEvent, RecordedEvent, StreamName } from '../log.ts';

export type Appended = {
  readonly stream: StreamName;
  readonly events: readonly ProposedEvent[];
  readonly expected: ExpectedRevision;
  /** The monotonic time at which the append was sent, in milliseconds. */
  readonly sentMs: number;
};

type LookUpContext = {
  readonly reads: Reads;
  readonly clock: Clock;
  readonly closing: AbortSignal;
};

/**
 * Determines the outcome of an append from the events after the expected revision (docs/spec/consistency.md, 3). An
 * event of another append at these revisions proves a conflict. A missing event proves nothing at first, because a
 * deposed leader returns old data. It proves a conflict only after several attempts, and only if the server has refused
 * the append.
 *
 * @throws an error of a read, or an Error if the attempts find no proof.
 */
export async function resolveOutcome(
  { reads, clock, closing }: LookUpContext,
  append: Appended,
  reply: Reply,
): Promise<AppendOutcome> {
  const { stream, expected } = append;
  let head: RecordedEvent | undefined;
  for (let attempt = 1; attempt <= logLookUpsMax; attempt += 1) {
    const standing = await reads.stream(stream, {
      from: streamRevision(firstRevision(append)),
      limit: append.events.length,
    });
    const last = standing.at(-1);
    if (last !== undefined && isWhole(standing, append))
      return { ok: true, revision: last.revision, position: last.position };
    head = await reads.last(stream);
    if (last !== undefined) return { ok: false, reason: 'conflict', actual: later(last, head).revision };
    // The server may report a conflict before the other event is readable.
    await delay(clock, retryDelayMs(attempt), closing);
  }
  const isAhead = (head?.revision ?? -1) < ordinal(expected);
  if (reply.kind === 'answered' && isAhead)
    return { ok: false, reason: 'conflict', actual: head?.revision ?? 'absent' };
  throw new Error('the replies of the server about the end of a stream are inconsistent', { cause: reply });
}

export function firstRevision({ expected }: Appended): number {
  return expected === 'absent' ? 0 : expected + 1;
}

function isWhole(standing: readonly RecordedEvent[], append: Appended): boolean {
  const { events } = append;
  const first = firstRevision(append);
  return (
    standing.length === events.length &&
    standing.every(({ id, revision }, index) => id === events[index]?.id && revision === first + index)
  );
}

function later(one: RecordedEvent, other: RecordedEvent | undefined): RecordedEvent {
  return other !== undefined && other.revision > one.revision ? other : one;
}
