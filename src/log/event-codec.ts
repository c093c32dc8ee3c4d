import { textIn } from './member-text.ts';
import { requiredMembers } from './required-members.ts';
import { LogCorruptError, NewerEventError, type LogPosition, type ProposedEvent, type RecordedEvent } from './log.ts';
import { referencesOf } from './event-references.ts';
import type { IndexEntry } from '../resource/type/index-entry.ts';
import { eventSchema, type DomainEvent, type EventMetadata, type ObjectEvent } from '../command/event.ts';

/**
 * A decoded event. The data of an object event is `{"values":[…],"refs":[…],"object":{…}}`, where `refs` and `object`
 * may be absent.
 *
 * Readers can slice the object out of the data without parsing. No string before the object can contain `,"object":`,
 * because JSON escapes quotes.
 */

export type DecodedEvent = {
  readonly event: DomainEvent;
  /**
   * The offset of the object's JSON in `data`; -1 without an object. The JSON ends one byte before the end of `data`.
   */
  readonly objectStart: number;
  /** The offset after `"metadata":{`, where `"resourceVersion":"…",` is inserted; -1 without an object. */
  readonly spliceAt: number;
  /** The object's index entry; undefined if the event was read from storage. */
  readonly indexed: KnownEntry | undefined;
};

type ObjectOffsets = Pick<DecodedEvent, 'objectStart' | 'spliceAt'>;

export type KnownEntry = { readonly fingerprint: string; readonly entry: IndexEntry };

const separator = Buffer.from(',"object":');
const metadataOpening = Buffer.from('"metadata":{');

/** What this process knows of an event that it has encoded. */
type Known = ObjectOffsets & {
  readonly metadata: EventMetadata;
  /** Undefined after `releaseDecoded`. */
  decoded: DecodedEvent | undefined;
  /** A result of `answerBytes` that was used once. */
  answer: { readonly resourceVersion: string; readonly bytes: Buffer } | undefined;
};

/**
 * The property of `data` in which `encodeEvent` stores what it knows. A subscription that delivers the same `data` need
 * not parse the event. A WeakMap would take more time in garbage collections.
 */
const written = Symbol('written');
type Written = Uint8Array & { [written]?: Known };

export function encodeEvent(
  id: string,
  event: DomainEvent,
  metadata: EventMetadata,
  indexed?: KnownEntry,
): ProposedEvent {
  const data: Buffer & Written = Buffer.from(dataText(event), 'utf8');
  const decoded = decodedOf(event, data, indexed);
  const { objectStart, spliceAt } = decoded;
  data[written] = { objectStart, spliceAt, metadata, decoded, answer: undefined };
  return { id, type: event.type, data, metadata: Buffer.from(JSON.stringify(metadata), 'utf8') };
}

export function decodeEvent(recorded: RecordedEvent): DecodedEvent {
  const known = (recorded.data as Written)[written]?.decoded;
  if (known !== undefined) return known;
  return decodedOf(decodeData(recorded), buffer(recorded.data), undefined);
}

/**
 * Releases the parsed object of a folded event. Later readers of the event need its bytes and metadata only, and some
 * hold the event so long that the garbage collector would copy the object several times.
 */
export function releaseDecoded({ data }: RecordedEvent): void {
  const known = (data as Written)[written];
  if (known !== undefined) known.decoded = undefined;
}

export function decodeMetadata(recorded: RecordedEvent): EventMetadata {
  const raw = parse(recorded, recorded.metadata);
  if (typeof raw['schema'] !== 'number' || typeof raw['time'] !== 'string') {
    throw new LogCorruptError(`event ${recorded.id} at ${recorded.position.toString()} has no schema or time`);
  }
  if (raw['schema'] > eventSchema) {
    throw new NewerEventError(
      `event ${recorded.id} has schema ${String(raw['schema'])}; this version reads up to ${String(eventSchema)}`,
    );
  }
  return raw as unknown as EventMetadata;
}

const schemaMember = Buffer.from('","schema":');
const timeMember = '"time":"';
const timeLength = '2026-01-01T00:00:00.000Z'.length;
/** The current schema, which has one digit. With two digits, `stampOf` would parse the metadata of every event. */
const currentSchema = String(eventSchema).charCodeAt(0);

