import { delay, type Clock } from './base/clock.ts';
import { must } from './base/unreachable.ts';
import { logRetryMsMax, logRetryMsMin } from './limits/log.ts';
import { EventCursor, LogCopyError, damaged, differenceOf, told } from './log-copy-cursor.ts';
import { CopyPipeline } from './log-copy-pipeline.ts';
import { CopyProgress, logCopyStallMs } from './log-copy-progress.ts';
import { appendPlatformEvent } from './log-epoch.ts';
import { readFounding, UnsuitableLogError, type Founding } from './log/founded-log.ts';
import { LogCorruptError, LogRefusedError, LogReplacedError, logStart, type EventLog, type LogPosition, type RecordedEvent } from './log/log.ts';

/**
 * A log copied into another one, event by event: ids, types, data, metadata, revisions and order are the source's. The log's
 * own word of itself is not copied (the target has its own founding, an epoch later, so that no position means two things), nor
 * are leases. Whatever ends it, it is called again with the same two logs and goes on where the target ends.
 */
export type LogCopyOptions = {
  readonly source: EventLog;
  /** Opened twice: what verifies must read what the target stored, not what its adapter remembers having been given. */
  readonly openTarget: () => Promise<EventLog>;
  readonly inFlightMax: number;
  readonly clock: Clock;
  readonly uuid: () => string;
  /** What its operator sees meanwhile, a line at a time. */
  readonly tell: (line: string) => void;
  /** Ends it: its reason is thrown. */
  readonly signal?: AbortSignal;
};

export type CopiedLog = {
  readonly logId: string;
  readonly epoch: number;
  readonly events: number;
  /** False: it was a whole copy already, and nothing was written. */
  readonly written: boolean;
};

/** What one call of it works with. */
type Copying = LogCopyOptions & { readonly signal: AbortSignal; readonly progress: CopyProgress };

/** The source as it was when the copy began: it must not grow from then on. */
type Source = { readonly founding: Founding; readonly head: LogPosition; readonly events: number };

const actor = 'system:log-copy';

/** @throws LogCopyError when it must not begin or cannot go on. */
export async function copyLog(options: LogCopyOptions): Promise<CopiedLog> {
  const progress = new CopyProgress(options);
  const ending = new AbortController();
  const signal = options.signal === undefined ? ending.signal : AbortSignal.any([ending.signal, options.signal]);
  const watch = watchStandstill(options, progress, ending);
  try {
    return await copy({ ...options, signal, progress });
  } finally {
    watch.cancel();
  }
}

async function copy(copying: Copying): Promise<CopiedLog> {
  const { source: log, openTarget } = copying;
  const founding = await sourceFounding(log);
  let target = await openTarget();
  try {
    const before = await targetFounding(target, founding);
    const head = await log.head();
    const source: Source = { founding, head, events: await countSource(copying, head) };
    await assertNotGrown(copying, source, 'refused');
    if (before?.finished === true) return finishedAlready(before, source.events);
    const begun = before ?? await foundCopy(copying, target, founding);
    await copyRest(copying, { source, target });
    await assertNotGrown(copying, source, 'failed');
    await target.close();
    target = await openTarget();
    await verify(copying, { source, target });
    await assertNotGrown(copying, source, 'failed');
    await finishCopy(copying, target, { source, begun });
    return { logId: begun.logId, epoch: begun.epoch, events: source.events, written: true };
  } finally {
    await target.close();
  }
}

async function sourceFounding(log: EventLog): Promise<Founding> {
  const founding = await readFounding(log).catch((error: unknown) => { throw damaged('source', error, 'refused'); });
  if (founding === undefined) {
    const isEmpty = await log.head() === logStart;
    throw new LogCopyError('refused', isEmpty ? 'the source is empty' : 'the source has no identity: an earlier version wrote it; start the server on it once');
  }
  if (!founding.finished) throw new LogCopyError('refused', 'the source is an unfinished copy');
  return founding;
}

