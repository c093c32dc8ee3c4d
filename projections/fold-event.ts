import {
  correlationIn,
  decodeEvent,
  isObjectEvent,
  releaseDecoded,
  requestIn,
  type DecodedEvent,
} from '../src/log/event-codec.ts';
import { referencesOf } from '../src/log/event-references.ts';
import type { DomainEvent } from '../src/command/event.ts';
import { LogCorruptError, LogReplacedError } from '../src/log/log.ts';
import type { LogIdentity, RecordedEvent, StreamName, StreamRevision } from '../src/log/log.ts';
import type { Change } from '../src/read/objects.ts';
import { typeKey, type IndexEntry, type TypeKey } from '../src/resource/type/index-entry.ts';
import { entryOfFact } from '../src/resource/type/index-definition.ts';
import type { ResourceObject } from '../src/resource/object/object.ts';
import type { ResourceType } from '../src/resource/type/resource-type.ts';
import { currentObject } from '../src/resource/type/versions/shown-version.ts';
import type { DeclarationsBatch, Written } from './declarations.ts';
import { encodeEntry } from './index/entry-codec.ts';
import { contentOf, presentObject } from './index/event-content.ts';
import { entryBeside } from './index/index-entries.ts';
import type { LevelBatch } from './level.ts';
import type { Writer } from './lmdb-tables.ts';
import { foldIntent, type IntentWriter } from './references/fold-intent.ts';
import { foldReferences, type RowAfter } from './references/fold-references.ts';
import { declaredOf, decodeRow, encodeRow, revisionOf } from './row.ts';

/** The tables during a fold, including the rows that the same transaction has already written. */
export type Rows = {
  row(type: TypeKey, name: string): Buffer | undefined;
  deletedAt(type: TypeKey, name: string): StreamRevision | undefined;
} & StreamRows;

/** The part of the tables that the fold reads for an event of a stream without objects. */
export type StreamRows = {
  isEmpty(type: TypeKey): boolean;
  head(stream: StreamName): StreamRevision | undefined;
};

const unindexed = { after: undefined, entry: new Uint8Array(0) };

export type FoldContext = {
  readonly rows: Rows;
  readonly type: (key: TypeKey) => ResourceType | undefined;
  readonly identity: LogIdentity;
  readonly declarations: DeclarationsBatch;
  readonly level: LevelBatch;
};

/** The categories of streams that are folded. A category is the part of a stream's name before the colon. */
export const foldedCategories = ['object', 'secret', 'platform', 'guard', 'type', 'unique', 'ref', 'closing'];

/** Events that change nothing in the tables except the last revision of their stream. */
const withoutEffect: ReadonlySet<DomainEvent['type']> = new Set([
  'CopyFinished',
  'ValueClaimed',
  'ValueReleased',
  'TreeHead',
  'KeyOffered',
  'KeySigned',
]);

/**
 * Writes the effects of one event. Returns the change of an object, or undefined if no object changed.
 *
 * @throws LogCorruptError if the event does not belong to its stream or does not have the stream's next revision.
 *
 * @throws LogReplacedError if the event starts a newer epoch, or names another log.
 */
export function foldEvent(recorded: RecordedEvent, writer: Writer, known: FoldContext): Change | undefined {
  if (isOfObject(recorded)) {
    const change = foldObject(recorded, writer, known);
    releaseDecoded(recorded);
    return change;
  }
  foldOther(recorded, writer, known);
  return undefined;
}

export function isOfObject({ stream }: RecordedEvent): boolean {
  return stream.startsWith('object:');
}

type OtherWriter = Pick<Writer, 'putHead' | 'putPasswordHash' | 'putTokenDigest'> & IntentWriter;
export type OtherContext = Omit<FoldContext, 'rows' | 'type'> & { readonly rows: StreamRows };