/**
 * Returns the event's time. Parses only metadata in an unexpected form.
 *
 * @throws LogCorruptError for metadata that cannot be decoded, or of a later schema.
 */
export function stampOf(recorded: RecordedEvent): string {
  const known = (recorded.data as Written)[written]?.metadata.time;
  if (known !== undefined) return known;
  const bytes = buffer(recorded.metadata);
  const end = bytes.lastIndexOf(schemaMember);
  const schemaAt = end + schemaMember.length;
  const isCurrent =
    end >= timeLength + timeMember.length && bytes[schemaAt] === currentSchema && bytes[schemaAt + 1] === comma;
  const stamp = isCurrent ? bytes.toString('latin1', end - timeLength - timeMember.length, end) : '';
  return stamp.startsWith(timeMember) ? stamp.slice(timeMember.length) : decodeMetadata(recorded).time;
}

const declaredMember = Buffer.from('"declared":');

/**
 * Returns the revision of the type declaration that the decision used, without parsing; undefined if the event has no
 * such revision.
 */
export function declaredIn(recorded: RecordedEvent): number | undefined {
  const known = (recorded.data as Written)[written];
  if (known !== undefined) return known.metadata.declared;
  const bytes = buffer(recorded.metadata);
  const at = bytes.lastIndexOf(declaredMember);
  if (at === -1) return undefined;
  let declared = 0;
  for (let index = at + declaredMember.length; isDigit(bytes[index]); index += 1)
    declared = declared * 10 + (bytes[index] ?? 0) - zero;
  return declared;
}

const correlationMember = Buffer.from(',"$correlationId":"');

/** Returns the id of the request or step that began the event's chain of causes. */
export function correlationIn(recorded: RecordedEvent): string {
  const known = (recorded.data as Written)[written]?.metadata.$correlationId;
  if (known !== undefined) return known;
  const bytes = buffer(recorded.metadata);
  return (
    textIn(bytes, bytes.lastIndexOf(correlationMember), correlationMember) ?? decodeMetadata(recorded).$correlationId
  );
}

/** Returns the id of the request or step that wrote the event. Undefined if the bytes were read from storage. */
export function requestIn({ data }: RecordedEvent): string | undefined {
  return (data as Written)[written]?.metadata.requestId;
}

const actorMember = Buffer.from('{"actor":"');

/** Returns the author of the event: a user, a plugin or a part of the platform. */
export function actorIn(recorded: RecordedEvent): string {
  const known = (recorded.data as Written)[written]?.metadata.actor;
  if (known !== undefined) return known;
  const bytes = buffer(recorded.metadata);
  const isFirst = bytes.subarray(0, actorMember.length).equals(actorMember);
  return textIn(bytes, isFirst ? 0 : -1, actorMember) ?? decodeMetadata(recorded).actor;
}

const onBehalfOfMember = Buffer.from(',"onBehalfOf":"');

/** Returns the user for which a plugin wrote the event; undefined for other events. */
export function onBehalfOfIn(recorded: RecordedEvent): string | undefined {
  const known = (recorded.data as Written)[written];
  if (known !== undefined) return known.metadata.onBehalfOf;
  const bytes = buffer(recorded.metadata);
  const at = bytes.indexOf(onBehalfOfMember);
  return at === -1 ? undefined : (textIn(bytes, at, onBehalfOfMember) ?? decodeMetadata(recorded).onBehalfOf);
}

const zero = 0x30;

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte < zero + 10;
}

const comma = 0x2c;
const brace = 0x7d;

/**
 * Returns the event's object as JSON, with `metadata.resourceVersion` inserted. The fold and the response to the writer
 * share the bytes.
 */
export function answerBytes(offsets: ObjectOffsets, data: Uint8Array, resourceVersion: string): Buffer {
  const known = (data as Written)[written];
  if (known?.answer?.resourceVersion === resourceVersion) {
    const { bytes } = known.answer;
    known.answer = undefined;
    return bytes;
  }
  const bytes = spliced(offsets, buffer(data), `"resourceVersion":"${resourceVersion}",`);
  if (known !== undefined) known.answer = { resourceVersion, bytes };
  return bytes;
}