/** The target's founding where it is this very copy, undefined where it is empty. Anything else is refused. */
async function targetFounding(target: EventLog, source: Founding): Promise<Founding | undefined> {
  // The head first: the founding of a call that was killed may land between the two.
  const head = await target.head();
  const founding = await readFounding(target).catch((error: unknown) => { throw damaged('target', error, 'refused'); });
  if (founding === undefined) {
    if (head !== logStart) throw new LogCopyError('refused', 'the target is not empty: it holds events of a log that does not say which it is');
    return undefined;
  }
  if (founding.logId === source.logId && founding.epoch === source.epoch) throw new LogCopyError('refused', 'the source and the target are the same log');
  if (founding.domain !== source.domain) throw new LogCopyError('refused', `the target belongs to the platform domain ${founding.domain}, and the source to ${source.domain}`);
  const { copyOf } = founding;
  if (copyOf === undefined) throw new LogCopyError('refused', `the target is not empty: it is the log ${founding.logId}`);
  if (copyOf.logId !== source.logId || copyOf.epoch !== source.epoch) {
    throw new LogCopyError('refused', `the target is not empty: it is a copy of the log ${copyOf.logId} (epoch ${copyOf.epoch.toString()}), and the source is ${source.logId} (epoch ${source.epoch.toString()})`);
  }
  return founding;
}

function finishedAlready({ logId, epoch, copied }: Founding, events: number): CopiedLog {
  if (copied === events) return { logId, epoch, events, written: false };
  throw new LogCopyError('refused', `the target is a finished copy of this source when it had ${String(copied)} events; it has ${events.toString()} now: copy it into an empty log`);
}

/** Reads it to its end before anything is written: a damaged one is refused, and how far a copy is can be said in percent. */
async function countSource({ source: log, progress, signal }: Copying, head: LogPosition): Promise<number> {
  progress.begin('reading the source');
  const cursor = new EventCursor(log, { side: 'source', after: logStart, until: head, signal });
  let events = 0;
  try {
    while (await cursor.next() !== undefined) {
      events += 1;
      progress.advance();
    }
  } catch (error) {
    if (error instanceof LogCopyError) throw new LogCopyError('refused', error.message, { cause: error });
    throw error;
  } finally {
    await cursor.close();
  }
  progress.end();
  return events;
}

/** Whatever was appended to it, a lease's renewal included, says that somebody serves from it. */
async function assertNotGrown(copying: Copying, { head }: Source, kind: 'refused' | 'failed'): Promise<void> {
  if (await patiently(copying, () => copying.source.head()) === head) return;
  throw new LogCopyError(kind, `the source has grown, so a server is running on it: stop all servers and copy again${kind === 'failed' ? '; the events in the target are kept' : ''}`);
}

/** Whoever comes first founds it: a call before this one, whose append came late, or one beside it. */
async function foundCopy(copying: Copying, target: EventLog, source: Founding): Promise<Founding> {
  const { logId, epoch, domain } = source;
  await appendPlatformEvent(target, { type: 'EpochStarted', logId: copying.uuid(), domain, epoch: epoch + 1, reason: 'copied', copyOf: { logId, epoch } }, { ...copying, actor, expected: 'absent' });
  return must(await patiently(copying, () => targetFounding(target, source)), 'it was founded');
}

async function finishCopy(copying: Copying, target: EventLog, { source, begun }: { readonly source: Source; readonly begun: Founding }): Promise<void> {
  if (await appendPlatformEvent(target, { type: 'CopyFinished', events: source.events }, { ...copying, actor, expected: begun.revision })) return;
  const now = await patiently(copying, () => targetFounding(target, source.founding));
  if (now?.finished !== true || now.copied !== source.events) throw new LogCopyError('failed', 'something else writes to the target');
}

type Pair = { readonly source: Source; readonly target: EventLog };

