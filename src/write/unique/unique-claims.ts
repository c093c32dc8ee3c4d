import type { HeldValue } from '../../resource/type/held-values.ts';
import { delay, type Clock } from '../../base/clock.ts';
import { claimPendingWaitMs, writeAttemptsMax } from '../../limits/writes.ts';
import type { ClaimEvent, DomainEvent, EventMetadata } from '../../command/event.ts';
import { decodeMetadata, encodeEvent } from '../../log/event-codec.ts';
import {
  ordinal,
  streamName,
  type AppendOutcome,
  type EventLog,
  type ExpectedRevision,
  type LogPosition,
  type RecordedEvent,
  type StreamName,
  type StreamRevision,
} from '../../log/log.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { claimOf, fenceOf, holds } from './claim-events.ts';

/**
 * Claims enforce rules over several streams without transactions (docs/spec/consistency.md, 1). The protocol is
 * model-checked, and every step is needed. The last event of a claim stream contains the stream of the holder, and the
 * highest expected revision of an append by this holder. An object holds a unique value while the object's last event
 * contains the value. A guard is held only while an append is pending.
 */

export type Claim = {
  readonly stream: StreamName;
  /** The object stream, and the expected revision of the append to this stream. */
  readonly me: StreamName;
  readonly base: ExpectedRevision;
  /** Returns whether the last event of an object stream contains the claimed value. */
  readonly holds: (head: RecordedEvent) => boolean;
};

/** A claim of this writer. `revision` and `position` belong to the claim's event. */
export type Claimed = {
  readonly outcome: 'claimed';
  readonly revision: StreamRevision;
  readonly position: LogPosition;
  /** Whether no append of an earlier attempt can succeed under this claim. */
  readonly isSole: boolean;
};

export type ClaimResult =
  | Claimed
  | { readonly outcome: 'taken'; readonly holder: StreamName }
  | { readonly outcome: 'unavailable'; readonly cause: unknown };

export type ClaimsDependencies = {
  readonly log: Pick<EventLog, 'append' | 'readLast'>;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly metadata: () => EventMetadata;
};

export function claimStream(type: TypeKey, value: HeldValue): StreamName {
  return streamName(`claim:${type}/${value.index}/${value.hash}`);
}

/** Claims `value` for an append to `me` that expects `base`. The append may be sent only after the result 'claimed'. */
export async function claimValue(
  dependencies: ClaimsDependencies,
  {
    type,
    value,
    me,
    base,
  }: { readonly type: TypeKey; readonly value: HeldValue; readonly me: StreamName; readonly base: ExpectedRevision },
): Promise<ClaimResult> {
  return claim(dependencies, { stream: claimStream(type, value), me, base, holds: (head) => holds(head, value) });
}

/**
 * Makes a claim. The caller may append to `me` only after the result 'claimed', and only with `base` as the expected
 * revision.
 */
export async function claim(dependencies: ClaimsDependencies, wanted: Claim): Promise<ClaimResult> {
  const { stream, me } = wanted;
  const base = ordinal(wanted.base);
  const waited: Waited = { until: undefined };
  for (let attempt = 0; attempt < writeAttemptsMax * 16;) {
    const last = await dependencies.log.readLast(stream);
    const standing = last === undefined ? undefined : claimOf(last);
    const next = await decideClaim(dependencies, wanted, { standing, waited });
    if (typeof next === 'object') return next;
    // A wait does not count as an attempt, because the writer must be able to wait until the pending append may be
    // fenced.
    if (next === 'wait') continue;
    attempt += 1;
    if (next === 'again') continue;
    const event: ClaimEvent = { type: 'ValueClaimed', holder: me, through: throughOf(standing, me, base) };
    const appended = await append(dependencies, stream, event, last?.revision ?? 'absent');
    if (appended.ok)
      return {
        outcome: 'claimed',
        revision: appended.revision,
        position: appended.position,
        isSole: !isMine(standing, me) || standing.through < base,
      };
    if (appended.reason !== 'conflict') return { outcome: 'unavailable', cause: appended.cause };
  }
  return { outcome: 'unavailable', cause: new Error(`${stream} changed in every attempt to append a claim`) };
}

