import type { IndexEntry } from '../../src/resource/type/index-entry.ts';
import { entryOfFact } from '../../src/resource/type/index-definition.ts';
import type { IndexValueError } from '../../src/resource/type/index-values.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { currentObject } from '../../src/resource/type/versions/shown-version.ts';
import { EntryDecoder, isEntryUnder } from './entry-codec.ts';
import { answerStart, entryOfRow, sourceOfRow } from '../row.ts';

/** One decoder for each declaration of a type, since a decoder shares strings among entries. */
const decoders = new WeakMap<ResourceType, EntryDecoder>();

/** Returns the index entry stored in a row. Computes the entry if the row was stored under another declaration. */
export function entryBeside(row: Buffer, type: ResourceType): IndexEntry {
  return keptEntry(row, type).entry;
}

type KeptEntry =
  | { readonly entry: IndexEntry; readonly current: true }
  /** `answer`: the response that the row must have; undefined if the response equals the source. */
  | { readonly entry: IndexEntry; readonly current: false; readonly answer: Buffer | undefined };

/**
 * Converts the source of a row to the preferred version of its type. `answer` is the JSON of the converted object, or
 * undefined if the conversion changes nothing.
 */
export function presentOf(
  row: Buffer,
  type: ResourceType,
): { readonly object: ResourceObject; readonly answer: Buffer | undefined } {
  const source = JSON.parse(sourceOfRow(row).toString('utf8')) as ResourceObject;
  const object = currentObject(source, type);
  return { object, answer: object === source ? undefined : Buffer.from(JSON.stringify(object)) };
}

/**
 * Returns the index entry stored in a row, or computes the entry if the row was stored under another declaration.
 * `onError` is called for each index with a failing function.
 *
 * With `onError`, an entry that lacks a value because of a failure is also computed again.
 */
export function keptEntry(row: Buffer, type: ResourceType, onError?: (error: IndexValueError) => void): KeptEntry {
  const kept = entryOfRow(row);
  const isCurrent =
    isEntryUnder(kept, type.fingerprint) || (onError === undefined && isEntryUnder(kept, type.fingerprint, false));
  if (!isCurrent) {
    const { object, answer } = presentOf(row, type);
    return { entry: entryOfFact(type.indexes, object, onError), current: false, answer };
  }
  let decoder = decoders.get(type);
  if (decoder === undefined) {
    decoder = new EntryDecoder();
    decoders.set(type, decoder);
  }
  return { entry: decoder.decode(kept), current: true };
}

export function objectOfRow(row: Buffer): ResourceObject {
  return JSON.parse(row.toString('utf8', answerStart(row))) as ResourceObject;
}
