import type { Database, RootDatabaseOptions, Transaction } from 'lmdb';
import { streamRevision } from '../src/log/log.ts';
import type { StreamName, StreamRevision } from '../src/log/log.ts';
import { typeKey, type TypeKey } from '../src/resource/type/index-entry.ts';
import type { NameRange } from '../src/command/upgrade/stored-rows.ts';
import type { Declared } from '../src/read/declarations.ts';
import { decodeCheckpoint, encodeCheckpoint, type Checkpoint } from './checkpoint.ts';
import { LmdbEnvironment, type PrepareTables } from './lmdb-environment.ts';
import type { HeldReference } from '../src/resource/references/named-targets.ts';
import type { IntentWriter } from './references/fold-intent.ts';
import { IntentTables } from './references/intent-tables.ts';
import { ReferenceTables } from './references/reference-tables.ts';

/** A consistent view of the tables until `release()`. The next read of a table overwrites the buffer from `rowFast`. */
export type Snapshot = {
  rowFast(type: TypeKey, name: string): Buffer | undefined;
  release(): void;
};

/** The type declarations of the `lmdb` package lack these options. */
type ReadOptions = { readonly transaction: Transaction };
type Rows = Database<Buffer, string> & { getBinaryFast(key: string, options?: ReadOptions): Buffer | undefined };

export type Writer = IntentWriter & {
  /** `recreated`: whether the table of deleted names has an entry for the name. The entry is then removed. */
  putRow(type: TypeKey, name: string, row: Buffer, options: { readonly recreated: boolean }): void;
  /** Removes the row of the name. Records `revision`, after which a later object with the same name continues. */
  putDeleted(type: TypeKey, name: string, revision: StreamRevision): void;
  putReferences(type: TypeKey, name: string, refs: readonly HeldReference[]): void;
  /** Drops the object's intents (`fold-intent.ts`) that the event at `revision` ends. */
  dropIntents(type: TypeKey, name: string, revision: StreamRevision): void;
  putPasswordHash(uid: string, revision: StreamRevision, hash: string): void;
  putTokenDigest(uid: string, digest: string): void;
  /** Deletes the password hashes and the token digest of a deleted object. */
  dropSecrets(uid: string): void;
  /** Sets the last folded revision of a stream without objects. */
  putHead(stream: StreamName, revision: StreamRevision): void;
  putOnceUnique(type: TypeKey, names: readonly string[]): void;
  putDeclared(type: TypeKey, declared: Declared): void;
  putLevel(level: number): void;
  putCheckpoint(checkpoint: Checkpoint): void;
};

/** The tables of the object read model in LMDB. */
export class LmdbTables {
  readonly #environment: LmdbEnvironment;
  /** `<type>/<name>` → row, for existing objects. */
  readonly #rows: Rows;
  /** The table of `#rows`, with values as views of lmdb's shared read buffer. */
  readonly #scans: Database<Buffer, string>;
  /** `<type>/<name>` → last revision, for names without an object. */
  readonly #deleted: Database<number, string>;
  /** Stream → last revision, for streams without objects. */
  readonly #heads: Database<number, string>;
  /**
   * `<uid>/<revision>` → password hash; `<uid>` → digest of the latest token. No response contains a value of this
   * table.
   */
  readonly #secrets: Database<string, string>;
  /**
   * The checkpoint, the log's level, and for each type its latest declaration and the indexes that are or were unique.
   */
  readonly #meta: Database<string, string>;
  readonly #references: Database<string, string>;
  readonly references: ReferenceTables;
  readonly intents: IntentTables;