/**
 * Releases a claim for an append that was never sent, so that the next writer need not wait and fence. Releases only a
 * sole claim that is still the last event, because an append of another attempt could otherwise succeed without a
 * claim. The caller must not release a value that the event at `base` contains.
 */
export async function releaseClaim(
  dependencies: ClaimsDependencies,
  { stream, me, base }: Omit<Claim, 'holds'>,
  { revision, isSole }: Claimed,
): Promise<void> {
  if (isSole)
    await append(dependencies, stream, { type: 'ValueReleased', holder: me, through: ordinal(base) }, revision);
}

/**
 * Returns the highest expected revision of any append under the claim of this holder, including an append at `base`.
 */
function throughOf(standing: ClaimEvent | undefined, me: StreamName, base: number): number {
  return isMine(standing, me) ? Math.max(standing.through, base) : base;
}

function isMine(standing: ClaimEvent | undefined, me: StreamName): standing is ClaimEvent {
  return standing?.type === 'ValueClaimed' && standing.holder === me;
}

/**
 * Returns the stream of another object that holds the value; undefined if no other object holds the value. Appends
 * nothing.
 */
export async function findOtherHolder(
  log: Pick<EventLog, 'readLast'>,
  claimed: { readonly type: TypeKey; readonly value: HeldValue; readonly me: StreamName },
): Promise<StreamName | undefined> {
  const last = await log.readLast(claimStream(claimed.type, claimed.value));
  const standing = last === undefined ? undefined : claimOf(last);
  if (standing?.type !== 'ValueClaimed' || standing.holder === claimed.me) return undefined;
  const holder = streamName(standing.holder);
  const head = await log.readLast(holder);
  return head !== undefined && holds(head, claimed.value) ? holder : undefined;
}

/**
 * Returns the stream of the object that has claimed the value, even if the object does not hold the value; undefined
 * without a claim.
 */
export async function claimantOf(
  log: Pick<EventLog, 'readLast'>,
  { type, value }: { readonly type: TypeKey; readonly value: HeldValue },
): Promise<StreamName | undefined> {
  const last = await log.readLast(claimStream(type, value));
  const standing = last === undefined ? undefined : claimOf(last);
  return standing?.type === 'ValueClaimed' ? streamName(standing.holder) : undefined;
}

export type ClaimReconciliation =
  /** The value is no longer claimed, or the claimant holds the value. */
  | { readonly outcome: 'settled' }
  /**
   * An append of the claimant may succeed later or was just fenced. With `isStale`, the read of the claimant's stream
   * is older than the claim. `claim` is the revision of the claim.
   */
  | { readonly outcome: 'pending'; readonly claim: StreamRevision; readonly isStale: boolean }
  | { readonly outcome: 'unavailable'; readonly cause: unknown };

/** `fenceOf` is the revision of the claim if the append under the claim must be fenced; undefined otherwise. */
type Settlement = {
  readonly stream: StreamName;
  readonly value: HeldValue;
  readonly fenceOf: StreamRevision | undefined;
};

/**
 * Releases the claim of an object that does not hold the value. Keeps the claim while an append of the object may
 * succeed. Performs one step; the caller repeats the call until the result is `settled`.
 */
export async function reconcileClaim(
  dependencies: ClaimsDependencies,
  wanted: Settlement,
): Promise<ClaimReconciliation> {
  const last = await dependencies.log.readLast(wanted.stream);
  const standing = last === undefined ? undefined : claimOf(last);
  if (last === undefined || standing?.type !== 'ValueClaimed') return { outcome: 'settled' };
  const head = await dependencies.log.readLast(streamName(standing.holder));
  if (head !== undefined && holds(head, wanted.value)) return { outcome: 'settled' };
  return settleUnheld(dependencies, wanted, { claim: last.revision, standing, head });
}

type Unheld = {
  readonly claim: StreamRevision;
  readonly standing: ClaimEvent;
  readonly head: RecordedEvent | undefined;
};

