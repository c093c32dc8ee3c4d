import type { Database } from 'lmdb';

import type { RecordedEvent } from '../../src/log/log.ts';

/** A table of a part; written only within `write` of the part. */
export type Table<Value, Key extends string | number | Uint8Array> = Database<Value, Key>;

/** Opens named databases of the audit models' LMDB environment. */
export type AuditEnvironment = {
  openTable<Value>(name: string, options: TableOptions): Table<Value, string>;
  openNumberedTable<Value>(name: string, options: TableOptions): Table<Value, number>;
  openBinaryTable<Value>(name: string, options: TableOptions): Table<Value, Uint8Array>;
};

/** The library's encoding of the values. Keys: lmdb's ordered binary, unsigned 32-bit numbers, or plain bytes. */
export type TableOptions = { readonly encoding: 'binary' | 'string' | 'ordered-binary' };

/**
 * One index over the events of the log. It keeps positions within the epoch (`position - epochShift(epoch)`): a new
 * epoch rebuilds all tables.
 */
export type AuditPart = {
  /** The prefix of its tables' names; unique. */
  readonly name: string;
  /** Raised when the meaning of its tables changes: the next start then rebuilds the tables of all parts. */
  readonly format: number;
  /** Opens its tables. Called once, before any other method. */
  open(environment: AuditEnvironment): void;
  /** Adds a batch of whole appends, inside the one synchronous transaction. An exception rolls all parts back. */
  write(batch: readonly RecordedEvent[]): void;
  /** After the commit, in the same turn: publishes the changes to what it keeps in memory. */
  committed(): void;
  /** The transaction was rolled back: discards the changes to what it keeps in memory. */
  rolledBack(): void;
  /** All tables are empty now: forgets what it keeps in memory. */
  cleared(): void;
};
