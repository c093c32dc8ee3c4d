import { heldValues } from '../resource/type/held-values.ts';
import { entryOf, entryOfFact } from '../resource/type/index-definition.ts';
import { IndexValueError } from '../resource/type/index-values.ts';
import type { IndexEntry } from '../resource/type/index-entry.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ObjectEvent } from './event.ts';
import type { Facts } from './facts.ts';
import { invalid, type Refused } from './refuse.ts';

/** A refusal, or the event that stores `object` and contains its unique values. */
export type Emitted =
  | Refused
  | {
      readonly ok: true;
      readonly event: ObjectEvent;
      /** The index entry of the object; undefined if the fold must compute the entry. */
      readonly entry: IndexEntry | undefined;
      readonly object: ResourceObject;
      readonly warnings: readonly string[];
      /**
       * The event that removes a marked object without finalizers. Both events are appended together (decision 3.1),
       * and `object` is the removed object.
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

/** Returns the event for an object. Refuses an object that some index of the type cannot index. */
export function emit({ type, onceUnique }: Declared, { event, object, warnings }: Change): Emitted {
  try {
    const entry = entryOf(type.indexes, object);
    return {
      ok: true,
      event: { type: event, object, values: heldValues(type.indexes, entry.keys, onceUnique) },
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
 * Returns the event for a marked object or a fence. Such an event is never refused: the event contains no values of an
 * index that cannot index the object.
 */
export function emitLeaving({ type, onceUnique }: Declared, change: Change): Emitted {
  const emitted = emit({ type, onceUnique }, change);
  if (emitted.ok) return emitted;
  const { event, object, warnings } = change;
  const { keys } = entryOfFact(type.indexes, object);
  return {
    ok: true,
    event: { type: event, object, values: heldValues(type.indexes, keys, onceUnique) },
    entry: undefined,
    object,
    warnings,
  };
}

/** Adds the event that removes the object, for a marked object without finalizers. */
export function emitRemoved(emitted: Emitted): Emitted {
  if (!emitted.ok || !isRemovable(emitted.object)) return emitted;
  const removal = removalOf(emitted.object);
  return { ...emitted, removal, object: removal.object };
}

export function isRemovable({ metadata: { deletionTimestamp, finalizers } }: ResourceObject): boolean {
  return deletionTimestamp !== undefined && finalizers === undefined;
}

/** Returns the event that removes an object. The removal has the next version. */
export function removalOf(object: ResourceObject): Removal {
  const { metadata } = object;
  const removed = { ...object, metadata: { ...metadata, version: metadata.version + 1 } };
  return { type: 'ObjectDeleted', object: removed, values: [] };
}
