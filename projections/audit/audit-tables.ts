import type { Database } from 'lmdb';

import { decodeCheckpoint, encodeCheckpoint, type Checkpoint } from '../checkpoint.ts';
import { LmdbEnvironment, type PrepareTables } from '../lmdb-environment.ts';
import type { AuditEnvironment, AuditPart, TableOptions } from './audit-part.ts';

const databasesMax = 32;

/** The LMDB environment of the audit models: one checkpoint, and the tables of each part. */
export class AuditTables {
  readonly #environment: LmdbEnvironment;
  readonly #parts: readonly AuditPart[];
  readonly #tables: Database[] = [];
  readonly #meta: Database<string, string>;

  /** Clears all tables if the stored formats of the parts differ: the fold then begins at the start of the log. */
  constructor(dir: string, parts: readonly AuditPart[], prepare?: PrepareTables) {
    this.#parts = parts;
    this.#environment = new LmdbEnvironment(dir, { databases: databasesMax, prepare });
    this.#meta = this.#environment.root.openDB({ name: 'meta', encoding: 'string' });
    for (const part of parts) part.open(this.#environmentOf(part));
    const formats = JSON.stringify(parts.map(({ name, format }) => [name, format]));
    if (this.#meta.get('formats') !== formats) this.#clear(formats);
    this.#environment.opened();
  }

  checkpoint(): Checkpoint | undefined {
    const text: unknown = this.#meta.get('checkpoint');
    return text === undefined ? undefined : decodeCheckpoint(text);
  }

  /** Runs `write` and stores the checkpoint, in one transaction. */
  commit(checkpoint: Checkpoint, write: () => void): void {
    this.#environment.commit(() => {
      write();
      this.#meta.putSync('checkpoint', encodeCheckpoint(checkpoint));
    });
  }

  /** Clears all tables: the next fold begins at the start of the log. */
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
    const opened = <Table extends Database>(table: Table): Table => {
      this.#tables.push(table);
      return table;
    };
    const { root } = this.#environment;
    const named = (name: string): string => `${prefix}:${name}`;
    return {
      openTable: <Value>(name: string, options: TableOptions) =>
        opened(root.openDB<Value, string>({ name: named(name), ...options })),
      openNumberedTable: <Value>(name: string, options: TableOptions) =>
        opened(root.openDB<Value, number>({ name: named(name), ...options, keyEncoding: 'uint32' })),
      openBinaryTable: <Value>(name: string, options: TableOptions) =>
        opened(root.openDB<Value, Uint8Array>({ name: named(name), ...options, keyEncoding: 'binary' })),
    };
  }
}