/** Folds an event of a stream without objects. */
export function foldOther(recorded: RecordedEvent, writer: OtherWriter, known: OtherContext): void {
  const { event } = decodeEvent(recorded);
  assertFollows(recorded, known.rows.head(recorded.stream));
  writer.putHead(recorded.stream, recorded.revision);
  switch (event.type) {
    case 'PasswordSet':
      writer.putPasswordHash(uidOf(recorded), recorded.revision, event.hash);
      return;
    case 'TokenIssued':
      writer.putTokenDigest(uidOf(recorded), event.digest);
      return;
    case 'EpochStarted':
      assertSameEpoch(event, known.identity);
      return;
    case 'LevelRaised':
      known.level.raise(event.level);
      return;
    case 'TypeDeclared': {
      const { type: _type, ...declaration } = event;
      const type = typeOfStream(recorded, 'type:');
      known.declarations.declare(type, { revision: recorded.revision, declaration }, known.rows.isEmpty(type));
      return;
    }
    case 'UniqueEnforced':
      known.declarations.enforce(typeOfStream(recorded, 'unique:'), event);
      return;
    case 'ReferencesIntended':
    case 'DeletionIntended':
    case 'IntentWithdrawn':
      foldIntent(recorded, event, writer);
      return;
    default:
      if (withoutEffect.has(event.type)) return;
      throw new LogCorruptError(
        `${recorded.stream} contains a ${event.type} event, which does not belong to this stream`,
      );
  }
}

/**
 * @throws LogCorruptError if the event does not have the stream's next revision. Streams of folded categories are never
 * truncated, so a gap means that the log was changed (docs/spec/consistency.md, 8).
 */
export function assertFollows({ stream, revision, position }: RecordedEvent, before: StreamRevision | undefined): void {
  const expected = before === undefined ? 0 : before + 1;
  if (revision === expected) return;
  const [found, wanted] = [
    `revision ${String(revision)} at position ${position.toString()}`,
    `revision ${String(expected)}`,
  ];
  throw new LogCorruptError(`${stream} has ${found}, but ${wanted} was expected`);
}

/** @throws LogReplacedError if the log may lack events that were folded, so that the fold must start again. */
function assertSameEpoch({ logId, epoch }: LogIdentity, known: LogIdentity): void {
  if (epoch > known.epoch || (epoch === known.epoch && logId !== known.logId))
    throw new LogReplacedError(
      `epoch ${String(epoch)} of log ${logId} has begun, but this node follows epoch ${String(known.epoch)} of log ` +
        known.logId,
    );
}

function typeOfStream(recorded: RecordedEvent, category: string): TypeKey {
  return typeKey(nameIn(recorded, category));
}

function nameIn({ stream, type }: RecordedEvent, category: string): string {
  if (!stream.startsWith(category))
    throw new LogCorruptError(`${stream} contains a ${type} event, which does not belong to this stream`);
  return stream.slice(category.length);
}

function uidOf(recorded: RecordedEvent): string {
  return nameIn(recorded, 'secret:');
}

/** Returns the object's change, or undefined for a fence on a name without an object. */
function foldObject(recorded: RecordedEvent, writer: Writer, known: FoldContext): Change | undefined {
  const { revision, position } = recorded;
  const { type: key, name } = objectStream(recorded);
  const decoded = decodeEvent(recorded);
  const { event } = decoded;
  if (!isObjectEvent(event))
    throw new LogCorruptError(
      `${recorded.stream} contains a ${event.type} event, which does not belong to this stream`,
    );
  const type = known.type(key);
  const previous = known.rows.row(key, name);
  assertFollows(recorded, previous === undefined ? known.rows.deletedAt(key, name) : revisionOf(previous));
  known.declarations.recordValues(key, event.values);
  // A fence on a name without an object is recorded like a deletion, because the name's next event must follow the
  // fence's revision.
  if (event.type === 'ObjectDeleted' || event.object === undefined) writer.putDeleted(key, name, revision);
  foldReferences(event, { type: key, name, revision, previous }, writer);
  if (event.object === undefined) return undefined;
  const object = presentObject(event.object, decoded, type);
  const content = contentOf(recorded, decoded, { written: event.object, object });
  const { declared, answer: bytes, deletionRequested, finalizers } = content;
  const cause = { id: recorded.id, correlationId: correlationIn(recorded) };
  const flags = { requestId: requestIn(recorded), deletionRequested, finalizers };
  const shared = { type: key, name, position, revision, cause, bytes, ...flags, ...stateBefore(previous, type) };
  if (event.type === 'ObjectDeleted') {
    writer.dropSecrets(event.object.metadata.uid);
    const change: Change = { ...shared, kind: 'deleted', after: undefined };
    return type === undefined ? withLateEntries(change, { object: undefined, previous, known }) : change;
  }
  recordWrite(recorded, { type: key, name, declared, row: writtenRow(previous) }, known.declarations);
  const { after, entry } = type === undefined ? unindexed : indexed(decoded, object, type);
  writer.putRow(key, name, encodeRow({ ...content, entry }), { recreated: revision > 0 && previous === undefined });
  const change: Change = { ...shared, kind: previous === undefined ? 'added' : 'modified', after };
  return type === undefined ? withLateEntries(change, { object: event.object, previous, known }) : change;
}

