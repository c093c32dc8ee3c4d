import type { IndexEntry, IndexKey } from '../src/resource/index-entry.ts';
import { IndexValueError } from '../src/resource/index-definition.ts';
import { timestampMs } from '../src/resource/index-key.ts';
import type { ResourceObject } from '../src/resource/object.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { EntryDecoder, isEntryUnder } from './entry-codec.ts';
import { decodeRow, entryOfRow } from './row.ts';

/** The decoders that share strings among entries, one a type declaration. */
const decoders = new WeakMap<ResourceType, EntryDecoder>();

export function isCurrentEntry(row: Buffer, type: ResourceType): boolean {
  return isEntryUnder(entryOfRow(row), type.fingerprint);
}

/** The index entry kept beside a row; made anew from its answer when it was kept under another declaration of the type. */
export function entryBeside(row: Buffer, type: ResourceType): IndexEntry {
  if (!isCurrentEntry(row, type)) return entryOrEmpty(type, JSON.parse(Buffer.from(decodeRow(row).answer).toString('utf8')) as ResourceObject);
  let decoder = decoders.get(type);
  if (decoder === undefined) {
    decoder = new EntryDecoder();
    decoders.set(type, decoder);
  }
  return decoder.decode(entryOfRow(row));
}

const noKeys: readonly IndexKey[] = [];

/**
 * An event is a fact: an index function that throws today on an object that was accepted once leaves that index without a
 * value, and never stops the fold.
 */
export function entryOrEmpty(type: ResourceType, object: ResourceObject): IndexEntry {
  const { name, creationTimestamp, labels } = object.metadata;
  const keys = type.indexes.map((index) => {
    try {
      return index.keysOf(object);
    } catch (error) {
      if (error instanceof IndexValueError) return noKeys;
      throw error;
    }
  });
  return { name, created: timestampMs(creationTimestamp) ?? 0, labels: labels ?? {}, keys };
}
