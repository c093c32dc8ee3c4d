import { must } from '../base/unreachable.ts';
import { claimStream, claimValue, holderElsewhere, type ClaimResult, type ClaimsDependencies } from '../claims.ts';
import type { EventMetadata, HeldValue, ObjectEvent } from '../command/event.ts';
import { decodeEvent, isObjectEvent } from '../log/event-codec.ts';
import type { ExpectedRevision, StreamName, StreamRevision } from '../log/log.ts';
import type { ObjectReader } from '../read/objects.ts';
import { entryOfFact, heldValue, nameIndex } from '../resource/index-definition.ts';
import type { IndexEntry, IndexKey, TypeKey } from '../resource/index-entry.ts';
import type { ResourceObject } from '../resource/object.ts';
import type { ResourceType } from '../resource/resource-type.ts';
import type { WriterLog } from './append.ts';
import type { Refusal } from './refusals.ts';

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

export type ValuesRefused =
  | { readonly outcome: 'taken'; readonly value: HeldValue; readonly holder: StreamName }
  | { readonly outcome: 'unavailable' }
  | { readonly outcome: 'limited'; readonly refusal: Refusal };

export type ValuesDependencies = Omit<ClaimsDependencies, 'metadata'> & {
  /** Asked before so many claims are appended: why the writer may not. */
  readonly charge: (claims: number) => Refusal | undefined;
};

/** Claims every unique value the event newly holds, in sorted order; undefined when its append may go out. */
export async function claimValues(dependencies: ValuesDependencies, wanted: ValuesWanted): Promise<ValuesRefused | undefined> {
  if (wanted.event.values.length === 0) return undefined;
  const { type, me, base, metadata, dryRun } = wanted;
  const gained = await newlyHeld(dependencies, wanted);
  const refusal = dryRun || gained.length === 0 ? undefined : dependencies.charge(gained.length);
  if (refusal !== undefined) return { outcome: 'limited', refusal };
  for (const value of gained) {
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

export type ValuesGained = {
  readonly type: ResourceType;
  readonly name: string;
  /** The object as the write found it; undefined where there was none. */
  readonly before: ResourceObject | undefined;
  /** Of the object after the write; undefined when unknown. */
  readonly after: IndexEntry | undefined;
};

/** An object that has a value which nobody has claimed, at the revision it was folded up to when it was found. */
export type StoredHolder = { readonly value: HeldValue; readonly name: string; readonly revision: StreamRevision };

type Reader = Pick<ObjectReader, 'holderOf' | 'get'>;

/**
 * Objects that have a value since before its index was unique: no claim was made for them. Of each value that the write newly
 * gains the read model says whether another object has it, and that counts only where the value was never claimed: from its
 * first claim on the claims alone decide (consistency protocol, 1).
 */
export async function storedHolder({ log, reader }: { readonly log: Pick<WriterLog, 'readLast'>; readonly reader: Reader }, gained: ValuesGained): Promise<StoredHolder | undefined> {
  for (const found of holdersElsewhere(reader, gained)) {
    if (await log.readLast(claimStream(gained.type.key, found.value)) === undefined) return found;
  }
  return undefined;
}

/** Each is looked for when it is asked for, so that its revision is of that very turn. */
function* holdersElsewhere(reader: Reader, { type, name, before, after }: ValuesGained): Generator<StoredHolder> {
  for (const [place, index] of type.indexes.entries()) {
    if (!index.unique || index.name === nameIndex) continue;
    for (const key of after?.keys[place] ?? []) {
      const holder = reader.holderOf(type, place, key);
      if (holder === undefined || holder === name || (before !== undefined && hasKey(type, before, { place, key }))) continue;
      const { revision } = must(reader.get(type.key, holder), 'what an index holds is stored');
      yield { value: heldValue(index, key), name: holder, revision };
    }
  }
}

function hasKey(type: ResourceType, object: ResourceObject, { place, key }: { readonly place: number; readonly key: IndexKey }): boolean {
  return entryOfFact(type.indexes, object).keys[place]?.includes(key) === true;
}
