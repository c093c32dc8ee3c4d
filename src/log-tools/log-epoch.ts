import { delay, type Clock } from '../base/clock.ts';
import { must } from '../base/unreachable.ts';
import { eventSchema, type EventMetadata, type PlatformEvent } from '../command/event.ts';
import { logRetryMsMax, logRetryMsMin } from '../limits/log.ts';
import { encodeEvent } from '../log/event-codec.ts';
import { platformStream, readFounding, type Founding } from '../log/founded-log.ts';
import type { EventLog, ExpectedRevision } from '../log/log.ts';
import { treeOf } from './log-tree.ts';

/** The dependencies of functions that write to the stream `platform:log`. */
export type EpochWriting = {
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly signal: AbortSignal;
};

/** Thrown if a new epoch cannot be started in a log. */
export class EpochRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EpochRefusedError';
  }
}

/**
 * Starts a new epoch and a new Merkle tree, after a log was restored in place. The restored log may assign positions
 * again that clients have stored, and may lack leaves that a node has signed. The event contains the size and the root
 * of the old tree.
 *
 * @throws EpochRefusedError if the log has no founding or is an unfinished copy, or if another process starts an epoch.
 */
export async function startRestoredEpoch(log: EventLog, writing: EpochWriting): Promise<Founding> {
  const founding = await readFounding(log);
  if (founding === undefined)
    throw new EpochRefusedError(
      'the log has no identity, because it is empty or an earlier version wrote it: start a server with this log once',
    );
  if (!founding.finished) throw new EpochRefusedError('the log is an unfinished copy');
  const { logId, domain, epoch, revision } = founding;
  const before = { tree: founding.tree, ...(await treeOf(log, { signal: writing.signal })) };
  if (
    !(await appendPlatformEvent(
      log,
      { type: 'EpochStarted', logId, domain, epoch: epoch + 1, reason: 'restored', before },
      { ...writing, actor: 'system:log-new-epoch', expected: revision },
    ))
  ) {
    throw new EpochRefusedError('another process started an epoch at the same time');
  }
  return must(await readFounding(log), 'the log was founded');
}

type EpochStart = {
  readonly actor: string;
  readonly expected: ExpectedRevision;
};

/**
 * Appends an event to the stream `platform:log`. Retries with the same id until the outcome is known. Returns false if
 * another event has the revision.
 */
export async function appendPlatformEvent(
  log: EventLog,
  event: PlatformEvent,
  writing: EpochWriting & EpochStart,
): Promise<boolean> {
  const { clock, uuid, signal, actor, expected } = writing;
  const requestId = uuid();
  const metadata: EventMetadata = {
    actor,
    verb: 'create',
    requestId,
    time: new Date(clock.now()).toISOString(),
    schema: eventSchema,
    $correlationId: requestId,
  };
  const proposed = encodeEvent(uuid(), event, metadata);
  for (let waitMs = logRetryMsMin; ; waitMs = Math.min(waitMs * 2, logRetryMsMax)) {
    const outcome = await log.append(platformStream, [proposed], expected);
    if (outcome.ok || outcome.reason === 'conflict') return outcome.ok;
    await delay(clock, waitMs, signal);
    signal.throwIfAborted();
  }
}
