import { claimValue, holderElsewhere, type ClaimResult, type ClaimsDependencies } from '../claims.ts';
import type { EventMetadata, HeldValue, ObjectEvent } from '../command/event.ts';
import { decodeEvent, isObjectEvent } from '../log/event-codec.ts';
import type { ExpectedRevision, StreamName } from '../log/log.ts';
import type { TypeKey } from '../resource/index-entry.ts';

export type ValuesWanted = {
  readonly type: TypeKey;
  readonly me: StreamName;
  /** What the append of `event` will expect. */
  readonly base: ExpectedRevision;
  readonly event: ObjectEvent;
  readonly metadata: EventMetadata;
  /** Only looks whether somebody else has them. */
  readonly dryRun: boolean;
};

export type ValuesRefused = { readonly outcome: 'taken'; readonly value: HeldValue; readonly holder: StreamName } | { readonly outcome: 'unavailable' };

/** Claims every unique value the event newly holds, in sorted order; undefined when its append may go out. */
export async function claimValues(dependencies: Omit<ClaimsDependencies, 'metadata'>, wanted: ValuesWanted): Promise<ValuesRefused | undefined> {
  if (wanted.event.values.length === 0) return undefined;
  const { type, me, base, metadata, dryRun } = wanted;
  for (const value of await newlyHeld(dependencies, wanted)) {
    const claim = { type, value, me, base };
    const result = dryRun ? await looked(dependencies, claim) : await claimValue({ ...dependencies, metadata: () => metadata }, claim);
    if (result.outcome === 'taken') return { outcome: 'taken', value, holder: result.holder };
    if (result.outcome === 'unavailable') return { outcome: 'unavailable' };
  }
  return undefined;
}

async function looked({ log }: Pick<ClaimsDependencies, 'log'>, claim: { readonly type: TypeKey; readonly value: HeldValue; readonly me: StreamName }): Promise<{ readonly outcome: 'free' } | Exclude<ClaimResult, { readonly outcome: 'claimed' }>> {
  const holder = await holderElsewhere(log, claim);
  return holder === undefined ? { outcome: 'free' } : { outcome: 'taken', holder };
}

/**
 * The event's values less those that the event it is based on holds: judged from events, not by running index functions. Where
 * the log's answer is not of that very event (it is stale, or the base is), nothing is known to be held.
 */
async function newlyHeld({ log }: Pick<ClaimsDependencies, 'log'>, { me, base, event }: ValuesWanted): Promise<readonly HeldValue[]> {
  const last = base === 'absent' ? undefined : await log.readLast(me);
  const before = last === undefined || last.revision !== base ? undefined : decodeEvent(last).event;
  if (before === undefined || !isObjectEvent(before)) return event.values;
  const held = new Set(before.values.map(({ index, hash }) => `${index}/${hash}`));
  return event.values.filter(({ index, hash }) => !held.has(`${index}/${hash}`));
}
