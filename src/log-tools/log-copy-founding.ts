import type { TreeSize } from '../command/event.ts';
import { must } from '../base/unreachable.ts';
import type { CopyContext, CopySource } from './log-copy-context.ts';
import { LogCopyError, describeDamage } from './log-copy-cursor.ts';
import { retryRead } from './log-copy-retry.ts';
import { appendPlatformEvent } from './log-epoch.ts';
import { readFounding, type Founding } from '../log/founded-log.ts';
import { logStart, type EventLog } from '../log/log.ts';

const actor = 'system:log-copy';

export async function sourceFounding(log: EventLog): Promise<Founding> {
  const founding = await readFounding(log).catch((error: unknown) => {
    throw describeDamage('source', error, 'refused');
  });
  if (founding === undefined) {
    const isEmpty = (await log.head()) === logStart;
    throw new LogCopyError(
      'refused',
      isEmpty
        ? 'the source is empty'
        : 'the source has no identity, because an earlier version wrote it: start a server with this log once',
    );
  }
  if (!founding.finished) throw new LogCopyError('refused', 'the source is an unfinished copy');
  return founding;
}

/**
 * Returns the founding of a target that is a copy of the source; undefined for an empty target.
 *
 * @throws LogCopyError for any other target.
 */
export async function targetFounding(target: EventLog, source: Founding): Promise<Founding | undefined> {
  // The head is read first, because a late append of an earlier run may found the target between the two reads.
  const head = await target.head();
  const founding = await readFounding(target).catch((error: unknown) => {
    throw describeDamage('target', error, 'refused');
  });
  if (founding === undefined) {
    if (head !== logStart)
      throw new LogCopyError('refused', 'the target is not empty: it has events of a log without an identity');
    return undefined;
  }
  if (founding.logId === source.logId && founding.epoch === source.epoch)
    throw new LogCopyError('refused', 'the source and the target are the same log');
  if (founding.domain !== source.domain)
    throw new LogCopyError(
      'refused',
      `the target belongs to the platform domain ${founding.domain}, but the source belongs to ${source.domain}`,
    );
  const { copyOf } = founding;
  if (copyOf === undefined)
    throw new LogCopyError('refused', `the target is not empty: it is the log ${founding.logId}`);
  if (copyOf.logId !== source.logId || copyOf.epoch !== source.epoch) {
    throw new LogCopyError(
      'refused',
      `the target is not empty: it is a copy of the log ${copyOf.logId} (epoch ` +
        `${copyOf.epoch.toString()}), but the source is ${source.logId} (epoch ${source.epoch.toString()})`,
    );
  }
  return founding;
}

/** Founds the target. An earlier or concurrent run may already have founded the target. */
export async function foundCopy(context: CopyContext, target: EventLog, source: Founding): Promise<Founding> {
  const { logId, epoch, domain, tree } = source;
  await appendPlatformEvent(
    target,
    {
      type: 'EpochStarted',
      logId: context.uuid(),
      domain,
      epoch: epoch + 1,
      reason: 'copied',
      copyOf: { logId, epoch },
      tree,
    },
    { ...context, actor, expected: 'absent' },
  );
  return must(await retryRead(context, () => targetFounding(target, source)), 'the target was founded');
}

type FoundingSource = {
  readonly source: CopySource;
  readonly begun: Founding;
  readonly tree: TreeSize;
};

export async function finishCopy(
  context: CopyContext,
  target: EventLog,
  { source, begun, tree }: FoundingSource,
): Promise<void> {
  if (
    await appendPlatformEvent(
      target,
      { type: 'CopyFinished', events: source.events, tree },
      { ...context, actor, expected: begun.revision },
    )
  )
    return;
  const now = await retryRead(context, () => targetFounding(target, source.founding));
  if (now?.finished !== true || now.copied !== source.events)
    throw new LogCopyError('failed', 'cannot finish the copy: another process writes to the target');
}
