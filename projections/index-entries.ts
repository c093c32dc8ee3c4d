import type { IndexEntry } from '../src/resource/index-entry.ts';
import { entryOfFact } from '../src/resource/index-definition.ts';
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
  if (!isCurrentEntry(row, type)) return entryOfFact(type.indexes, JSON.parse(Buffer.from(decodeRow(row).answer).toString('utf8')) as ResourceObject);
  let decoder = decoders.get(type);
  if (decoder === undefined) {
    decoder = new EntryDecoder();
    decoders.set(type, decoder);
  }
  return decoder.decode(entryOfRow(row));
}
