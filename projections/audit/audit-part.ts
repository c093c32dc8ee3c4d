import type { Database } from 'lmdb';

import type { RecordedEvent } from '../../src/log/log.ts';

/** A table that only one part of the audit models writes. */
export type Table<Value, Key extends string | number | Uint8Array> = Database<Value, Key>;

/** Opens named databases of the audit models' LMDB environment. */
export type AuditEnvironment = {
  openTable<Value>(name: string, options: TableOptions): Table<Value, string>;
  openNumberedTable<Value>(name: string, options: TableOptions): Table<Value, number>;
  openBinaryTable<Value>(name: string, options: TableOptions): Table<Value, Uint8Array>;
};

/**
 * The encoding of the values. The method that opens the table determines the encoding of the keys: lmdb's
 * ordered-binary format, unsigned 32-bit numbers, or plain bytes.
 */
export type TableOptions = { readonly encoding: 'binary' | 'string' | 'ordered-binary' };

/**
 * One index over the events of the log. Events are added to an open batch of whole appends, which one transaction
 * writes. Positions may be stored within the epoch (`position - epochShift(epoch)`), because a new epoch rebuilds all
 * tables.
 */
export type AuditPart = {
  /** The prefix of the names of the part's tables; unique among the parts. */
  readonly name: string;
  /** The format of the part's tables. After a change of the format, the next start rebuilds the tables of all parts. */
  readonly format: number;
  /** Opens the part's tables. Call `open` exactly once, before any other method. */
  open(environment: AuditEnvironment): void;
  /**
   * Adds an event to the open batch, in memory. `within`: the position of the event within the epoch. Returns the
   * estimated bytes that the event takes in memory. An exception discards the open batch of all parts.
   *
   * The event may be in a buffer that the next read of a table overwrites. So `add` must read no table and retain no
   * bytes of the event.
   */
  add(recorded: RecordedEvent, within: number): number;
  /** Writes the open batch, inside the transaction of all parts. An exception rolls back the transaction. */
  write(): void;
  /** Applies the batch to the part's memory. Called after the commit, in the same turn. */
  committed(): void;
  /**
   * Discards the open batch and its changes to the part's memory. Called after `add` or `write` of any part, or the
   * commit, has failed.
   */
  rolledBack(): void;
  /** Discards the part's memory. Called after all tables were cleared. */
  cleared(): void;
};
