import type { Clock } from '../../src/base/clock.ts';
import { auditRestMs, auditSliceEventsMax } from '../../src/limits/audit.ts';
import { epochShift, logStart, type LogIdentity, type LogPosition, type RecordedEvent } from '../../src/log/log.ts';
import type { AuditProgress } from '../../src/read/audit-progress.ts';
import type { WaitOptions } from '../../src/read/objects.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { PositionWaiters } from '../positions/position-waiters.ts';
import type { Fold } from '../runner.ts';
import type { AuditPart } from './audit-part.ts';
import type { AuditTables } from './audit-tables.ts';

/**
 * All categories of streams except `lease`. The log truncates the streams of leases, so their old events cannot be
 * read.
 */
export const auditedCategories = [
  'access',
  'claim',
  'closing',
  'guard',
  'object',
  'package',
  'platform',
  'ref',
  'secret',
  'type',
  'unique',
];

export type AuditModelDependencies = {
  readonly tables: AuditTables;
  readonly parts: readonly AuditPart[];
  readonly identity: () => LogIdentity;
  readonly clock: Clock;
};

type FoldProgress = {
  readonly position: LogPosition;
  readonly events: number;
};

/**
 * The indexes over the whole log that audit requests read. The indexes have their own checkpoint, so that no write
 * waits for them.
 */
export class AuditModels implements Fold, AuditProgress {
  readonly categories = auditedCategories;
  readonly sliceEventsMax = auditSliceEventsMax;
  readonly #tables: AuditTables;
  readonly #parts: readonly AuditPart[];
  readonly #identity: () => LogIdentity;
  readonly #clock: Clock;
  readonly #waiters: PositionWaiters;
  readonly #listeners = new Set<(batch: readonly RecordedEvent[]) => void>();
  #position: LogPosition;
  #events: number;
  /** The batch of events since the last commit; undefined if no event was added. */
  #open: OpenBatch | undefined;
  /** Ends the wait in `rest`; undefined while `rest` does not wait. */
  #endRest: (() => void) | undefined;
  #unavailable: string | undefined = 'the audit indexes are not open yet';
  #readAgain: () => void = () => undefined;

  constructor({ tables, parts, identity, clock }: AuditModelDependencies) {
    this.#tables = tables;
    this.#parts = parts;
    this.#identity = identity;
    this.#clock = clock;
    this.#waiters = new PositionWaiters(clock);
    const { position = logStart, events = 0 } = tables.checkpoint() ?? {};
    [this.#position, this.#events] = [position, events];
  }

  position(): LogPosition {
    return this.#position;
  }

  /** The number of folded events. */
  folded(): number {
    return this.#events;
  }

  identity(): LogIdentity {
    return this.#identity();
  }

  checkpoint(): Checkpoint | undefined {
    return this.#tables.checkpoint();
  }

  unavailable(): string | undefined {
    return this.#unavailable;
  }

  /** `reason`: the reason to refuse requests that need the indexes; undefined when the indexes follow the log. */
  setUnavailable(reason: string | undefined): void {
    this.#unavailable = reason;
  }

  async reached(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'> {
    if (position <= this.#position) return 'reached';
    const outcome = this.#waiters.wait(position, options);
    this.#endRest?.();
    return outcome;
  }

  overdue(): void {
    this.#readAgain();
  }

  /** Sets the function that `overdue` calls to read the log again, from the last folded event. */
  onOverdue(readAgain: () => void): void {
    this.#readAgain = readAgain;
  }

  /**
   * Waits for `auditRestMs`, because one commit of many events costs less than many commits of few events. Resolves at
   * once while a request waits for a position, and when `signal` aborts.
   */
  async rest(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#waiters.size > 0) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        this.#endRest = undefined;
        resolve();
      };
      const timer = this.#clock.after(auditRestMs, end);
      signal.addEventListener('abort', end, { once: true });
      this.#endRest = end;
    });
  }

  /** Calls `listener` with each batch, in the turn in which `apply` commits the batch. `listener` must not throw. */
  subscribe(listener: (batch: readonly RecordedEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  clear(): void {
    this.#tables.clear();
    [this.#position, this.#events] = [logStart, 0];
  }

  apply(batch: readonly RecordedEvent[]): number {
    for (const recorded of batch) this.add(recorded);
    this.commit();
    for (const listener of this.#listeners) listener(batch);
    return batch.length;
  }

  /**
   * Adds an event to the open batch. When `commit` is called, the batch must consist of whole appends. Returns the
   * estimated bytes of the open batch in memory. An exception discards the open batch.
   */
  add(recorded: RecordedEvent): number {
    const open = (this.#open ??= { ...noEvents, shift: epochShift(this.#identity().epoch) });
    const { position } = recorded;
    const within = Number(position - open.shift);
    try {
      for (const part of this.#parts) open.bytes += part.add(recorded, within);
    } catch (error) {
      this.#discard();
      throw error;
    }
    [open.position, open.eventId] = [position, recorded.id];
    open.events += 1;
    return open.bytes;
  }

  /** The position of the last added event, and the number of all events in the tables and the open batch. */
  progress(): FoldProgress {
    const { position = this.#position, events = 0 } = this.#open ?? {};
    return { position, events: this.#events + events };
  }

  /**
   * Writes the open batch and its checkpoint in one transaction. An exception rolls back the transaction and discards
   * the batch.
   */
  commit(): void {
    if (this.#open === undefined) return;
    const { position, eventId } = this.#open;
    const events = this.#events + this.#open.events;
    try {
      this.#tables.commit({ ...this.#identity(), position, eventId, events, time: 0 }, () => {
        for (const part of this.#parts) part.write();
      });
    } catch (error) {
      this.#discard();
      throw error;
    }
    this.#open = undefined;
    [this.#position, this.#events] = [position, events];
    for (const part of this.#parts) part.committed();
    this.#waiters.reached(position);
  }

  #discard(): void {
    this.#open = undefined;
    for (const part of this.#parts) part.rolledBack();
  }
}

type OpenBatch = {
  /** The offset that the epoch adds to positions (`epochShift`). */
  readonly shift: bigint;
  /** The estimated bytes in memory. */
  bytes: number;
  events: number;
  /** The position of the last event. */
  position: LogPosition;
  /** The id of the last event. */
  eventId: string;
};

const noEvents = { bytes: 0, events: 0, position: logStart, eventId: '' };
