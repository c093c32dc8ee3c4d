import { must } from '../../../src/base/unreachable.ts';
import { NotServedError } from '../../../src/read/objects.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { AuditEnvironment, Table } from '../audit-part.ts';
import { firstPosition } from './segment/segment.ts';

/** The columns of one type under one declaration of its indexes. Positions are within the epoch. */
export type ColumnsRecord = {
  /** Names the segments; unique for ever. */
  readonly id: number;
  readonly fingerprint: string;
  /** Everything up to here is in the segments. */
  readonly through: number;
  /** The number of full segments of changes; the next one has the rows after them. */
  readonly sealed: number;
  /** Rows in the segment that is not full yet. */
  readonly open: number;
  /** Objects at `through`. */
  readonly objects: number;
  /** Rows of full segments since the last snapshot, and the position of the last one of all. */
  readonly changed: number;
  readonly sealedThrough: number;
};

export type SnapshotRecord = {
  readonly position: number;
  readonly chunks: number;
  /** The first segment of changes after it. */
  readonly from: number;
};

const changeKind = 0;
const chunkKind = 1;

/** Names, segments and snapshots of all types, in the tables of the part. */
export class ColumnTables {
  /** A type's number and a name → the ordinal of the name. Kept for ever: a name may come back. */
  readonly #names: Table<Buffer, Uint8Array>;
  readonly #segments: Table<Buffer, Uint8Array>;
  readonly #snapshots: Table<string, Uint8Array>;
  readonly #meta: Table<string, string>;

  constructor(environment: AuditEnvironment) {
    this.#names = environment.openBinaryTable('names', { encoding: 'binary' });
    this.#segments = environment.openBinaryTable('segments', { encoding: 'binary' });
    this.#snapshots = environment.openBinaryTable('snapshots', { encoding: 'string' });
    this.#meta = environment.openTable('meta', { encoding: 'string' });
  }

  /** Runs `write` in one transaction, visible to every read when this returns. An exception rolls all of it back. */
  commit(write: () => void): void {
    this.#meta.transactionSync(write);
    this.#meta.resetReadTxn();
  }

  record(type: TypeKey): ColumnsRecord | undefined {
    const text = this.#meta.get(`type:${type}`);
    if (text === undefined) return undefined;
    const [fingerprint = '', ...rest] = text.split(' ');
    const [id = 0, through = 0, sealed = 0, open = 0, objects = 0, changed = 0, sealedThrough = 0] = rest.map(Number);
    return { id, fingerprint, through, sealed, open, objects, changed, sealedThrough };
  }

  putRecord(type: TypeKey, record: ColumnsRecord): void {
    const { id, fingerprint, through, sealed, open, objects, changed, sealedThrough } = record;
    const numbers = [id, through, sealed, open, objects, changed, sealedThrough];
    this.#meta.putSync(`type:${type}`, `${fingerprint} ${numbers.join(' ')}`);
  }

  /** Columns that are used no more, of which some segments may be left. */
  dropped(): readonly number[] {
    return [...this.#meta.getKeys({ start: dropPrefix, end: `${dropPrefix}~` })].map((key) =>
      Number(key.slice(dropPrefix.length)),
    );
  }

  putDropped(id: number): void {
    this.#meta.putSync(`${dropPrefix}${String(id)}`, '');
  }

