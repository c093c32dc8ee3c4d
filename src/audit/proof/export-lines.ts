import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';

import { CanonicalJson, FormError } from './canonical-json.ts';
import { hexHash, type HashedData, type LeafEvent } from './leaf-entry.ts';
import { hashBytes, type Hash } from './merkle.ts';
import { exactBase64 } from './signed-note.ts';

/**
 * The lines of an export (docs/audit-proof.md): a header, the events in the order of their leaves with checkpoints in
 * between, and an end. Each line is JSON in the form of `JSON.stringify`, with a fixed order of members and a final
 * `sum` over the previous bytes. A record thus has exactly one valid line.
 */

export const exportFormat = 1;

export type ExportHeader = {
  readonly kind: 'Export';
  readonly format: typeof exportFormat;
  /** The id and the epoch of the log. */
  readonly log: string;
  readonly epoch: number;
  /** The origin of the tree's checkpoints. */
  readonly origin: string;
  /** The index of the first leaf, and the index after the last leaf. */
  readonly from: number;
  readonly until: number;
  /** The hashes of the nodes over the leaves before `from`, from left to right. */
  readonly left: readonly Hash[];
};

/** In a `secret:` stream, `data` is the hash of the data. */
export type ExportedEvent = LeafEvent & {
  readonly kind: 'Event';
  /** The index of the event's leaf. */
  readonly index: number;
  readonly position: bigint;
};

/** A checkpoint of the tree of all leaves before this line, as a signed note. */
export type ExportedCheckpoint = { readonly kind: 'Checkpoint'; readonly checkpoint: string };

export type ExportEnd = {
  readonly kind: 'End';
  /** The hashes of the nodes over the leaves from `until` to the size of the checkpoint, from left to right. */
  readonly right: readonly Hash[];
  /** A checkpoint of a tree with all exported leaves, as a signed note. */
  readonly checkpoint: string;
};

export type ExportRecord = ExportHeader | ExportedEvent | ExportedCheckpoint | ExportEnd;

export function isSecretStream(stream: string): boolean {
  return stream.startsWith('secret:');
}

/** Returns the line of a record, with a line feed. */
export function exportLine(record: ExportRecord): Buffer {
  const text = JSON.stringify(membersOf(record)).slice(0, -1);
  const bytes = Buffer.from(text);
  return Buffer.from(`${text}${sumOpening}${sumOf(bytes)}"}\n`);
}

/** Returns the data of an event; the hash if the data is secret. */
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

/** Returns the members of a record, in the order of the line. */
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

/** Returns valid UTF-8 as a string, and other bytes in base64. Returns strings and hashes unchanged. */
function exactText(exact: Uint8Array | string | HashedData): string | HashedData | { readonly base64: string } {
  if (!(exact instanceof Uint8Array)) return exact;
  const { buffer, byteOffset, length } = exact;
  return isUtf8(exact) ? Buffer.from(buffer, byteOffset, length).toString() : { base64: base64(exact) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/**
 * Parses the record in `body`, a line without its sum and its closing brace. Returns undefined if no server writes such
 * a record.
 */
function recordOf(body: string): ExportRecord | undefined {
  const json = new CanonicalJson(body);
  try {
    const record = recordIn(json);
    return json.isAtEnd ? record : undefined;
  } catch (error) {
    if (error instanceof FormError) return undefined;
    throw error;
  }
}

function recordIn(json: CanonicalJson): ExportRecord {
  const kind = json.skip('{"kind":').string();
  switch (kind) {
    case 'Export':
      return headerIn(json);
    case 'Event':
      return eventIn(json);
    case 'Checkpoint':
      return { kind, checkpoint: json.skip(',"checkpoint":').string() };
    case 'End':
      return { kind, right: hashes(json.skip(',"right":')), checkpoint: json.skip(',"checkpoint":').string() };
    default:
      throw new FormError('no record has this kind');
  }
}

function headerIn(json: CanonicalJson): ExportHeader {
  if (json.skip(',"format":').count() !== exportFormat) throw new FormError('the format is not supported');
  return {
    kind: 'Export',
    format: exportFormat,
    log: json.skip(',"log":').string(),
    epoch: json.skip(',"epoch":').count(),
    origin: json.skip(',"origin":').string(),
    from: json.skip(',"from":').count(),
    until: json.skip(',"until":').count(),
    left: hashes(json.skip(',"left":')),
  };
}

function eventIn(json: CanonicalJson): ExportedEvent {
  const index = json.skip(',"index":').count();
  const position = json.skip(',"position":').string();
  if (!/^(?:0|[1-9]\d{0,39})$/u.test(position)) throw new FormError('a position is expected');
  const stream = json.skip(',"stream":').string();
  return {
    kind: 'Event',
    index,
    position: BigInt(position),
    stream,
    revision: json.skip(',"revision":').count(),
    id: json.skip(',"id":').string(),
    type: json.skip(',"type":').string(),
    metadata: content(json.skip(',"metadata":')),
    data: isSecretStream(stream) ? hashedData(json.skip(',"data":')) : content(json.skip(',"data":')),
  };
}

/** Reads bytes: a string for UTF-8, and base64 for other bytes. */
function content(json: CanonicalJson): Uint8Array | string {
  if (!json.isNext('{')) return json.string();
  const bytes = base64Bytes(json.skip('{"base64":'));
  if (isUtf8(bytes)) throw new FormError('bytes in UTF-8 must be written as a string');
  json.skip('}');
  return bytes;
}

function hashedData(json: CanonicalJson): HashedData {
  const sha256 = json.skip('{"sha256":').string();
  if (!/^[0-9a-f]{64}$/u.test(sha256)) throw new FormError('a hash is expected');
  json.skip('}');
  return { sha256 };
}

function hashes(json: CanonicalJson): readonly Hash[] {
  json.skip('[');
  const list: Hash[] = [];
  while (!json.isNext(']')) {
    const bytes = base64Bytes(list.length === 0 ? json : json.skip(','));
    if (bytes.length !== hashBytes) throw new FormError('a hash is expected');
    list.push(bytes);
  }
  json.skip(']');
  return list;
}

function base64Bytes(json: CanonicalJson): Buffer {
  const bytes = exactBase64(json.string());
  if (bytes === undefined) throw new FormError('base64 is expected');
  return bytes;
}
