import { NotServedError } from '../../../src/read/objects.ts';
import { typeKey, type TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { AuditEnvironment, Table } from '../audit-part.ts';
import type { AuditTableName } from '../audit-tables.ts';

/** The stored state of one type's columns under one declaration of its indexes. Positions are within the epoch. */
export type ColumnsRecord = {
  /** The number of the columns in the keys of segments and snapshots. A number is never reused. */
  readonly id: number;
  readonly fingerprint: string;
  /** The position up to which the segments have all changes. */
  readonly through: number;
  /** The number of full segments of changes. */
  readonly sealed: number;
  /** The number of rows in the segment that is not full; 0 if this segment is not stored. */
  readonly open: number;
  /** The number of objects at `through`. */
  readonly objects: number;
  /** The number of rows in full segments since the last snapshot. */
  readonly changed: number;
  /** The position of the last row in a full segment. */
  readonly sealedThrough: number;
};

export type SnapshotRecord = {
  readonly position: number;
  readonly chunks: number;
  /** The number of the first segment of changes after the snapshot. */
  readonly from: number;
};

const changeKind = 0;
const chunkKind = 1;

/** Names, segments and snapshots of the columns of all types. */
export class ColumnTables {
  /**
   * A type's number and an object's name → the ordinal of the name. Entries are never removed, because a new object may
   * have the name of a deleted object.
   */
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

  /** Runs `write` in one transaction. An exception rolls back the transaction. */
  commit(write: () => void): void {
    this.#meta.transactionSync(write);
    this.#meta.resetReadTxn();
  }

  types(): readonly TypeKey[] {
    return typesIn(this.#meta.getKeys({ start: typePrefix, end: `${typePrefix}\uffff` }));
  }

  record(type: TypeKey): ColumnsRecord | undefined {
    const text = this.#meta.get(`${typePrefix}${type}`);
    if (text === undefined) return undefined;
    const [fingerprint = '', ...rest] = text.split(' ');
    const [id = 0, through = 0, sealed = 0, open = 0, objects = 0, changed = 0, sealedThrough = 0] = rest.map(Number);
    return { id, fingerprint, through, sealed, open, objects, changed, sealedThrough };
  }

  putRecord(type: TypeKey, record: ColumnsRecord): void {
    const { id, fingerprint, through, sealed, open, objects, changed, sealedThrough } = record;
    const numbers = [id, through, sealed, open, objects, changed, sealedThrough];
    this.#meta.putSync(`${typePrefix}${type}`, `${fingerprint} ${numbers.join(' ')}`);
  }

  /** The ids of dropped columns, which may still have segments in the tables. */
  dropped(): readonly number[] {
    return [...this.#meta.getKeys({ start: dropPrefix, end: `${dropPrefix}~` })].map((key) =>
      Number(key.slice(dropPrefix.length)),
    );
  }

  putDropped(id: number): void {
    this.#meta.putSync(`${dropPrefix}${String(id)}`, '');
  }

  /**
   * Removes up to `limit` segments and up to `limit` snapshots of dropped columns. Returns false if some may be left.
   */
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

  /** Returns a new number, which no type and no columns had before. Call `nextId` inside `commit`. */
  nextId(): number {
    const id = Number(this.#meta.get('next') ?? '1');
    this.#meta.putSync('next', String(id + 1));
    return id;
  }

  /**
   * Returns the ordinals of names, and assigns the next ordinals of the type to new names. Call `ordinals` inside
   * `commit`.
   */
  ordinals(type: TypeKey, names: readonly string[]): readonly number[] {
    const [id = this.nextId(), numbered = 0] = numbersIn(this.#meta.get(`names:${type}`));
    let next = numbered;
    const ordinals = names.map((name) => {
      const key = nameKey(id, name);
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

  /** The ordinal of a name; undefined for a name without an ordinal. */
  ordinal(type: TypeKey, name: string): number | undefined {
    const [id] = numbersIn(this.#meta.get(`names:${type}`));
    return id === undefined ? undefined : this.#names.get(nameKey(id, name))?.readUInt32LE(0);
  }

  /** The number of ordinals of a type. The ordinals begin with 0 and have no gaps. */
  ordinalCount(type: TypeKey): number {
    return numbersIn(this.#meta.get(`names:${type}`))[1] ?? 0;
  }

  /**
   * Up to `limit` names of a type with their ordinals, in the byte order of the names, beginning after the name
   * `after`.
   */
  numberedNames(type: TypeKey, after: string | undefined, limit: number): readonly NumberedName[] {
    const [id] = numbersIn(this.#meta.get(`names:${type}`));
    if (id === undefined) return [];
    const start = after === undefined ? keyOf(id) : Buffer.concat([nameKey(id, after), Buffer.alloc(1)]);
    return [...this.#names.getRange({ start, end: keyOf(id + 1), limit })].map(({ key, value }) => ({
      name: Buffer.from(key.subarray(4)).toString('latin1'),
      ordinal: value.length === 4 ? value.readUInt32LE(0) : undefined,
    }));
  }

  putChanges(id: number, number: number, bytes: Buffer): void {
    this.#segments.putSync(keyOf(id, changeKind, number), bytes);
  }

  /**
   * Returns a segment of changes. The bytes are valid until the next read of a table, at most in this turn.
   *
   * @throws NotServedError if the columns were dropped.
   */
  changes(type: TypeKey, id: number, number: number): Buffer {
    return this.#segment(type, keyOf(id, changeKind, number));
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
    const range = {
      start: positionKey(id, position),
      end: keyOf(id),
      reverse: true,
      limit: 1,
    };
    const [found] = [...this.#snapshots.getRange(range)];
    const [at, chunks = 0, first = 0] = numbersIn(found?.value);
    return at === undefined ? undefined : { position: at, chunks, from: first };
  }

  /** The snapshots of columns, in the order of their positions. */
  snapshots(id: number): readonly SnapshotRecord[] {
    return [...this.#snapshots.getRange({ start: keyOf(id), end: keyOf(id + 1) })].map(({ value }) => {
      const [position = 0, chunks = 0, from = 0] = numbersIn(value);
      return { position, chunks, from };
    });
  }

  /**
   * Returns a segment of a snapshot. The bytes are valid until the next read of a table, at most in this turn.
   *
   * @throws NotServedError if the columns were dropped.
   */
  chunk(type: TypeKey, id: number, [position, chunk]: readonly [position: number, chunk: number]): Buffer {
    return this.#segment(type, chunkKey(id, position, chunk));
  }

  /**
   * Returns a segment without copying the bytes. A list reads hundreds of segments, and collecting hundreds of copies
   * as garbage would delay all requests.
   *
   * @throws NotServedError if the columns were dropped.
   */
  #segment(type: TypeKey, key: Buffer): Buffer {
    const bytes = this.#segments.getBinaryFast(key);
    if (bytes === undefined) throw new NotServedError(type);
    // lmdb returns a larger buffer, and sets the buffer's `length` to the length of the value.
    return bytes.subarray(0, bytes.length);
  }
}

/** A name in the table of names. `ordinal` is undefined if the entry is damaged. */
type NumberedName = {
  readonly name: string;
  readonly ordinal: number | undefined;
};

/** The table with the types that have columns. */
export const columnsTable: AuditTableName = { part: 'columns', name: 'columns:meta', keys: 'ordered-binary' };

const dropPrefix = 'drop:';
const typePrefix = 'type:';

/** The types with columns, from the keys of the table `meta`. */
export function typesIn(keys: Iterable<string>): readonly TypeKey[] {
  return [...keys].filter((key) => key.startsWith(typePrefix)).map((key) => typeKey(key.slice(typePrefix.length)));
}

function nameKey(id: number, name: string): Buffer {
  return Buffer.concat([keyOf(id), Buffer.from(name, 'latin1')]);
}

/** The numbers in a text, separated by spaces; empty without a text. */
function numbersIn(text: string | undefined): readonly number[] {
  return text === undefined ? [] : text.split(' ').map(Number);
}

/**
 * The key of a segment; without `kind`, the prefix of all keys of `id`. Big-endian keys sort in the order of the
 * numbers.
 */
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
  // The big-endian bytes of doubles >= 0 sort in the order of the doubles.
  key.writeDoubleBE(position, 4);
  return key;
}

function chunkKey(id: number, position: number, chunk: number): Buffer {
  return Buffer.concat([keyOf(id, chunkKind, chunk), positionKey(id, position).subarray(4)]);
}
