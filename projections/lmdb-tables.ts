import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { open, type Database, type RootDatabase, type RootDatabaseOptions, type Transaction } from 'lmdb';
import { logPosition, streamRevision } from '../src/log/log.ts';
import type { LogIdentity, LogPosition, StreamName, StreamRevision } from '../src/log/log.ts';
import { typeKey, type TypeKey } from '../src/resource/type/index-entry.ts';
import type { Declared } from '../src/read/declarations.ts';
import { discard, isTrustworthy, markUse, tablesFile } from './lmdb-use.ts';

/**
 * The read models' LMDB environment. It is written by `transactionSync` alone, unflushed: a crash of the process loses
 * nothing, as the kernel holds the pages; after a crash of the machine the tables are thrown away and rebuilt from the log
 * (consistency protocol, 2; `lmdb-use.ts`).
 */

/** How far the tables have folded which log. */
export type Checkpoint = LogIdentity & {
  readonly position: LogPosition;
  readonly eventId: string;
  /** Events folded in all, and the latest time that any of them says it is of, in epoch milliseconds. */
  readonly events: number;
  readonly time: number;
};

/** A consistent view of the tables, held across turns until `release()`. A row is valid only until the next read of any row. */
export type Snapshot = { rowFast(type: TypeKey, name: string): Buffer | undefined; release(): void };

/** The library's types leave out the options. */
type ReadOptions = { readonly transaction: Transaction };
type Rows = Database<Buffer, string> & { getBinaryFast(key: string, options?: ReadOptions): Buffer | undefined };

export type Writer = {
  /** `recreated`: the name stood among the gone. */
  putRow(type: TypeKey, name: string, row: Buffer, options: { readonly recreated: boolean }): void;
  /** The object is gone; its stream goes on numbering after `revision`. */
  putGone(type: TypeKey, name: string, revision: StreamRevision): void;
  putPasswordHash(uid: string, revision: StreamRevision, hash: string): void;
  putTokenDigest(uid: string, digest: string): void;
  /** The object of that uid is gone, and what was kept of it. */
  dropSecrets(uid: string): void;
  /** The last folded revision of a stream that is no object's. */
  putHead(stream: StreamName, revision: StreamRevision): void;
  putOnceUnique(type: TypeKey, names: readonly string[]): void;
  putDeclared(type: TypeKey, declared: Declared): void;
  putLevel(level: number): void;
  putCheckpoint(checkpoint: Checkpoint): void;
};

export type PrepareTables = (files: { readonly data: string; readonly lock: string; readonly isFolder: boolean }) => void;

export class LmdbTables {
  readonly #dir: string;
  readonly #root: RootDatabase;
  /** `<type>/<name>` → row. Holds live objects only. */
  readonly #rows: Rows;
  /** The same table, its values in a shared buffer. */
  readonly #scans: Database<Buffer, string>;
  /** `<type>/<name>` → last revision, of names without an object. No key is in both tables. */
  readonly #gone: Database<number, string>;
  /** Stream → last revision, of streams that are no object's: the fold checks with it that none is missing. */
  readonly #heads: Database<number, string>;
  /** `<uid>/<revision>` → a password's hash; `<uid>` → the digest of the token issued last. No API reads it. */
  readonly #secrets: Database<string, string>;
  /** The checkpoint, the log's level, and by type its last declaration, and which of its indexes were ever unique. */
  readonly #meta: Database<string, string>;