  /** `prepare` creates missing files, so that opening the tables cannot fail on a full disk. */
  constructor(dir: string, prepare?: PrepareTables) {
    this.#environment = new LmdbEnvironment(dir, { databases: 7, prepare });
    const { root } = this.#environment;
    this.#rows = root.openDB({ name: 'rows', encoding: 'binary' });
    const shared: RootDatabaseOptions & { readonly name: string } = {
      name: 'rows',
      encoder: { encode: refuseToWrite, decode: sharedValue },
    };
    this.#scans = root.openDB(shared);
    this.#deleted = root.openDB({ name: 'gone', encoding: 'ordered-binary' });
    this.#heads = root.openDB({ name: 'heads', encoding: 'ordered-binary' });
    this.#secrets = root.openDB({ name: 'secrets', encoding: 'string' });
    this.#meta = root.openDB({ name: 'meta', encoding: 'string' });
    this.#references = root.openDB({ name: 'references', encoding: 'string' });
    this.references = new ReferenceTables(this.#references);
    this.intents = new IntentTables(this.#references);
    this.#environment.opened();
  }

  checkpoint(): Checkpoint | undefined {
    const text: unknown = this.#meta.get('checkpoint');
    return text === undefined ? undefined : decodeCheckpoint(text);
  }

  /** The level of the log; undefined if no level is recorded. */
  level(): number | undefined {
    const text = this.#meta.get('level');
    return text === undefined ? undefined : Number(text);
  }

  /** The latest declaration of each type. */
  declared(): readonly (readonly [TypeKey, Declared])[] {
    return this.#byType(declaredPrefix).map(([type, text]) => [type, JSON.parse(text) as Declared]);
  }

  /** The names of the indexes that are or were unique, by type. */
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

  /** The row in a shared buffer, which the next read of a table overwrites. */
  rowFast(type: TypeKey, name: string): Buffer | undefined {
    return this.#shared(rowKey(type, name));
  }

  #shared(key: string, options?: ReadOptions): Buffer | undefined {
    const row = this.#rows.getBinaryFast(key, options);
    return row && sharedValue(row);
  }

  isEmpty(type: TypeKey): boolean {
    return this.names(type, { after: undefined, limit: 1 }).length === 0;
  }

  deletedAt(type: TypeKey, name: string): StreamRevision | undefined {
    const revision: unknown = this.#deleted.get(rowKey(type, name));
    return typeof revision === 'number' ? streamRevision(revision) : undefined;
  }

  /** The last folded revision of a stream without objects. */
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
   * Reads up to `limit` rows of a type in the order of their names, beginning after the name `after`. `read` receives a
   * shared buffer that is valid only during the call. The scan ends when `read` returns false.
   */
  scan(type: TypeKey, { after, limit }: NameRange, read: (row: Buffer, name: string) => boolean): void {
    const prefix = `${type}/`;
    const start = after === undefined ? prefix : `${prefix}${after}\u0001`;
    for (const { key, value } of this.#scans.getRange({ start, end: `${type}0`, limit }))
      if (!read(value, key.slice(prefix.length))) return;
  }

  /** Up to `limit` names of a type's objects in ascending order, beginning after the name `after`. */
  names(type: TypeKey, { after, limit }: NameRange): readonly string[] {
    const prefix = `${type}/`;
    const start = after === undefined ? prefix : `${prefix}${after}\u0001`;
    return [...this.#rows.getKeys({ start, end: `${type}0`, limit })].map((key) => key.slice(prefix.length));
  }

  /** The number of objects of all types. */
  size(): number {
    const { entryCount } = this.#rows.getStats() as { readonly entryCount: number };
    return entryCount;
  }

  snapshot(): Snapshot {
    const transaction: Transaction = this.#environment.root.useReadTransaction();
    let held = true;
    return {
      rowFast: (type, name) => this.#shared(rowKey(type, name), { transaction }),
      release: () => {
        if (held) transaction.done();
        held = false;
      },
    };
  }

  /** Runs `write` in one transaction. An exception rolls back the transaction. */
  commit(write: (writer: Writer) => void): void {
    this.intents.begin();
    this.#environment.commit(() => {
      write(this.#writer);
    });
    this.intents.keep();
  }

  /** Deletes all contents, including the checkpoint. */
  clear(): void {
    this.#environment.commit(() => {
      const [rows, secrets] = [
        [this.#rows, this.#deleted, this.#heads],
        [this.#secrets, this.#meta],
      ];
      for (const table of [...rows, ...secrets, this.#references]) table.clearSync();
    });
    this.intents.clear();
  }

  /** Closes and flushes the tables, so that the tables remain valid after a reboot. */
  async close(): Promise<void> {
    await this.#environment.close();
  }

  readonly #writer: Writer = {
    putRow: (type, name, row, { recreated }) => {
      this.#rows.putSync(rowKey(type, name), row);
      if (recreated) this.#deleted.removeSync(rowKey(type, name));
    },
    putDeleted: (type, name, revision) => {
      this.#rows.removeSync(rowKey(type, name));
      this.#deleted.putSync(rowKey(type, name), revision);
    },
    putReferences: (type, name, refs) => {
      this.references.put(type, name, refs);
    },
    dropIntents: (type, name, revision) => {
      this.intents.drop(rowKey(type, name), revision);
    },
    putIntent: (intent) => {
      this.intents.putIntent(intent);
    },
    withdrawIntent: (intent) => {
      this.intents.withdrawIntent(intent);
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
      this.#meta.putSync('checkpoint', encodeCheckpoint(checkpoint));
    },
  };
}

/**
 * Returns a view of the value's true length. lmdb sets the `length` of one large buffer, but since Node 22
 * `Buffer.concat`, `copy` and `from` ignore this `length`. So no other code may receive lmdb's buffer.
 */
function sharedValue(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length);
}

function refuseToWrite(): never {
  throw new Error('the handle for scans is read-only: write rows through #rows');
}

function rowKey(type: TypeKey, name: string): string {
  return `${type}/${name}`;
}

const uniquePrefix = 'unique:';
const declaredPrefix = 'declared:';

/** The maximum length of a uid in a key. LMDB limits the length of keys. */
const secretUidLengthMax = 64;

function passwordKey(uid: string, revision: number): string {
  return `${uid}/${String(revision)}`;
}
