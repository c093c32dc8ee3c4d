import { heldValues } from '../resource/type/held-values.ts';
import { entryOf } from '../resource/type/index-definition.ts';
import { IndexValueError } from '../resource/type/index-values.ts';
import type { IndexEntry } from '../resource/type/index-entry.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { IndexDefinition } from '../resource/type/resource-type.ts';
import type { ObjectEvent } from './event.ts';
import type { Facts } from './facts.ts';
import { invalid, type Refused } from './refuse.ts';

/** The event that stores `object`, with every unique value that the object holds. */
export type Emitted =
  | Refused
  | {
      readonly ok: true;
      readonly event: ObjectEvent;
      /** The object's index entry, so that the fold need not compute it again; undefined if unknown. */
      readonly entry: IndexEntry | undefined;
      readonly object: ResourceObject;
      readonly warnings: readonly string[];
      /**
       * The removal, appended together with `event` if no finalizer holds the object any more (decision 3.1). Its
       * `object` is the removed one.
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

/** Refuses an object that an index cannot hold. This applies to all indexes, not only to unique ones. */
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
 * Writes an object in any case, for an object under deletion or for a fence. If an index cannot hold the object,
 * because it was declared later for example, the object gets no entry.
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

/** Adds the removal of a marked object without finalizers. */
export function emitRemoved(emitted: Emitted): Emitted {
  if (!emitted.ok || !isRemovable(emitted.object)) return emitted;
  const removal = removalOf(emitted.object);
  return { ...emitted, removal, object: removal.object };
}

export function isRemovable({ metadata: { deletionTimestamp, finalizers } }: ResourceObject): boolean {
  return deletionTimestamp !== undefined && finalizers === undefined;
}

/** The removal event that follows the event with `object`. */
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
