import { answerBytes, decodeEvent, isObjectEvent, type DecodedEvent } from '../src/log/event-codec.ts';
import { LogCorruptError, type RecordedEvent } from '../src/log/log.ts';
import type { Change } from '../src/read/objects.ts';
import { typeKey, type IndexEntry, type TypeKey } from '../src/resource/index-entry.ts';
import { entryOfFact } from '../src/resource/index-definition.ts';
import type { ResourceObject } from '../src/resource/object.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { encodeEntry } from './entry-codec.ts';
import { entryBeside } from './index-entries.ts';
import type { Writer } from './lmdb-tables.ts';
import { decodeRow, encodeRow } from './row.ts';

/** The tables as the fold sees them: rows written earlier in the same transaction included. */
export type Rows = { row(type: TypeKey, name: string): Buffer | undefined };

const unindexed = { after: undefined, entry: new Uint8Array(0) };

/** Writes one event's rows and answers what changed; undefined when no object did (a fence on a name without one). */
export function foldEvent(recorded: RecordedEvent, writer: Writer, known: { readonly rows: Rows; readonly type: (key: TypeKey) => ResourceType | undefined }): Change | undefined {
  const { revision, position } = recorded;
  const { type: key, name } = objectStream(recorded);
  const decoded = decodeEvent(recorded);
  const { event } = decoded;
  if (!isObjectEvent(event)) throw new LogCorruptError(`the object stream ${recorded.stream} holds a ${event.type}`);
  const type = known.type(key);
  const previous = revision === 0 ? undefined : known.rows.row(key, name);
  if (event.type === 'ObjectDeleted' || event.object === undefined) writer.putGone(key, name, revision);
  if (event.object === undefined) return undefined;
  const bytes = answerBytes(decoded, recorded.data, position.toString());
  const marked = marks(event.object);
  const shared = { type: key, name, position, revision, bytes, ...marked, ...before(previous, type) };
  if (event.type === 'ObjectDeleted') return { ...shared, kind: 'deleted', after: undefined };
  const { after, entry } = type === undefined ? unindexed : indexed(decoded, event.object, type);
  writer.putRow(key, name, encodeRow({ position, revision, ...marked, entry, answer: bytes }), { recreated: revision > 0 && previous === undefined });
  return { ...shared, kind: previous === undefined ? 'added' : 'modified', after };
}

function before(previous: Buffer | undefined, type: ResourceType | undefined): Pick<Change, 'before' | 'previousBytes'> {
  if (previous === undefined) return { before: undefined, previousBytes: undefined };
  return { before: type === undefined ? undefined : entryBeside(previous, type), previousBytes: () => decodeRow(previous).answer };
}

/** As the write door found it when it decided on this event, if it was of this very declaration. */
function indexed(decoded: DecodedEvent, object: ResourceObject, type: ResourceType): { readonly after: IndexEntry; readonly entry: Uint8Array } {
  const { fingerprint, indexes } = type;
  const after = decoded.indexed?.fingerprint === fingerprint ? decoded.indexed.entry : entryOfFact(indexes, object);
  return { after, entry: encodeEntry(after, fingerprint) };
}

function marks(object: ResourceObject): { readonly deletionRequested: boolean; readonly finalizers: boolean } {
  return { deletionRequested: object.metadata.deletionTimestamp !== undefined, finalizers: object.metadata.finalizers !== undefined };
}

/** `object:<plural>.<group>/<name>` taken apart. */
function objectStream({ stream }: RecordedEvent): { readonly type: TypeKey; readonly name: string } {
  const slash = stream.indexOf('/');
  if (!stream.startsWith('object:') || slash === -1) throw new LogCorruptError(`${stream} is no object's stream`);
  return { type: typeKey(stream.slice('object:'.length, slash)), name: stream.slice(slash + 1) };
}