/** A copy of the object in `data` with `member` as the first member of its metadata. */
function spliced({ objectStart, spliceAt }: ObjectOffsets, data: Buffer, member: string): Buffer {
  const end = data.length - 1;
  const bytes = Buffer.allocUnsafe(end - objectStart + member.length);
  const head = data.copy(bytes, 0, objectStart, spliceAt);
  bytes.write(member, head, 'latin1');
  data.copy(bytes, head + member.length, spliceAt, end);
  return bytes;
}

const valuesOpening = Buffer.from('{"values":');

/**
 * Returns the event's object as JSON, with `at` as the resourceVersion; undefined without an object. Usually does not
 * parse the event.
 */
export function objectAnswer(recorded: RecordedEvent, at: LogPosition): Buffer | undefined {
  const data = buffer(recorded.data);
  const known = (data as Written)[written] ?? findOffsets(recorded, data) ?? decodeEvent(recorded);
  return known.objectStart === -1 ? undefined : answerBytes(known, data, at.toString());
}

/** Returns undefined for data without an object or in an unexpected form. */
function findOffsets({ type }: RecordedEvent, data: Buffer): ObjectOffsets | undefined {
  if (!isObjectType(type)) return undefined;
  if (!data.subarray(0, valuesOpening.length).equals(valuesOpening)) return undefined;
  const place = offsetsIn(data);
  return place.objectStart >= separator.length && place.spliceAt >= metadataOpening.length && data.at(-1) === brace
    ? place
    : undefined;
}

function dataText(event: DomainEvent): string {
  if (!isObjectEvent(event)) {
    const { type: _type, ...rest } = event;
    return JSON.stringify(rest);
  }
  const values = JSON.stringify(event.values);
  if (event.object === undefined) return `{"values":${values}}`;
  const refs = referencesOf(event);
  const referring = refs.length === 0 ? '' : `,"refs":${JSON.stringify(refs)}`;
  return `{"values":${values}${referring},"object":${JSON.stringify(event.object)}}`;
}

function decodedOf(event: DomainEvent, data: Buffer, indexed: KnownEntry | undefined): DecodedEvent {
  const hasObject = isObjectEvent(event) && event.object !== undefined;
  const { objectStart, spliceAt } = hasObject ? offsetsIn(data) : { objectStart: -1, spliceAt: -1 };
  return { event, objectStart, spliceAt, indexed };
}

function offsetsIn(data: Buffer): ObjectOffsets {
  const objectStart = data.indexOf(separator) + separator.length;
  return { objectStart, spliceAt: data.indexOf(metadataOpening, objectStart) + metadataOpening.length };
}

const objectTypes: ReadonlySet<string> = new Set(
  Object.keys({
    ObjectCreated: true,
    ObjectUpdated: true,
    ObjectDeletionRequested: true,
    ObjectDeleted: true,
    NameFenced: true,
  } satisfies Readonly<Record<ObjectEvent['type'], true>>),
);

export function isObjectEvent(event: DomainEvent): event is ObjectEvent {
  return objectTypes.has(event.type);
}

export function isObjectType(type: string): boolean {
  return objectTypes.has(type);
}

function decodeData(recorded: RecordedEvent): DomainEvent {
  const members = requiredMembers(recorded.type);
  if (members === undefined)
    throw new NewerEventError(`event ${recorded.id} has the unknown type ${JSON.stringify(recorded.type)}`);
  const data = parse(recorded, recorded.data);
  for (const member of members) {
    if (data[member] === undefined)
      throw new LogCorruptError(`event ${recorded.id} (${recorded.type}) has no member ${member}`);
  }
  return { type: recorded.type, ...data } as unknown as DomainEvent;
}

function parse(recorded: RecordedEvent, bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(buffer(bytes).toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (cause) {
    throw new LogCorruptError(`event ${recorded.id} at ${recorded.position.toString()} is not JSON`, { cause });
  }
  throw new LogCorruptError(`event ${recorded.id} at ${recorded.position.toString()} is not a JSON object`);
}

function buffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
