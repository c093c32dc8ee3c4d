import { heldValues } from '../resource/held-values.ts';
import { entryOf } from '../resource/type/index-definition.ts';
import { IndexValueError } from '../resource/index-values.ts';
import type { IndexEntry } from '../resource/type/index-entry.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { IndexDefinition } from '../resource/type/resource-type.ts';
import type { ObjectEvent } from './event.ts';
import type { Facts } from './facts.ts';
import { invalid, type Refused } from './refuse.ts';

/** The event that makes `object` what is stored, with every unique value it holds. */
export type Emitted = Refused | {
  readonly ok: true;
  readonly event: ObjectEvent;
  /** What the object contributes to its type's indexes, so that the fold need not find it out again; undefined when unknown. */
  readonly entry: IndexEntry | undefined;
  readonly object: ResourceObject;
  readonly warnings: readonly string[];
  /** Appended together with `event`, as nothing holds the object after it (decision 3.1); `object` is the removed one. */
  readonly removal?: Removal;
};

export type Removal = Extract<ObjectEvent, { readonly type: 'ObjectDeleted' }>;

type Declared = Pick<Facts, 'type' | 'onceUnique'>;

type Change = {
  readonly event: 'ObjectCreated' | 'ObjectUpdated' | 'ObjectDeletionRequested' | 'NameFenced';
  readonly object: ResourceObject;
  readonly warnings: readonly string[];
};

/** Refuses what an index cannot take: every one must be able to, not only the unique ones whose values are claimed. */
export function emit({ type, onceUnique }: Declared, { event, object, warnings }: Change): Emitted {
  try {
    const entry = entryOf(type.indexes, object);
    return { ok: true, event: { type: event, object, values: heldValues(type.indexes, object, onceUnique) }, entry, object, warnings };
  } catch (error) {
    if (!(error instanceof IndexValueError)) throw error;
    return invalid(type, object.metadata.name, [{ pointer: `/${error.index.replaceAll('.', '/')}`, detail: error.isComputed && type.plugin !== 'platform' ? `${error.message} (the plugin ${type.plugin})` : error.message }]);
  }
}

/** What is on its way out can always go, and what stands can be repeated: an index that cannot take it, as one declared since may be, holds nothing of it. */
export function emitLeaving({ type, onceUnique }: Declared, change: Change): Emitted {
  const emitted = emit({ type, onceUnique }, change);
  if (emitted.ok) return emitted;
  const { event, object, warnings } = change;
  const able = type.indexes.filter((index) => takes(index, object));
  return { ok: true, event: { type: event, object, values: heldValues(able, object, onceUnique) }, entry: undefined, object, warnings };
}

/** With the removal of an object that is marked and held by nothing. */
export function emitRemoved(emitted: Emitted): Emitted {
  if (!emitted.ok || !isRemovable(emitted.object)) return emitted;
  const removal = removalOf(emitted.object);
  return { ...emitted, removal, object: removal.object };
}

export function isRemovable({ metadata: { deletionTimestamp, finalizers } }: ResourceObject): boolean {
  return deletionTimestamp !== undefined && finalizers === undefined;
}

/** The event after the one that left `object` as it is. */
export function removalOf(object: ResourceObject): Removal {
  const { metadata } = object;
  const removed = { ...object, metadata: { ...metadata, version: metadata.version + 1 } };
  return { type: 'ObjectDeleted', object: removed, values: [] };
}

function takes(index: IndexDefinition, object: ResourceObject): boolean {
  try {
    index.keysOf(object);
    return true;
  } catch (error) {
    if (error instanceof IndexValueError) return false;
    throw error;
  }
}
