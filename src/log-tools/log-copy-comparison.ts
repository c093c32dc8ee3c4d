import type { CopyContext, CopySource } from './log-copy-context.ts';
import { EventCursor, LogCopyError, differenceOf, describeEvent } from './log-copy-cursor.ts';
import { retryRead } from './log-copy-retry.ts';
import { LogTree } from './log-tree.ts';
import type { TreeSize } from '../command/event.ts';
import { logStart, type EventLog, type LogPosition, type RecordedEvent } from '../log/log.ts';

type CopyState = {
  readonly standing: number;
  readonly last: LogPosition;
  readonly next: RecordedEvent | undefined;
};

/**
 * Compares the events in the target with the first events of the source. `standing` is the number of equal events,
 * `last` is the head of the target, and `next` is the next event of the source.
 *
 * @throws LogCopyError if the target has a different or an additional event.
 */
export async function comparePrefix(context: CopyContext, target: EventLog, events: EventCursor): Promise<CopyState> {
  const { progress, signal, print } = context;
  const head = await retryRead(context, () => target.head());
  const found = new EventCursor(target, { side: 'target', after: logStart, until: head, signal });
  let standing = 0;
  try {
    let copied = await found.next();
    if (copied !== undefined) {
      print('resuming a copy: comparing the events in the target');
      progress.begin('comparing');
    }
    for (; copied !== undefined; copied = await found.next()) {
      assertSame(await events.next(), copied);
      standing += 1;
      progress.advance();
    }
  } finally {
    await found.close();
  }
  if (standing > 0) progress.end();
  return { standing, last: head, next: await events.next() };
}

function assertSame(original: RecordedEvent | undefined, copied: RecordedEvent): void {
  if (original === undefined)
    throw new LogCopyError('failed', `the target has more events than the source: ${describeEvent(copied)}`);
  const difference = differenceOf(original, copied);
  if (difference === undefined) return;
  throw new LogCopyError(
    'failed',
    `the target differs from the source: ${describeEvent(original)} of the source and ` +
      `${describeEvent(copied)} of the target differ in ${difference}; empty the target and copy again`,
  );
}

/**
 * Verifies that the target has the copied events of the source, in the same order. Returns the tree over the copied
 * events.
 *
 * @throws LogCopyError if the events or the trees differ.
 */
export async function verifyCopy(context: CopyContext, source: CopySource, target: EventLog): Promise<TreeSize> {
  const { source: log, progress, signal } = context;
  progress.begin('verifying', source.events);
  const originals = new EventCursor(log, { side: 'source', after: logStart, until: source.head, signal });
  const copies = new EventCursor(target, {
    side: 'target',
    after: logStart,
    until: await retryRead(context, () => target.head()),
    signal,
  });
  const [tree, copiedTree] = [new LogTree(), new LogTree()];
  try {
    for (let copied = await copies.next(); copied !== undefined; copied = await copies.next()) {
      const original = await originals.next();
      assertSame(original, copied);
      if (original !== undefined) tree.add(original);
      copiedTree.add(copied);
      progress.advance();
    }
    const missing = await originals.next();
    if (missing !== undefined)
      throw new LogCopyError('failed', `the target does not contain ${describeEvent(missing)} of the source`);
  } finally {
    await originals.close();
    await copies.close();
  }
  progress.end();
  if (tree.now().root !== copiedTree.now().root)
    throw new LogCopyError('failed', 'the trees of the source and the target have different roots');
  return copiedTree.now();
}
