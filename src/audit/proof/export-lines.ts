import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';

import { isList, isObject } from '../../base/guards.ts';
import { hexHash, leafMembers, type HashedData, type LeafEvent } from './leaf-entry.ts';
import { hashBytes, type Hash } from './merkle.ts';
import { exactBase64 } from './signed-note.ts';

/**
 * The lines of an export (docs/audit-proof.md): a header, the events in the order of their leaves with checkpoints
 * between them, and an end. Each line is JSON as `JSON.stringify` writes it, with its members in the order of the type,
 * and ends with a `sum` over the bytes before it. So a record has exactly one valid line, and the parser refuses every
 * other form.
 */

export const exportFormat = 1;

export type ExportHeader = {
  readonly kind: 'Export';
  readonly format: typeof exportFormat;
  /** The log's id and epoch. */
  readonly log: string;
  readonly epoch: number;
  /** The origin in the tree's checkpoints. */
  readonly origin: string;
  /** The index of the first leaf, and the index after the last leaf. */
  readonly from: number;
  readonly until: number;
  /** The nodes that cover the leaves before `from`, from left to right. */
  readonly left: readonly Hash[];
};

/** `data` of an event in a `secret:` stream is its hash. */
export type ExportedEvent = LeafEvent & {
  readonly kind: 'Event';
  /** The index of the event's leaf. */
  readonly index: number;
  readonly position: bigint;
};

/** A checkpoint of the tree of all leaves before this line. */
export type ExportedCheckpoint = { readonly kind: 'Checkpoint'; readonly checkpoint: string };

export type ExportEnd = {
  readonly kind: 'End';
  /** The nodes that cover the leaves from `until` up to the size of the checkpoint, from left to right. */
  readonly right: readonly Hash[];
  /** A checkpoint as a signed note. */
  readonly checkpoint: string;
};

export type ExportRecord = ExportHeader | ExportedEvent | ExportedCheckpoint | ExportEnd;

export function isSecretStream(stream: string): boolean {
  return stream.startsWith('secret:');
}

/** Returns the line of a record, with its line feed. */
export function exportLine(record: ExportRecord): Buffer {
  const text = JSON.stringify(membersOf(record)).slice(0, -1);
  const bytes = Buffer.from(text);
  return Buffer.from(`${text}${sumOpening}${sumOf(bytes)}"}\n`);
}

/** Returns the data of an event, or its hash if the data is secret. */
export function shownData(stream: string, data: Uint8Array): Uint8Array | HashedData {
  return isSecretStream(stream) ? { sha256: hexHash(data) } : data;
}

export type ParsedLine =
  { readonly ok: true; readonly record: ExportRecord } | { readonly ok: false; readonly problem: LineProblem };

/** `sum`: the line does not match its sum. `form`: the sum is correct, but no server writes such a line. */
export type LineProblem = 'sum' | 'form';

/** `line` has no line feed at its end. */
export function parseExportLine(line: Uint8Array): ParsedLine {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
  const end = bytes.length - sumLength;
  const [body, tail] = [bytes.subarray(0, Math.max(end, 0)), bytes.toString('latin1', Math.max(end, 0))];
  if (tail !== `${sumOpening}${sumOf(body)}"}`) return { ok: false, problem: 'sum' };
  const record = isUtf8(body) ? recordOf(body.toString()) : undefined;
  return record === undefined ? { ok: false, problem: 'form' } : { ok: true, record };
}

const sumOpening = ',"sum":"';
const base64HashLength = 44;
const sumLength = sumOpening.length + base64HashLength + '"}'.length;

function sumOf(body: Uint8Array): string {
  return hash('sha256', body, 'base64');
}

/** The members of each record, in the order of the line. */
const memberNames = {
  Export: ['kind', 'format', 'log', 'epoch', 'origin', 'from', 'until', 'left'],
  Event: ['kind', 'index', 'position', ...leafMembers],
  Checkpoint: ['kind', 'checkpoint'],
  End: ['kind', 'right', 'checkpoint'],
} as const satisfies { readonly [Kind in ExportRecord['kind']]: readonly string[] };

function membersOf(record: ExportRecord): object {
  switch (record.kind) {
    case 'Export': {
      const { kind, format, log, epoch, origin, from, until, left } = record;
      return { kind, format, log, epoch, origin, from, until, left: left.map(base64) };
    }
    case 'Event': {
      const { kind, index, position, stream, revision, id, type, metadata, data } = record;
      const shown = { metadata: exactText(metadata), data: exactText(data) };
      return { kind, index, position: position.toString(), stream, revision, id, type, ...shown };
    }
    case 'Checkpoint':
      return { kind: record.kind, checkpoint: record.checkpoint };
    case 'End':
      return { kind: record.kind, right: record.right.map(base64), checkpoint: record.checkpoint };
  }
}

