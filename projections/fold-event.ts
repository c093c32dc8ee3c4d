import { answerBytes, decodeEvent, isObjectEvent } from '../src/log/event-codec.ts';
import { LogCorruptError, type RecordedEvent } from '../src/log/log.ts';
import type { Change } from '../src/read/objects.ts';
import type { TypeKey } from '../src/resource/index-entry.ts';
import type { ResourceObject } from '../src/resource/object.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { encodeEntry } from './entry-codec.ts';
import { entryBeside, entryOrEmpty } from './index-entries.ts';
import type { Writer } from './lmdb-tables.ts';
import { decodeRow, encodeRow } from './row.ts';

/** The tables as the fold sees them: rows written earlier in the same transaction included. */
export type Rows = { row(type: TypeKey, name: string): Buffer | undefined };

const none = new Uint8Array(0);

/** Writes one event's rows and answers what changed; undefined when no object did (a fence on a name without one). */
export function foldEvent(recorded: RecordedEvent, writer: Writer, known: { readonly rows: Rows; readonly type: (key: TypeKey) => ResourceType | undefined }): Change | undefined {
  const { type: key, name } = objectStream(recorded);
  const decoded = decodeEvent(recorded);
  const { event } = decoded;
  if (!isObjectEvent(event)) throw new LogCorruptError(`the object stream ${recorded.stream} holds a ${event.type}`);
  const type = known.type(key);
  const previous = recorded.revision === 0 ? undefined : known.rows.row(key, name);
  const before = previous === undefined || type === undefined ? undefined : entryBeside(previous, type);
  const at = { position: recorded.position, revision: recorded.revision };
  if (event.object === undefined) {
    writer.putGone(key, name, recorded.revision);
    return undefined;
  }
  const bytes = answerBytes(decoded, recorded.data, recorded.position.toString());
  const previousBytes = previous === undefined ? undefined : (): Uint8Array => decodeRow(previous).answer;
  const shared = { type: key, name, ...at, bytes, before, previousBytes, ...marks(event.object) };
  if (event.type === 'ObjectDeleted') {
    writer.putGone(key, name, recorded.revision);
    return { ...shared, kind: 'deleted', after: undefined };
  }
  const after = type === undefined ? undefined : entryOrEmpty(type, event.object);
  const entry = type === undefined || after === undefined ? none : encodeEntry(after, type.fingerprint);
  writer.putRow(key, name, encodeRow({ ...at, ...marks(event.object), entry, answer: bytes }), { recreated: recorded.revision > 0 && previous === undefined });
  return { ...shared, kind: previous === undefined ? 'added' : 'modified', after };
}

function marks(object: ResourceObject): { readonly deletionRequested: boolean; readonly finalizers: boolean } {
  return { deletionRequested: object.metadata.deletionTimestamp !== undefined, finalizers: object.metadata.finalizers !== undefined };
}

/** `object:<plural>.<group>/<name>` taken apart. */
function objectStream({ stream }: RecordedEvent): { readonly type: TypeKey; readonly name: string } {
  const slash = stream.indexOf('/');
  if (!stream.startsWith('object:') || slash === -1) throw new LogCorruptError(`${stream} is no object's stream`);
  return { type: stream.slice('object:'.length, slash) as TypeKey, name: stream.slice(slash + 1) };
}

