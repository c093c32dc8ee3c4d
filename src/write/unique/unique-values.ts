import type { HeldValue } from '../../resource/type/held-values.ts';
import { must } from '../../base/unreachable.ts';
import {
  claimantOf,
  claimStream,
  claimValue,
  releaseClaim,
  findOtherHolder,
  type Claimed,
  type ClaimResult,
  type ClaimsDependencies,
} from './unique-claims.ts';
import type { EventMetadata, ObjectEvent } from '../../command/event.ts';
import { decodeEvent, decodeMetadata, isObjectEvent } from '../../log/event-codec.ts';
import type { ExpectedRevision, RecordedEvent, StreamName, StreamRevision } from '../../log/log.ts';
import { isEnforced } from '../../read/declarations.ts';
import type { ObjectReader } from '../../read/objects.ts';
import { heldValue, valuesOfFact } from '../../resource/type/held-values.ts';
import { entryOfFact, nameIndex } from '../../resource/type/index-definition.ts';
import type { IndexEntry, IndexKey } from '../../resource/type/index-entry.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { IndexDefinition, ResourceType } from '../../resource/type/resource-type.ts';
import type { WriterLog } from '../retrying-log.ts';
import type { DecidedBy } from '../declared.ts';
import type { Refusal } from '../refusals.ts';
import { streamOf } from '../target.ts';

export type ValuesWanted = {
  readonly type: Pick<ResourceType, 'key' | 'indexes'>;
  readonly me: StreamName;
  /** The expected revision of the append of `event`. */
  readonly base: ExpectedRevision;
  readonly event: ObjectEvent;
  readonly metadata: EventMetadata;
  /** The declaration by which the event was decided. */
  readonly by?: DecidedBy;
  /** If true, only checks whether another object has the values, and claims nothing. */
  readonly dryRun: boolean;
  /**
   * Returns whether the object may be written without a value that another object has claimed. If undefined, no value
   * may be missing.
   */
  readonly mayLack?: ((value: HeldValue) => boolean) | undefined;
};

/** The append may be sent. Other objects hold the values in `lacking`, which the event must not contain. */
export type ValuesClaimed = { readonly outcome: 'claimed'; readonly lacking: readonly HeldValue[] };

export type ValuesRefused =
  | { readonly outcome: 'taken'; readonly value: HeldValue; readonly holder: StreamName }
  | { readonly outcome: 'unavailable' }
  | { readonly outcome: 'limited'; readonly refusal: Refusal };

export type ValuesDependencies = Omit<ClaimsDependencies, 'metadata'> & {
  /** Called before claims are appended, with their number. Returns a refusal if the writer's limits are exceeded. */
  readonly charge: (claims: number) => Refusal | undefined;
  /** Charges the release of claims. A release cannot be refused, because other writers would have to wait. */
  readonly owe: (claims: number) => void;
};

const allClaimed: ValuesClaimed = { outcome: 'claimed', lacking: [] };

/**
 * Claims the unique values that the event adds. A dry run only checks the values. If one value is refused, the claims
 * of this call are released, except for claims under which another append may succeed.
 */
export function claimValues(
  dependencies: ValuesDependencies,
  wanted: ValuesWanted,
): ValuesClaimed | Promise<ValuesClaimed | ValuesRefused> {
  return wanted.event.values.length === 0 ? allClaimed : claimGained(dependencies, wanted);
}

async function claimGained(
  dependencies: ValuesDependencies,
  wanted: ValuesWanted,
): Promise<ValuesClaimed | ValuesRefused> {
  const { dryRun } = wanted;
  const gained = await newlyHeld(dependencies, wanted);
  if (gained.values.length === 0) return allClaimed;
  if (dryRun) return checkAll(dependencies, gained.values, wanted);
  const refusal = dependencies.charge(gained.values.length);
  return refusal === undefined ? claimAll(dependencies, gained, wanted) : { outcome: 'limited', refusal };
}