/** Returns bytes as a string if they are valid UTF-8, and in base64 otherwise. */
function exactText(exact: Uint8Array | string | HashedData): string | HashedData | { readonly base64: string } {
  if (!(exact instanceof Uint8Array)) return exact;
  const { buffer, byteOffset, length } = exact;
  return isUtf8(exact) ? Buffer.from(buffer, byteOffset, length).toString() : { base64: base64(exact) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/**
 * Returns undefined unless a server writes the record in exactly this form. `body` is the line without its sum and its
 * closing brace.
 */
function recordOf(body: string): ExportRecord | undefined {
  const text = `${body}}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Encoding the value again gives the same text, so the text has no spaces, other escapes or repeated members.
  if (!isObject(value) || JSON.stringify(value) !== text) return undefined;
  // JSON writes a lone surrogate as an escape, but no bytes in UTF-8 decode to one.
  if (text.includes('\\ud') && /\p{Cs}/u.test(Object.values(value).join())) return undefined;
  return typedRecord(value);
}

type Members = Readonly<Record<string, unknown>>;

function typedRecord(members: Members): ExportRecord | undefined {
  switch (members['kind']) {
    case 'Export':
      return hasMembers(members, memberNames.Export) ? headerOf(members) : undefined;
    case 'Event':
      return hasMembers(members, memberNames.Event) ? eventOf(members) : undefined;
    case 'Checkpoint': {
      const { checkpoint } = members;
      const isWhole = typeof checkpoint === 'string' && hasMembers(members, memberNames.Checkpoint);
      return isWhole ? { kind: 'Checkpoint', checkpoint } : undefined;
    }
    case 'End': {
      const { checkpoint } = members;
      const right = hashesOf(members['right']);
      if (right === undefined || typeof checkpoint !== 'string' || !hasMembers(members, memberNames.End))
        return undefined;
      return { kind: 'End', right, checkpoint };
    }
    default:
      return undefined;
  }
}

function hasMembers(members: object, names: readonly string[]): boolean {
  let at = 0;
  for (const name in members) if (names[at++] !== name) return false;
  return at === names.length;
}

function headerOf({ format, log, epoch, origin, from, until, left: hashes }: Members): ExportHeader | undefined {
  const left = hashesOf(hashes);
  if (format !== exportFormat || typeof log !== 'string' || typeof origin !== 'string') return undefined;
  if (!isCount(epoch) || !isCount(from) || !isCount(until) || left === undefined) return undefined;
  return { kind: 'Export', format, log, epoch, origin, from, until, left };
}

function eventOf({ index, position, stream, revision, id, type, ...bytes }: Members): ExportedEvent | undefined {
  if (typeof position !== 'string' || !/^(?:0|[1-9]\d{0,39})$/u.test(position)) return undefined;
  if (!isCount(index) || !isCount(revision)) return undefined;
  if (typeof stream !== 'string' || typeof id !== 'string' || typeof type !== 'string') return undefined;
  const metadata = bytesOf(bytes['metadata']);
  const data = isSecretStream(stream) ? hashOf(bytes['data']) : bytesOf(bytes['data']);
  if (metadata === undefined || data === undefined) return undefined;
  return { kind: 'Event', index, position: BigInt(position), stream, revision, id, type, metadata, data };
}

function bytesOf(value: unknown): Uint8Array | string | undefined {
  if (typeof value === 'string') return value;
  if (!isObject(value) || !hasMembers(value, ['base64'])) return undefined;
  const bytes = typeof value['base64'] === 'string' ? exactBase64(value['base64']) : undefined;
  return bytes === undefined || isUtf8(bytes) ? undefined : bytes;
}

function hashOf(value: unknown): HashedData | undefined {
  if (!isObject(value) || !hasMembers(value, ['sha256'])) return undefined;
  const { sha256: digits } = value;
  return typeof digits === 'string' && /^[0-9a-f]{64}$/u.test(digits) ? { sha256: digits } : undefined;
}

function hashesOf(value: unknown): readonly Hash[] | undefined {
  if (!isList(value)) return undefined;
  const hashes: Hash[] = [];
  for (const encoded of value) {
    const bytes = typeof encoded === 'string' ? exactBase64(encoded) : undefined;
    if (bytes?.length !== hashBytes) return undefined;
    hashes.push(bytes);
  }
  return hashes;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