  /** Removes up to `limit` segments and snapshots; returns whether none is left. */
  drop(id: number, limit: number): boolean {
    const range = { start: keyOf(id), end: keyOf(id + 1), limit };
    const segments = [...this.#segments.getKeys(range)];
    const snapshots = [...this.#snapshots.getKeys(range)];
    const isDone = segments.length < limit && snapshots.length < limit;
    this.commit(() => {
      for (const key of segments) this.#segments.removeSync(key);
      for (const key of snapshots) this.#snapshots.removeSync(key);
      if (isDone) this.#meta.removeSync(`${dropPrefix}${String(id)}`);
    });
    return isDone;
  }

  /** A number that no type and no columns have had. Call it inside `commit`. */
  nextId(): number {
    const id = Number(this.#meta.get('next') ?? '1');
    this.#meta.putSync('next', String(id + 1));
    return id;
  }

  /** The ordinals of names, of which new ones are numbered. Call it inside `commit`. */
  ordinals(type: TypeKey, names: readonly string[]): readonly number[] {
    const [id = this.nextId(), numbered = 0] = numbersIn(this.#meta.get(`names:${type}`));
    let next = numbered;
    const ordinals = names.map((name) => {
      const key = Buffer.concat([keyOf(id), Buffer.from(name, 'latin1')]);
      const stored = this.#names.get(key);
      if (stored !== undefined) return stored.readUInt32LE(0);
      const ordinal = Buffer.allocUnsafe(4);
      ordinal.writeUInt32LE(next);
      this.#names.putSync(key, ordinal);
      return next++;
    });
    if (next !== numbered) this.#meta.putSync(`names:${type}`, `${String(id)} ${String(next)}`);
    return ordinals;
  }

  putChanges(id: number, number: number, bytes: Buffer): void {
    this.#segments.putSync(keyOf(id, changeKind, number), bytes);
  }

  /** @throws NotServedError if the columns were dropped meanwhile. */
  changes(type: TypeKey, id: number, number: number): Buffer {
    return this.#segment(type, keyOf(id, changeKind, number));
  }

  /** Segments of changes from one to another (exclusive), as long as they begin at or before a position. */
  *changesUpTo(type: TypeKey, id: number, { from, to, position }: ChangesRange): Generator<Buffer, undefined> {
    for (let number = from; number < to; number++) {
      const bytes = this.changes(type, id, number);
      if (firstPosition(bytes) > position) return;
      yield bytes;
    }
  }

  putChunk(id: number, [position, chunk]: readonly [position: number, chunk: number], bytes: Buffer): void {
    this.#segments.putSync(chunkKey(id, position, chunk), bytes);
  }

  putSnapshot(id: number, snapshot: SnapshotRecord): void {
    const { position, chunks, from } = snapshot;
    this.#snapshots.putSync(positionKey(id, position), `${String(position)} ${String(chunks)} ${String(from)}`);
  }

  /** The last snapshot at or before a position. */
  snapshot(id: number, position: number): SnapshotRecord | undefined {
    const range = { start: positionKey(id, position), end: keyOf(id), reverse: true, limit: 1 };
    const [found] = [...this.#snapshots.getRange(range)];
    const [at, chunks = 0, first = 0] = numbersIn(found?.value);
    return at === undefined ? undefined : { position: at, chunks, from: first };
  }

  /** The segments of a snapshot. @throws NotServedError if the columns were dropped meanwhile. */
  *chunks(type: TypeKey, id: number, snapshot: SnapshotRecord | undefined): Generator<Buffer, undefined> {
    for (let chunk = 0; chunk < (snapshot?.chunks ?? 0); chunk++)
      yield this.#segment(type, chunkKey(id, must(snapshot, 'it has chunks').position, chunk));
  }

  #segment(type: TypeKey, key: Buffer): Buffer {
    const bytes = this.#segments.get(key);
    if (bytes === undefined) throw new NotServedError(type);
    return bytes;
  }
}

export type ChangesRange = { readonly from: number; readonly to: number; readonly position: number };

const dropPrefix = 'drop:';

/** Of numbers with spaces between; none in no text. */
function numbersIn(text: string | undefined): readonly number[] {
  return text === undefined ? [] : text.split(' ').map(Number);
}

/** Big-endian, so that keys are in the order of their numbers. */
function keyOf(id: number, kind?: number, number?: number): Buffer {
  const key = Buffer.allocUnsafe(kind === undefined ? 4 : 9);
  key.writeUInt32BE(id);
  if (kind === undefined) return key;
  key[4] = kind;
  key.writeUInt32BE(number ?? 0, 5);
  return key;
}

function positionKey(id: number, position: number): Buffer {
  const key = Buffer.allocUnsafe(12);
  key.writeUInt32BE(id);
  // Of numbers >= 0 the bytes have the order of the values.
  key.writeDoubleBE(position, 4);
  return key;
}

function chunkKey(id: number, position: number, chunk: number): Buffer {
  return Buffer.concat([keyOf(id, chunkKind, chunk), positionKey(id, position).subarray(4)]);
}
