import type { Database } from 'lmdb';

import { decodeCheckpoint, encodeCheckpoint, type Checkpoint } from '../checkpoint.ts';
import { LmdbEnvironment, type PrepareTables } from '../lmdb-environment.ts';
import type { AuditEnvironment, AuditPart, TableOptions } from './audit-part.ts';

const databasesMax = 32;

/** A table of a part: the name of the part, the name of the database, and the encoding of the keys. */
export type AuditTableName = {
  readonly part: string;
  readonly name: string;
  readonly keys: 'ordered-binary' | 'uint32' | 'binary';
};

/** The LMDB environment of the audit models: one checkpoint, and the tables of each part. */
export class AuditTables {
  readonly #environment: LmdbEnvironment;
  readonly #parts: readonly AuditPart[];
  readonly #tables: Database[] = [];
  readonly #names: AuditTableName[] = [];
  readonly #meta: Database<string, string>;

  /**
   * Clears all tables if the stored formats differ from the formats of `parts`. The fold then begins at the start of
   * the log.
   */
  constructor(dir: string, parts: readonly AuditPart[], prepare?: PrepareTables) {
    this.#parts = parts;
    this.#environment = new LmdbEnvironment(dir, { databases: databasesMax, prepare });
    this.#meta = this.#environment.root.openDB({ name: 'meta', encoding: 'string' });
    for (const part of parts) part.open(this.#environmentOf(part));
    const formats = JSON.stringify(parts.map(({ name, format }) => [name, format]));
    if (this.#meta.get('formats') !== formats) this.#clear(formats);
    this.#environment.opened();
  }

  names(): readonly AuditTableName[] {
    return this.#names;
  }

  checkpoint(): Checkpoint | undefined {
    const text: unknown = this.#meta.get('checkpoint');
    return text === undefined ? undefined : decodeCheckpoint(text);
  }

  commit(checkpoint: Checkpoint, write: () => void): void {
    this.#environment.commit(() => {
      write();
      this.#meta.putSync('checkpoint', encodeCheckpoint(checkpoint));
    });
  }

  /** Clears all tables, so that the next fold begins at the start of the log. */
  clear(): void {
    this.#clear(this.#meta.get('formats'));
  }

  async close(): Promise<void> {
    await this.#environment.close();
  }

  #clear(formats: string | undefined): void {
    this.#environment.commit(() => {
      for (const table of [this.#meta, ...this.#tables]) table.clearSync();
      if (formats !== undefined) this.#meta.putSync('formats', formats);
    });
    for (const part of this.#parts) part.cleared();
  }

  #environmentOf({ name: prefix }: AuditPart): AuditEnvironment {
    const { root } = this.#environment;
    const opened = <Table extends Database>(
      name: string,
      keys: AuditTableName['keys'],
      open: (options: { readonly name: string; readonly keyEncoding: AuditTableName['keys'] }) => Table,
    ): Table => {
      const table = open({ name: `${prefix}:${name}`, keyEncoding: keys });
      this.#tables.push(table);
      this.#names.push({ part: prefix, name: `${prefix}:${name}`, keys });
      return table;
    };
    return {
      openTable: <Value>(name: string, options: TableOptions) =>
        opened(name, 'ordered-binary', (named) => root.openDB<Value, string>({ ...named, ...options })),
      openNumberedTable: <Value>(name: string, options: TableOptions) =>
        opened(name, 'uint32', (named) => root.openDB<Value, number>({ ...named, ...options })),
      openBinaryTable: <Value>(name: string, options: TableOptions) =>
        opened(name, 'binary', (named) => root.openDB<Value, Uint8Array>({ ...named, ...options })),
    };
  }
}