/**
 * Returns the row and the references of the object that an event contains. The row has no index entry. Returns
 * undefined if the event contains no object.
 */
export function rowAfter(recorded: RecordedEvent): RowAfter | undefined {
  const decoded = decodeEvent(recorded);
  const { event } = decoded;
  if (!isObjectEvent(event) || event.object === undefined) return undefined;
  const contained = { written: event.object, object: event.object };
  const row = encodeRow({ ...contentOf(recorded, decoded, contained), entry: unindexed.entry });
  return { row, refs: referencesOf(event) };
}

function writtenRow(row: Buffer | undefined): Written['row'] {
  return row === undefined ? undefined : { declared: declaredOf(row) };
}

type Stored = Pick<Written, 'name' | 'declared' | 'row'> & { readonly type: TypeKey };

/** Records a write after which the object exists. */
export function recordWrite(
  { type: event, endsAppend }: RecordedEvent,
  { type, ...stored }: Stored,
  declarations: DeclarationsBatch,
): void {
  // An event that does not end its append is followed by the deletion of the object in the same append. The state in
  // between is never visible.
  if (!endsAppend || declarations.isCurrent(type, stored.declared)) return;
  declarations.recordWrite(type, { ...stored, isFence: event === 'NameFenced' });
}

type Unregistered = {
  readonly object: ResourceObject | undefined;
  readonly previous: Buffer | undefined;
  readonly known: FoldContext;
};

/** Computes the index entries on demand, since a plugin may register the type before a watcher reads the change. */
function withLateEntries(change: Change, { object, previous, known }: Unregistered): Change {
  return {
    ...change,
    get before() {
      const type = known.type(change.type);
      return type === undefined || previous === undefined ? undefined : entryBeside(previous, type);
    },
    get after() {
      const type = known.type(change.type);
      return type === undefined || object === undefined
        ? undefined
        : entryOfFact(type.indexes, currentObject(object, type));
    },
  };
}

function stateBefore(
  previous: Buffer | undefined,
  type: ResourceType | undefined,
): Pick<Change, 'before' | 'previousBytes'> {
  if (previous === undefined) return { before: undefined, previousBytes: undefined };
  return {
    before: type === undefined ? undefined : entryBeside(previous, type),
    previousBytes: () => decodeRow(previous).answer,
  };
}

/**
 * Returns the object's index entry. Reuses the entry of the write if this process wrote the event under the same
 * declaration.
 */
function indexed(
  decoded: DecodedEvent,
  object: ResourceObject,
  type: ResourceType,
): { readonly after: IndexEntry; readonly entry: Uint8Array } {
  const { fingerprint, indexes } = type;
  let failures = 0;
  const after =
    decoded.indexed?.fingerprint === fingerprint
      ? decoded.indexed.entry
      : entryOfFact(indexes, object, () => {
          failures += 1;
        });
  return { after, entry: encodeEntry(after, fingerprint, failures === 0) };
}

/**
 * Splits `object:<plural>.<group>/<name>`.
 *
 * @throws LogCorruptError for any other name of a stream.
 */
export function objectStream({ stream }: RecordedEvent): { readonly type: TypeKey; readonly name: string } {
  const slash = stream.indexOf('/');
  if (!stream.startsWith('object:') || slash === -1)
    throw new LogCorruptError(`${stream} is not the name of an object's stream`);
  return { type: typeKey(stream.slice('object:'.length, slash)), name: stream.slice(slash + 1) };
}