async function claimAll(
  dependencies: ValuesDependencies,
  gained: Gained,
  wanted: ValuesWanted,
): Promise<ValuesClaimed | ValuesRefused> {
  const {
    type: { key: type },
    me,
    base,
    metadata,
    mayLack,
  } = wanted;
  const claims: ClaimsDependencies = { ...dependencies, metadata: () => metadata };
  const made: Made[] = [];
  const lacking: HeldValue[] = [];
  let isWhole = false;
  try {
    for (const value of gained.values) {
      const result = await claimValue(claims, { type, value, me, base });
      if (result.outcome === 'claimed') made.push({ value, stream: claimStream(type, value), claimed: result });
      else if (result.outcome === 'taken' && mayLack?.(value) === true) lacking.push(value);
      else return refusedBy(result, value);
    }
    isWhole = true;
    return { outcome: 'claimed', lacking };
  } finally {
    if (!isWhole)
      await giveUpAll(claims, {
        made: made.filter(({ value }) => gained.mayGiveUp(value)),
        wanted,
        owe: dependencies.owe,
      });
  }
}

type Made = { readonly value: HeldValue; readonly stream: StreamName; readonly claimed: Claimed };

type GivingUp = {
  readonly made: readonly Made[];
  readonly wanted: ValuesWanted;
  readonly owe: ValuesDependencies['owe'];
};

/**
 * Releases the claims under which no earlier attempt can append. A failure is harmless, because another writer of the
 * value waits and then fences.
 */
async function giveUpAll(claims: ClaimsDependencies, { made, wanted: { me, base }, owe }: GivingUp): Promise<void> {
  const sole = made.filter(({ claimed }) => claimed.isSole);
  if (sole.length > 0) owe(sole.length);
  await Promise.allSettled(
    sole.map(async ({ stream, claimed }) => releaseClaim(claims, { stream, me, base }, claimed)),
  );
}

async function checkAll(
  { log }: Pick<ClaimsDependencies, 'log'>,
  values: readonly HeldValue[],
  { type: { key: type }, me, mayLack }: ValuesWanted,
): Promise<ValuesClaimed | ValuesRefused> {
  for (const value of values) {
    const holder = await findOtherHolder(log, { type, value, me });
    if (holder !== undefined && mayLack?.(value) !== true) return { outcome: 'taken', value, holder };
  }
  return allClaimed;
}

function refusedBy(result: Exclude<ClaimResult, Claimed>, value: HeldValue): ValuesRefused {
  return result.outcome === 'taken' ? { outcome: 'taken', value, holder: result.holder } : { outcome: 'unavailable' };
}

/**
 * The values to claim. `mayGiveUp` returns whether a claim of the value may be released, because the base event does
 * not contain the value.
 */
type Gained = { readonly values: readonly HeldValue[]; readonly mayGiveUp: (value: HeldValue) => boolean };

/**
 * Returns the values of the event that need a claim: all values except the values that the base event contains and that
 * have a claim. A value has no claim if it was stored before the index became unique, or if an older index function
 * computed it. Returns all values if the object's last event in the log is not the base.
 */
async function newlyHeld(
  { log }: Pick<ClaimsDependencies, 'log'>,
  { type, me, base, event, by }: ValuesWanted,
): Promise<Gained> {
  const values = event.values.filter(({ index }) => type.indexes.some(({ name, unique }) => unique && name === index));
  if (base === 'absent' || values.length === 0) return { values, mayGiveUp: () => true };
  const last = await log.readLast(me);
  const before = last?.revision === base ? decodeEvent(last).event : undefined;
  if (before === undefined || !isObjectEvent(before)) return { values, mayGiveUp: () => false };
  const held = new Set(before.values.map(textOf));
  const isClaimed = claimedOf(must(last, 'its event was decoded'), by);
  return {
    values: values.filter((value) => !held.has(textOf(value)) || !isClaimed(value)),
    mayGiveUp: (value) => !held.has(textOf(value)),
  };
}