/** Compares what stands in the target with the source's beginning, and appends what comes after it. */
async function copyRest(copying: Copying, { source, target }: Pair): Promise<void> {
  const { source: log, clock, signal, progress, inFlightMax } = copying;
  const events = new EventCursor(log, { side: 'source', after: logStart, until: source.head, signal });
  try {
    const { standing, last, next } = await comparePrefix(copying, { target, events });
    progress.begin('copying', source.events - standing);
    const pipeline = new CopyPipeline({ target, after: last, inFlightMax, clock, signal, onCopied: () => { progress.advance(); } });
    for (let event = next; event !== undefined; event = await events.next()) await pipeline.push(event);
    await pipeline.drain();
    progress.end();
  } finally {
    await events.close();
  }
}

type Standing = { readonly standing: number; readonly last: LogPosition; readonly next: RecordedEvent | undefined };

/** How much of the source stands in the target, where that ends, and the source's first event after it. */
async function comparePrefix(copying: Copying, { target, events }: { readonly target: EventLog; readonly events: EventCursor }): Promise<Standing> {
  const { progress, signal, tell } = copying;
  const head = await patiently(copying, () => target.head());
  const found = new EventCursor(target, { side: 'target', after: logStart, until: head, signal });
  let standing = 0;
  try {
    let copied = await found.next();
    if (copied !== undefined) {
      tell('resuming a copy: comparing the events in the target');
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
  if (original === undefined) throw new LogCopyError('failed', `the target holds more than the source: ${told(copied)}`);
  const difference = differenceOf(original, copied);
  if (difference === undefined) return;
  throw new LogCopyError('failed', `the target differs from the source: ${told(original)} of the source is ${told(copied)} in the target, which differs in ${difference}; empty the target and copy again`);
}

/** Both from their beginnings: the same events in the same order, and no others. */
async function verify(copying: Copying, { source, target }: Pair): Promise<void> {
  const { source: log, progress, signal } = copying;
  progress.begin('verifying', source.events);
  const originals = new EventCursor(log, { side: 'source', after: logStart, until: source.head, signal });
  const copies = new EventCursor(target, { side: 'target', after: logStart, until: await patiently(copying, () => target.head()), signal });
  try {
    for (let copied = await copies.next(); copied !== undefined; copied = await copies.next()) {
      assertSame(await originals.next(), copied);
      progress.advance();
    }
    const missing = await originals.next();
    if (missing !== undefined) throw new LogCopyError('failed', `the target lacks ${told(missing)} of the source`);
  } finally {
    await originals.close();
    await copies.close();
  }
  progress.end();
}

/** Once a copy is under way, a log that is away for a moment is asked again: what ends that is the standstill. */
async function patiently<T>({ clock, signal }: Copying, ask: () => Promise<T>): Promise<T> {
  for (let waitMs = logRetryMsMin; ; waitMs = Math.min(waitMs * 2, logRetryMsMax)) {
    try {
      return await ask();
    } catch (error) {
      if ([LogCopyError, LogCorruptError, LogRefusedError, LogReplacedError, UnsuitableLogError].some((kind) => error instanceof kind)) throw error;
    }
    await delay(clock, waitMs, signal);
    signal.throwIfAborted();
  }
}

/** A log that stops answering is waited for, and said; one that stays away ends the copy, which goes on when it is called again. */
function watchStandstill({ source, clock, tell }: LogCopyOptions, progress: CopyProgress, ending: AbortController): { cancel(): void } {
  let beats = progress.beats;
  let stillMs = 0;
  const everyMs = 5_000;
  const look = (): void => {
    stillMs = progress.beats === beats ? stillMs + everyMs : 0;
    beats = progress.beats;
    if (stillMs >= logCopyStallMs) {
      ending.abort(new LogCopyError('failed', `no progress for ${String(logCopyStallMs / 1_000)} s: run the same command again when both logs answer to resume`));
      return;
    }
    const state = source.state();
    if (stillMs > 0) tell(state.reachable ? 'waiting for the logs' : `waiting for the source: ${state.reason}`);
    timer = clock.after(everyMs, look);
  };
  let timer = clock.after(everyMs, look);
  return { cancel: () => { timer.cancel(); } };
}
