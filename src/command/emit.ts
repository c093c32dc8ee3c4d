import { heldValues } from '../resource/type/held-values.ts';
import { entryOf } from '../resource/type/index-definition.ts';
import { IndexValueError } from '../resource/type/index-values.ts';
import type { IndexEntry } from '../resource/type/index-entry.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { IndexDefinition } from '../resource/type/resource-type.ts';
import type { ObjectEvent } from './event.ts';
import type { Facts } from './facts.ts';
import { invalid, type Refused } from './refuse.ts';

/** A refusal, or the event that stores `object` and contains its unique values. */
export type Emitted =
  | Refused
  | {
      readonly ok: true;
      readonly event: ObjectEvent;
      /**
       * The index entry of the object, so that the fold need not compute the entry again. If undefined, the fold
       * computes it.
       */
      readonly entry: IndexEntry | undefined;
      readonly object: ResourceObject;
      readonly warnings: readonly string[];
      /**
       * The event that removes the object, if the object is marked and has no finalizers. Both events are appended
       * together (decision 3.1). `object` is then the removed object.
       */
      readonly removal?: Removal;
    };

export type Removal = Extract<ObjectEvent, { readonly type: 'ObjectDeleted' }>;

type Declared = Pick<Facts, 'type' | 'onceUnique'>;

type Change = {
  readonly event: 'ObjectCreated' | 'ObjectUpdated' | 'ObjectDeletionRequested' | 'NameFenced';
  readonly object: ResourceObject;
  readonly warnings: readonly string[];
};

/**
 * Returns the event for an object. Refuses the object if any index of the type cannot index it, even if this index is
 * not unique.
 */
export function emit({ type, onceUnique }: Declared, { event, object, warnings }: Change): Emitted {
  try {
    const entry = entryOf(type.indexes, object);
    return {
      ok: true,
      event: { type: event, object, values: heldValues(type.indexes, object, onceUnique) },
      entry,
      object,
      warnings,
    };
  } catch (error) {
    if (!(error instanceof IndexValueError)) throw error;
    return invalid(type, object.metadata.name, [
      {
        pointer: `/${error.index.replaceAll('.', '/')}`,
        detail:
          error.isComputed && type.plugin !== 'platform'
            ? `${error.message} (the plugin ${type.plugin})`
            : error.message,
      },
    ]);
  }
}

/**
 * Returns the event for a marked object or for a fence. Such an event must not be refused: if an index cannot index the
 * object, for example because the index was declared later, the event contains no values of this index.
 */
export function emitLeaving({ type, onceUnique }: Declared, change: Change): Emitted {
  const emitted = emit({ type, onceUnique }, change);
  if (emitted.ok) return emitted;
  const { event, object, warnings } = change;
  const able = type.indexes.filter((index) => takes(index, object));
  return {
    ok: true,
    event: { type: event, object, values: heldValues(able, object, onceUnique) },
    entry: undefined,
    object,
    warnings,
  };
}

/** Adds the event that removes the object, if the object is marked and has no finalizers. */
export function emitRemoved(emitted: Emitted): Emitted {
  if (!emitted.ok || !isRemovable(emitted.object)) return emitted;
  const removal = removalOf(emitted.object);
  return { ...emitted, removal, object: removal.object };
}

export function isRemovable({ metadata: { deletionTimestamp, finalizers } }: ResourceObject): boolean {
  return deletionTimestamp !== undefined && finalizers === undefined;
}

/**
 * Returns the event that removes the object. `object` is the object's state before the removal, so the removal has the
 * next version.
 */
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
