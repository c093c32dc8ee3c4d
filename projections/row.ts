import { logPosition, streamRevision, type LogPosition, type StreamRevision } from '../src/log/log.ts';
import type { StoredObject } from '../src/read/objects.ts';

/**
 * One row of the object table: a header, the index entry (entry-codec.ts), the source, and the response.
 *
 *   0  u8    format (4)
 *   1  u8    flags: 1 deletion requested, 2 has finalizers, 4 has references
 *   2  u32   revision
 *   6  u128  position (more than 64 bits from a log's third epoch on)
 *  22  u32   length of the index entry; 0 if the type was not registered when the row was written
 *  26  u32   0 without a declaration; otherwise 1 + the revision of the declaration (`declared`)
 *  30  u32   length of the source; 0 if the source equals the response
 *  34  …     the index entry, the source, the response
 *
 * The source is the object as the last event contains it, with the resourceVersion added. The response has the version
 * and the defaults of the type's present declaration.
 *
 * All numbers are little-endian.
 */
const format = 4;
const headerBytes = 34;
const entryLengthAt = 22;
const declaredAt = 26;
const sourceLengthAt = 30;
const flagDeletion = 1;
const flagFinalizers = 2;
const flagReferences = 4;

export type Row = {
  readonly revision: StreamRevision;
  readonly position: LogPosition;
  readonly deletionRequested: boolean;
  readonly finalizers: boolean;
  /** Whether the table of references contains references of the object. */
  readonly references?: boolean;
  /**
   * The revision of the type's declaration under which the object's last event was decided; undefined without a
   * declaration.
   */
  readonly declared: number | undefined;
  /** The bytes of the index entry; empty if the row has none. */
  readonly entry: Uint8Array;
  /** The object as the last event contains it; empty if equal to the response. */
  readonly source: Uint8Array;
  readonly answer: Uint8Array;
};

export function encodeRow(row: Row): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + row.entry.length + row.source.length + row.answer.length);
  bytes[0] = format;
  bytes[1] =
    (row.deletionRequested ? flagDeletion : 0) |
    (row.finalizers ? flagFinalizers : 0) |
    (row.references === true ? flagReferences : 0);
  bytes.writeUInt32LE(row.revision, 2);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, row.position), 6);
  bytes.writeBigUInt64LE(row.position >> 64n, 14);
  bytes.writeUInt32LE(row.entry.length, entryLengthAt);
  bytes.writeUInt32LE(row.declared === undefined ? 0 : row.declared + 1, declaredAt);
  bytes.writeUInt32LE(row.source.length, sourceLengthAt);
  bytes.set(row.entry, headerBytes);
  bytes.set(row.source, headerBytes + row.entry.length);
  bytes.set(row.answer, headerBytes + row.entry.length + row.source.length);
  return bytes;
}

/**
 * Decodes a row. The returned arrays share the memory of `bytes`.
 *
 * @throws Error for a row of another format.
 */
export function decodeRow(bytes: Buffer): Row {
  const answerAt = answerStart(bytes);
  const sourceAt = sourceStart(bytes);
  const flags = bytes[1] ?? 0;
  return {
    revision: revisionOf(bytes),
    position: positionOf(bytes),
    deletionRequested: (flags & flagDeletion) !== 0,
    finalizers: (flags & flagFinalizers) !== 0,
    references: (flags & flagReferences) !== 0,
    declared: declaredOf(bytes),
    entry: bytes.subarray(headerBytes, sourceAt),
    source: bytes.subarray(sourceAt, answerAt),
    answer: bytes.subarray(answerAt),
  };
}

export function revisionOf(bytes: Buffer): StreamRevision {
  return streamRevision(bytes.readUInt32LE(2));
}

export function isMarkedIn(bytes: Buffer): boolean {
  return ((bytes[1] ?? 0) & flagDeletion) !== 0;
}

export function hasReferences(bytes: Buffer): boolean {
  return ((bytes[1] ?? 0) & flagReferences) !== 0;
}

export function declaredOf(bytes: Buffer): number | undefined {
  const declared = bytes.readUInt32LE(declaredAt);
  return declared === 0 ? undefined : declared - 1;
}

export function storedOf(bytes: Buffer): StoredObject {
  return {
    bytes: bytes.subarray(answerStart(bytes)),
    revision: revisionOf(bytes),
    position: positionOf(bytes),
  };
}

function positionOf(bytes: Buffer): LogPosition {
  const high = bytes.readBigUInt64LE(14);
  const low = bytes.readBigUInt64LE(6);
  return logPosition(high === 0n ? low : (high << 64n) | low);
}

/** The offset of the response in the row. */
export function answerStart(bytes: Buffer): number {
  return sourceStart(bytes) + bytes.readUInt32LE(sourceLengthAt);
}

function sourceStart(bytes: Buffer): number {
  if (bytes[0] !== format)
    throw new Error(`a row of the object table has the format ${String(bytes[0])}, but ${String(format)} is required`);
  return headerBytes + bytes.readUInt32LE(entryLengthAt);
}

/** Returns the object as the last event contains it, with the resourceVersion added. */
export function sourceOfRow(bytes: Buffer): Buffer {
  const answerAt = answerStart(bytes);
  const sourceAt = sourceStart(bytes);
  return bytes.subarray(sourceAt === answerAt ? answerAt : sourceAt, sourceAt === answerAt ? bytes.length : answerAt);
}

/** The members `source` and `answer` of a row. The source is empty if both arguments are the same array. */
export function formOf(source: Uint8Array, answer: Uint8Array): Pick<Row, 'source' | 'answer'> {
  return { answer, source: answer === source ? noBytes : source };
}

const noBytes = new Uint8Array(0);

export function entryOfRow(bytes: Buffer): Buffer {
  return bytes.subarray(headerBytes, sourceStart(bytes));
}
