import { createHash } from 'node:crypto';

import { isList, isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { backupSegmentsMax } from '../../limits/backup.ts';
import { epochShift } from '../../log/log.ts';

/**
 * A file with the records from raw position `first` to `last`, without gaps. A raw position lacks the offset of the
 * epoch.
 */
export type SegmentEntry = {
  readonly file: string;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  /** The SHA-256 of the whole file. All hashes in a manifest have 64 hexadecimal digits. */
  readonly sha256: string;
};

/** The Merkle tree over all leaves up to the end of a backup. */
export type BackupTree = {
  readonly size: number;
  readonly root: string;
  /**
   * The hashes of the largest full subtrees, which together cover all leaves. The next backup continues the tree from
   * these hashes.
   */
  readonly nodes: readonly string[];
  /** The signed note of the size and root; absent if the server could not sign. */
  readonly checkpoint?: string;
  /** The reason why the checkpoint is absent. */
  readonly unsigned?: string;
};

/**
 * The manifest of one backup: the records that the backup adds to the previous backups in its folder
 * (docs/operating.md).
 */
export type Manifest = {
  /** 1, 2, 3 and so on, without gaps. */
  readonly number: number;
  readonly logId: string;
  /** The epoch of the log at the time of the backup. */
  readonly epoch: number;
  readonly domain: string;
  /** The time of completion (RFC 3339). */
  readonly time: string;
  /** The raw positions of the first and last record of the backup. The first backup in a folder begins at 1. */
  readonly first: number;
  readonly last: number;
  /** The SHA-256 of the record at `last`. A log with another record at this position does not continue the backup. */
  readonly lastRecord: string;
  readonly segments: readonly SegmentEntry[];
  /** The digest of the previous manifest; absent in the first manifest. */
  readonly previous?: string;
  readonly tree: BackupTree;
};

/** Returns a raw position as a position of the log in an epoch, as everywhere in the API. */
export function shownPosition(raw: number, epoch: number): string {
  return (raw === 0 ? 0n : epochShift(epoch) + BigInt(raw)).toString();
}

export type DecodedManifest =
  | { readonly ok: true; readonly manifest: Manifest; readonly digest: string }
  | { readonly ok: false; readonly detail: string };

export const manifestPattern = /^manifest-(\d{7})\.json$/u;
export const segmentPattern = /^segment-\d{7}-\d{4}\.records$/u;
/** The suffix of the file of an incomplete segment. */
export const partSuffix = '.part';

export function manifestName(number: number): string {
  return `manifest-${String(number).padStart(7, '0')}.json`;
}

/** `index` is the number of the segment in the backup, from 1. */
export function segmentName(number: number, index: number): string {
  return `segment-${String(number).padStart(7, '0')}-${String(index).padStart(4, '0')}.records`;
}

export function hexDigest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Encodes a manifest as a line of JSON and a second line with the SHA-256 of the first line. This SHA-256 is the digest
 * of the manifest.
 */
export function encodeManifest(manifest: Manifest): Buffer {
  const line = `${JSON.stringify({ kind: manifestKind, format: manifestFormat, ...manifest })}\n`;
  return Buffer.from(`${line}sha256 ${hexDigest(line)}\n`);
}

const manifestKind = 'LedgerplaneBackup';
const manifestFormat = 1;
const manifestDepthMax = 4;
/** The maximum number of characters of `BackupTree.unsigned`. */
export const unsignedLengthMax = 500;
const digestLineBytes = 'sha256 '.length + 64 + 1;

export function decodeManifest(bytes: Uint8Array, number: number): DecodedManifest {
  const end = bytes.length - digestLineBytes;
  if (end < 1 || bytes[end - 1] !== newline) return refused('it does not end with a line of its SHA-256');
  const line = bytes.subarray(0, end);
  const digest = hexDigest(line);
  if (Buffer.from(bytes.subarray(end)).toString('latin1') !== `sha256 ${digest}\n`)
    return refused(`the SHA-256 of its first line is ${digest}, but its last line states another`);
  const decoded = decodeJson(line, { depthMax: manifestDepthMax });
  if (!decoded.ok || !isObject(decoded.value)) return refused('it is not a JSON object');
  const { value } = decoded;
  if (value['kind'] !== manifestKind) return refused(`its kind is not ${manifestKind}`);
  if (value['format'] !== manifestFormat)
    return refused(`its format is ${JSON.stringify(value['format'])}; this program reads ${String(manifestFormat)}`);
  if (isManifest(value, number)) return { ok: true, manifest: value, digest };
  return refused(`its ${wrongMember(value, number) ?? 'content'} is not valid`);
}

const newline = 0x0a;

function refused(detail: string): DecodedManifest {
  return { ok: false, detail };
}

type Members = Readonly<Record<string, unknown>>;

function isManifest(value: Members, number: number): value is Members & Manifest {
  return wrongMember(value, number) === undefined;
}

function wrongMember(value: Members, number: number): string | undefined {
  const checks: Readonly<Record<string, boolean>> = {
    number: value['number'] === number,
    logId: isWord(value['logId'], 100),
    epoch: isCount(value['epoch'], 0),
    domain: isWord(value['domain'], 253),
    time: isWord(value['time'], 40),
    first: isCount(value['first'], 1),
    last: isCount(value['last'], Number(value['first'])),
    lastRecord: isHash(value['lastRecord']),
    segments: areSegments(value['segments'], value, number),
    previous: number === 1 ? value['previous'] === undefined : isHash(value['previous']),
    tree: isTree(value['tree']),
  };
  return Object.entries(checks).find(([, isRight]) => !isRight)?.[0];
}

/** Returns whether the segments cover the positions from `first` to `last`, in order and without gaps. */
function areSegments(value: unknown, { first, last }: Members, number: number): boolean {
  if (!isList(value) || value.length === 0 || value.length > backupSegmentsMax) return false;
  let next = Number(first);
  for (const [index, segment] of value.entries()) {
    if (!isObject(segment) || segment['file'] !== segmentName(number, index + 1)) return false;
    if (segment['first'] !== next || !isCount(segment['last'], next)) return false;
    if (!isCount(segment['bytes'], 1) || !isHash(segment['sha256'])) return false;
    next = Number(segment['last']) + 1;
  }
  return next === Number(last) + 1;
}

function isTree(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { size, root, nodes, checkpoint, unsigned } = value;
  const isNote = checkpoint === undefined || isText(checkpoint, 65_536);
  const isReason = unsigned === undefined || (checkpoint === undefined && isText(unsigned, unsignedLengthMax));
  const areNodes = isList(nodes) && nodes.length <= 64 && nodes.every(isHash);
  return isCount(size, 0) && isHash(root) && areNodes && isNote && isReason;
}

/** Returns whether the value is a text of printable ASCII characters without spaces. */
function isWord(value: unknown, lengthMax: number): boolean {
  return isText(value, lengthMax) && /^[!-~]+$/u.test(String(value));
}

function isText(value: unknown, lengthMax: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= lengthMax;
}

function isCount(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/u.test(value);
}