function textOf({ index, hash }: HeldValue): string {
  return `${index}/${hash}`;
}

/** Returns a function that tests whether a value of an event had a claim when the event was appended. */
function claimedOf(recorded: RecordedEvent, by: DecidedBy): (value: HeldValue) => boolean {
  if (by === undefined || Object.keys(by.since).every((index) => isEnforced(by, index))) return () => true;
  const { declared = -1 } = decodeMetadata(recorded);
  return ({ index }) => declared >= (by.since[index] ?? 0) || isEnforced(by, index);
}

/**
 * Returns a function that tests whether a marked object had a value before the write. The write may drop such a value.
 * Returns undefined for an object that is not marked.
 */
export function heldOnItsWayOut(
  type: Pick<ResourceType, 'indexes'>,
  before: ResourceObject | undefined,
  after: ResourceObject,
): ValuesWanted['mayLack'] {
  if (before === undefined || after.metadata.deletionTimestamp === undefined) return undefined;
  let had: ReadonlySet<string> | undefined;
  return (value) => {
    had ??= new Set(valuesOfFact(type.indexes, before).map(textOf));
    return had.has(textOf(value));
  };
}

export type ValuesGained = {
  readonly type: ResourceType;
  readonly name: string;
  /** The object before the write; undefined for a new object. */
  readonly before: ResourceObject | undefined;
  /** The index entry after the write; undefined if unknown. */
  readonly after: IndexEntry | undefined;
  readonly by: DecidedBy;
};

/** An object with the value, and the object's revision at which the value was found. */
export type StoredHolder = { readonly value: HeldValue; readonly name: string; readonly revision: StreamRevision };

type Reader = Pick<ObjectReader, 'holderOf' | 'get'>;
type HolderPorts = { readonly log: Pick<WriterLog, 'readLast'>; readonly reader: Reader };

/**
 * Returns another object that has one of the added values without a claim; undefined without such an object. Until a
 * unique index is enforced, objects from before may have values without claims. The object is found in the read model,
 * so the caller must confirm the returned revision by a read of the log (docs/spec/consistency.md, 1).
 */
export function storedHolder(ports: HolderPorts, gained: ValuesGained): Promise<StoredHolder | undefined> | undefined {
  return gained.type.indexes.some((index) => mayBeUnclaimed(index, gained.by))
    ? findStoredHolder(ports, gained)
    : undefined;
}

async function findStoredHolder({ log, reader }: HolderPorts, gained: ValuesGained): Promise<StoredHolder | undefined> {
  for (const found of otherHolders(reader, gained)) {
    const claimant = await claimantOf(log, { type: gained.type.key, value: found.value });
    if (claimant !== streamOf(gained.type, found.name)) return found;
  }
  return undefined;
}

/**
 * Yields the other holders. Each holder is read in the turn in which the caller consumes it, so its revision is
 * current.
 */
function* otherHolders(reader: Reader, { type, name, before, after, by }: ValuesGained): Generator<StoredHolder> {
  for (const [place, index] of type.indexes.entries()) {
    if (!mayBeUnclaimed(index, by)) continue;
    for (const key of after?.keys[place] ?? []) {
      const holder = reader.holderOf(type, place, key);
      if (holder === undefined || holder === name || (before !== undefined && hasKey(type, before, { place, key })))
        continue;
      const { revision } = must(reader.get(type.key, holder), 'an indexed object is stored');
      yield { value: heldValue(index, key), name: holder, revision };
    }
  }
}

function mayBeUnclaimed({ name, unique }: IndexDefinition, by: DecidedBy): boolean {
  return unique && name !== nameIndex && (by === undefined || !isEnforced(by, name));
}

function hasKey(
  type: ResourceType,
  object: ResourceObject,
  { place, key }: { readonly place: number; readonly key: IndexKey },
): boolean {
  return entryOfFact(type.indexes, object).keys[place]?.includes(key) === true;
}