async function settleUnheld(
  dependencies: ClaimsDependencies,
  wanted: Settlement,
  { claim: revision, standing: { holder, through }, head }: Unheld,
): Promise<ClaimReconciliation> {
  const reached = ordinal(head?.revision ?? 'absent');
  const pending: ClaimReconciliation = { outcome: 'pending', claim: revision, isStale: reached < through };
  if (reached > through)
    return outcomeOfAppend(
      await append(dependencies, wanted.stream, { type: 'ValueReleased', holder, through }, revision),
      {
        outcome: 'settled',
      },
    );
  if (reached < through || wanted.fenceOf !== revision) return pending;
  return outcomeOfAppend(await appendFence(dependencies, streamName(holder), head), pending);
}

/** A conflict is not a failure, because the next check reads the changed stream. */
function outcomeOfAppend(outcome: AppendOutcome, then: ClaimReconciliation): ClaimReconciliation {
  return outcome.ok || outcome.reason === 'conflict' ? then : { outcome: 'unavailable', cause: outcome.cause };
}

/** Returns the type and the value in the name of a claim stream; undefined for other streams. */
export function claimedValueOf(stream: string): { readonly type: string; readonly value: HeldValue } | undefined {
  const [, type, index, hash] = /^claim:([^/]+)\/(.+)\/([0-9a-f]{64})$/u.exec(stream) ?? [];
  return type === undefined || index === undefined || hash === undefined ? undefined : { type, value: { index, hash } };
}

type Waited = { until: number | undefined };
type ClaimState = { readonly standing: ClaimEvent | undefined; readonly waited: Waited };

async function decideClaim(
  dependencies: ClaimsDependencies,
  wanted: Claim,
  { standing, waited }: ClaimState,
): Promise<'append' | 'wait' | 'again' | ClaimResult> {
  if (standing?.type !== 'ValueClaimed' || standing.holder === wanted.me) return 'append';
  const { log, clock } = dependencies;
  const holder = streamName(standing.holder);
  const head = await log.readLast(holder);
  const revision = head?.revision ?? -1;
  if (head !== undefined && wanted.holds(head)) return { outcome: 'taken', holder };
  if (revision > standing.through) return 'append';
  if (revision === standing.through) return waitThenFence(dependencies, { holder, head }, waited);
  // The holder's stream was read in a state older than the claim. A later read returns newer data.
  await delay(clock, 1);
  return 'again';
}

/** Waits for the pending append of the holder, and fences this append after the time limit. */
async function waitThenFence(
  dependencies: ClaimsDependencies,
  { holder, head }: { readonly holder: StreamName; readonly head: RecordedEvent | undefined },
  waited: Waited,
): Promise<'wait' | 'again' | ClaimResult> {
  const { clock } = dependencies;
  waited.until ??= clock.monotonic() + claimPendingWaitMs;
  if (clock.monotonic() < waited.until) {
    await delay(clock, 5);
    return 'wait';
  }
  waited.until = undefined;
  const fenced = await appendFence(dependencies, holder, head);
  return fenced.ok || fenced.reason === 'conflict' ? 'again' : { outcome: 'unavailable', cause: fenced.cause };
}

/** Appends a fence after `head`. The fence repeats the object of `head`, with its values and declaration. */
export async function appendFence(
  dependencies: Pick<ClaimsDependencies, 'log' | 'uuid' | 'metadata'>,
  holder: StreamName,
  head: RecordedEvent | undefined,
): Promise<AppendOutcome> {
  const { declared: _declared, ...metadata } = dependencies.metadata();
  const before = head === undefined ? undefined : decodeMetadata(head).declared;
  const fence = encodeEvent(
    dependencies.uuid(),
    fenceOf(head),
    before === undefined ? metadata : { ...metadata, declared: before },
  );
  return dependencies.log.append(holder, [fence], head?.revision ?? 'absent');
}

async function append(
  dependencies: ClaimsDependencies,
  stream: StreamName,
  event: DomainEvent,
  expected: ExpectedRevision,
): Promise<AppendOutcome> {
  return dependencies.log.append(stream, [encodeEvent(dependencies.uuid(), event, dependencies.metadata())], expected);
}