  /** `prepare` makes the files that are not there yet, so that the library's open cannot fail on a full disk. */
  constructor(dir: string, prepare: PrepareTables = () => undefined) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    if (!isTrustworthy(dir)) discard(dir);
    this.#dir = dir;
    const path = join(dir, tablesFile);
    prepare({ data: path, lock: `${path}-lock`, isFolder: false });
    this.#root = open({ path, noSubdir: true, noSync: true, maxDbs: 6, maxReaders: 1024, encoding: 'binary' });
    this.#rows = this.#root.openDB({ name: 'rows', encoding: 'binary' });
    const shared: RootDatabaseOptions & { readonly name: string } = { name: 'rows', encoder: { encode: refuseToWrite, decode: sharedValue } };
    this.#scans = this.#root.openDB(shared);
    this.#gone = this.#root.openDB({ name: 'gone', encoding: 'ordered-binary' });
    this.#heads = this.#root.openDB({ name: 'heads', encoding: 'ordered-binary' });
    this.#secrets = this.#root.openDB({ name: 'secrets', encoding: 'string' });
    this.#meta = this.#root.openDB({ name: 'meta', encoding: 'string' });
    markUse(dir, { clean: false });
  }

  checkpoint(): Checkpoint | undefined {
    const text: unknown = this.#meta.get('checkpoint');
    return text === undefined ? undefined : decodeCheckpoint(text);
  }

  /** The log's; undefined where it says none. */
  level(): number | undefined {
    const text = this.#meta.get('level');
    return text === undefined ? undefined : Number(text);
  }

  /** By type: its last declaration. */
  declared(): readonly (readonly [TypeKey, Declared])[] {
    return this.#byType(declaredPrefix).map(([type, text]) => [type, JSON.parse(text) as Declared]);
  }

  /** By type: the indexes of which an event says that a value is held. */
  onceUnique(): readonly (readonly [TypeKey, readonly string[]])[] {
    return this.#byType(uniquePrefix).map(([type, text]) => [type, JSON.parse(text) as readonly string[]]);
  }

  #byType(prefix: string): readonly (readonly [TypeKey, string])[] {
    const entries = [...this.#meta.getRange({ start: prefix, end: `${prefix}\uffff` })];
    return entries.map(({ key, value }) => [typeKey(key.slice(prefix.length)), value]);
  }

  row(type: TypeKey, name: string): Buffer | undefined {
    return this.#rows.get(rowKey(type, name));
  }

  /** The row in a shared buffer: valid only until the next read of any row. */
  rowFast(type: TypeKey, name: string): Buffer | undefined {
    return this.#shared(rowKey(type, name));
  }

  #shared(key: string, options?: ReadOptions): Buffer | undefined {
    const row = this.#rows.getBinaryFast(key, options);
    return row && sharedValue(row);
  }

  /** No object of the type stands. */
  isEmpty(type: TypeKey): boolean {
    return this.names(type, { after: undefined, limit: 1 }).length === 0;
  }

  gone(type: TypeKey, name: string): StreamRevision | undefined {
    const revision: unknown = this.#gone.get(rowKey(type, name));
    return typeof revision === 'number' ? streamRevision(revision) : undefined;
  }

  /** Of a stream that is no object's: its last folded revision. */
  head(stream: StreamName): StreamRevision | undefined {
    const revision: unknown = this.#heads.get(stream);
    return typeof revision === 'number' ? streamRevision(revision) : undefined;
  }

  passwordHash(uid: string, revision: number): string | undefined {
    return uid.length > secretUidLengthMax ? undefined : this.#secrets.get(passwordKey(uid, revision));
  }

  tokenDigest(uid: string): string | undefined {
    return uid.length > secretUidLengthMax ? undefined : this.#secrets.get(uid);
  }

  /**
   * Reads a type's rows in order of name, starting after `after`. `read` gets each row in a shared buffer, valid only until it
   * returns: a scan of a million rows copies none of them. The scan ends early where `read` answers false.
   */
  scan(type: TypeKey, { after, limit }: { readonly after: string | undefined; readonly limit: number }, read: (row: Buffer, name: string) => boolean): void {
    const prefix = `${type}/`;
    const start = after === undefined ? prefix : `${prefix}${after}\u0001`;
    for (const { key, value } of this.#scans.getRange({ start, end: `${type}0`, limit })) if (!read(value, key.slice(prefix.length))) return;
  }

  /** Names of a type's objects in order, starting after `after`. */
  names(type: TypeKey, { after, limit }: { readonly after: string | undefined; readonly limit: number }): readonly string[] {
    const prefix = `${type}/`;
    const start = after === undefined ? prefix : `${prefix}${after}\u0001`;
    return [...this.#rows.getKeys({ start, end: `${type}0`, limit })].map((key) => key.slice(prefix.length));
  }

  /** How many objects there are, of all types: to count one type's would be a walk over their keys. */
  size(): number {
    const { entryCount } = this.#rows.getStats() as { readonly entryCount: number };
    return entryCount;
  }

  snapshot(): Snapshot {
    const transaction: Transaction = this.#root.useReadTransaction();
    let held = true;
    return {
      rowFast: (type, name) => this.#shared(rowKey(type, name), { transaction }),
      release: () => {
        if (held) transaction.done();
        held = false;
      },
    };
  }

  /** Runs `write` in one transaction, visible to every read from the moment this returns. A throw rolls all of it back. */
  commit(write: (writer: Writer) => void): void {
    this.#root.transactionSync(() => { write(this.#writer); });
    this.#root.resetReadTxn();
  }

  /** Forgets everything: what is folded next is folded from the log's start. */
  clear(): void {
    this.#root.transactionSync(() => {
      for (const table of [this.#rows, this.#gone, this.#heads, this.#secrets, this.#meta]) table.clearSync();
    });
    this.#root.resetReadTxn();
  }

  /** Flushes, so that the tables can be trusted even by another boot. */
  async close(): Promise<void> {
    await this.#root.close();
    const file = openSync(join(this.#dir, tablesFile), 'r+');
    fsyncSync(file);
    closeSync(file);
    markUse(this.#dir, { clean: true });
  }

  readonly #writer: Writer = {
    putRow: (type, name, row, { recreated }) => {
      this.#rows.putSync(rowKey(type, name), row);
      if (recreated) this.#gone.removeSync(rowKey(type, name));
    },
    putGone: (type, name, revision) => {
      this.#rows.removeSync(rowKey(type, name));
      this.#gone.putSync(rowKey(type, name), revision);
    },
    putPasswordHash: (uid, revision, hash) => {
      if (uid.length <= secretUidLengthMax) this.#secrets.putSync(passwordKey(uid, revision), hash);
    },
    putTokenDigest: (uid, digest) => {
      if (uid.length <= secretUidLengthMax) this.#secrets.putSync(uid, digest);
    },
    dropSecrets: (uid) => {
      if (uid.length > secretUidLengthMax) return;
      this.#secrets.removeSync(uid);
      for (let revision = 0; this.#secrets.removeSync(passwordKey(uid, revision)); revision += 1);
    },
    putHead: (stream, revision) => {
      this.#heads.putSync(stream, revision);
    },
    putOnceUnique: (type, names) => {
      this.#meta.putSync(`${uniquePrefix}${type}`, JSON.stringify(names));
    },
    putDeclared: (type, declared) => {
      this.#meta.putSync(`${declaredPrefix}${type}`, JSON.stringify(declared));
    },
    putLevel: (level) => {
      this.#meta.putSync('level', String(level));
    },
    putCheckpoint: (checkpoint) => {
      this.#meta.putSync('checkpoint', JSON.stringify({ ...checkpoint, position: checkpoint.position.toString() }));
    },
  };
}

/**
 * The value in the memory that lmdb's reads share. lmdb overrides `length` on its one large buffer instead of cutting it;
 * `Buffer.concat`, `copy` and `from` go by the true length since Node 22, and would copy other rows behind the value. No
 * other code sees lmdb's buffer.
 */
function sharedValue(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length);
}

function refuseToWrite(): never {
  throw new Error('rows are written through their own handle');
}

function rowKey(type: TypeKey, name: string): string {
  return `${type}/${name}`;
}

const uniquePrefix = 'unique:';
const declaredPrefix = 'declared:';

/** Ours are UUIDs; a longer key no table would take. */
const secretUidLengthMax = 64;

function passwordKey(uid: string, revision: number): string {
  return `${uid}/${String(revision)}`;
}

function decodeCheckpoint(text: unknown): Checkpoint {
  const raw: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
  if (typeof raw !== 'object' || raw === null) throw new Error('the read models\' checkpoint does not decode');
  const { logId, epoch, position, eventId, events, time } = raw as Record<string, unknown>;
  if (typeof logId !== 'string' || typeof position !== 'string' || typeof eventId !== 'string' || typeof epoch !== 'number' || typeof events !== 'number' || typeof time !== 'number') {
    throw new Error('the read models\' checkpoint does not decode');
  }
  return { logId, epoch, position: logPosition(BigInt(position)), eventId, events, time };
}
