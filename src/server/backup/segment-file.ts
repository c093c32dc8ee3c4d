import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';

import { messageOf } from '../../base/error-message.ts';
import { backupPieceBytesMax } from '../../limits/backup.ts';
import { decodeRecord } from '../../log/lmdb/lmdb-record.ts';
import type { RecordedEvent } from '../../log/log.ts';
import { BackupDamagedError } from './backup-errors.ts';
import type { SegmentEntry } from './manifest.ts';

/** A record: its bytes as in the log, and the decoded event. */
export type StoredRecord = {
  readonly position: number;
  readonly bytes: Buffer;
  readonly event: RecordedEvent;
};

/** A segment begins with a line that contains the log id. Each record follows its length: four bytes, big-endian. */
const lengthBytes = 4;

function openingOf(logId: string): Buffer {
  return Buffer.from(`ledgerplane segment 1 ${logId}\n`);
}

export class SegmentWriter {
  readonly #file: number;
  readonly #hash = createHash('sha256');
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  /** The size of the file in bytes, including bytes that are not written yet. */
  bytes = 0;

  /** @throws Error if the file exists. */
  constructor(path: string, logId: string) {
    this.#file = openSync(
      path,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    this.#push(openingOf(logId));
  }

  add(record: Buffer): void {
    const length = Buffer.allocUnsafe(lengthBytes);
    length.writeUInt32BE(record.length);
    this.#push(length);
    this.#push(record);
    if (this.#pieceBytes >= backupPieceBytesMax) this.#flush();
  }

  /** Writes the file to disk (fsync), closes the file and returns the SHA-256. */
  finish(): string {
    this.#flush();
    fsyncSync(this.#file);
    closeSync(this.#file);
    return this.#hash.digest('hex');
  }

  /** Closes the file and ignores errors, because the caller removes the file. */
  abandon(): void {
    try {
      closeSync(this.#file);
    } catch {
      // The file is already closed.
    }
  }

  #push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    this.bytes += piece.length;
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pieces);
    [this.#pieces, this.#pieceBytes] = [[], 0];
    this.#hash.update(bytes);
    for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written);
  }
}

type SegmentRead = {
  readonly entry: SegmentEntry;
  readonly logId: string;
  readonly as?: string;
};

/**
 * Reads and checks the records of a segment in order. Checks the whole file after the last record. `as` is the present
 * name of the file, if the file does not have its final name yet.
 *
 * @throws BackupDamagedError that names the file and, if known, the byte offset and the log position.
 */
export function* readSegment(
  folder: string,
  { entry, logId, as = entry.file }: SegmentRead,
): Generator<StoredRecord, void> {
  const reader = new FileReader(join(folder, as), entry.file);
  try {
    const opening = openingOf(logId);
    if (reader.take(opening.length)?.equals(opening) !== true)
      throw reader.damage(0, `its first bytes are not those of a segment of log ${logId}`);
    for (let position = entry.first; position <= entry.last; position += 1) {
      const at = reader.offset;
      yield storedRecord(reader, position, at);
    }
    if (reader.offset !== reader.size)
      throw reader.damage(reader.offset, `it has bytes after its last record, at position ${String(entry.last)}`);
    const [sha256, bytes] = [reader.digest(), reader.size];
    if (sha256 !== entry.sha256 || bytes !== entry.bytes)
      throw reader.damage(
        0,
        `it has ${String(bytes)} bytes and SHA-256 ${sha256}; the manifest says ${String(entry.bytes)} bytes and ` +
          entry.sha256,
      );
  } finally {
    reader.close();
  }
}

function storedRecord(reader: FileReader, position: number, at: number): StoredRecord {
  const where = `the record at position ${String(position)}`;
  const length = reader.take(lengthBytes)?.readUInt32BE();
  if (length === undefined) throw reader.damage(at, `it ends before ${where}`);
  const bytes = reader.take(length);
  if (bytes === undefined)
    throw reader.damage(at, `${where} has ${String(length)} bytes, more than the rest of the file`);
  try {
    return { position, bytes, event: decodeRecord(bytes, position) };
  } catch (cause) {
    throw reader.damage(at, messageOf(cause), cause);
  }
}

/** Reads a file once from beginning to end, and computes the SHA-256. */
class FileReader {
  readonly #path: string;
  readonly #name: string;
  readonly #file: number;
  readonly #hash: Hash = createHash('sha256');
  readonly size: number;
  /** The file offset of the next byte that `take` returns. */
  offset = 0;
  #read = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
    try {
      this.#file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (cause) {
      throw new BackupDamagedError(name, `it cannot be read: ${messageOf(cause)}`, { cause });
    }
    const stats = fstatSync(this.#file);
    this.size = stats.size;
    if (stats.isFile()) return;
    this.close();
    throw new BackupDamagedError(name, 'it is not a file');
  }

  /** Returns the next `length` bytes; undefined if fewer bytes remain. */
  take(length: number): Buffer | undefined {
    if (length > this.size - this.offset) return undefined;
    while (this.#rest.length < length) if (!this.#fill(length - this.#rest.length)) return undefined;
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    this.offset += length;
    return taken;
  }

  digest(): string {
    return this.#hash.digest('hex');
  }

  damage(at: number, detail: string, cause?: unknown): BackupDamagedError {
    return new BackupDamagedError(`${this.#name}, byte ${String(at)}`, detail, { cause });
  }

  close(): void {
    closeSync(this.#file);
  }

  #fill(wanted: number): boolean {
    const piece = Buffer.allocUnsafeSlow(Math.max(wanted, Math.min(backupPieceBytesMax, this.size - this.#read)));
    let filled = 0;
    try {
      filled = readSync(this.#file, piece, 0, piece.length, this.#read);
    } catch (cause) {
      throw this.damage(this.#read, `${basename(this.#path)} cannot be read: ${messageOf(cause)}`, cause);
    }
    const bytes = piece.subarray(0, filled);
    this.#hash.update(bytes);
    this.#read += filled;
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    return filled > 0;
  }
}
