import type { Clock } from '../../src/base/clock.ts';
import { auditRestMs, auditSliceEventsMax } from '../../src/limits/audit.ts';
import { logStart, type LogIdentity, type LogPosition, type RecordedEvent } from '../../src/log/log.ts';
import type { AuditProgress } from '../../src/read/audit-progress.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { PositionWaiters } from '../position-waiters.ts';
import type { Fold } from '../runner.ts';
import type { AuditPart } from './audit-part.ts';
import type { AuditTables } from './audit-tables.ts';

/** All categories except `lease`: the log truncates the streams of leases, so no history contains leases. */
export const auditedCategories = [
  'access',
  'claim',
  'guard',
  'object',
  'package',
  'platform',
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

/**
 * The indexes over the whole log that audit requests read. The fold of these indexes is independent of that of the
 * object read model, with its own checkpoint, so no write waits for the indexes. All parts show the same position.
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
  /** Ends the wait in `rest`; undefined while nothing waits there. */
  #endRest: (() => void) | undefined;
  #unavailable: string | undefined = 'the audit indexes are not open yet';

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

  /** `reason`: the reason to refuse requests that need the indexes; undefined once the indexes follow the log. */
  setUnavailable(reason: string | undefined): void {
    this.#unavailable = reason;
  }

  async reached(
    position: LogPosition,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<'reached' | 'timeout' | 'aborted'> {
    if (position <= this.#position) return 'reached';
    const outcome = this.#waiters.wait(position, options);
    this.#endRest?.();
    return outcome;
  }

  /**
   * Waits before the next batch, unless a request waits for a position: a commit of many events costs less for each
   * event than many commits do.
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

  /** Calls `listener` with each batch after its commit, in the same turn. `listener` must not throw. */
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
    const last = batch.at(-1);
    if (last === undefined) return 0;
    const { position, id: eventId } = last;
    const events = this.#events + batch.length;
    try {
      this.#tables.commit({ ...this.#identity(), position, eventId, events, time: 0 }, () => {
        for (const part of this.#parts) part.write(batch);
      });
    } catch (error) {
      for (const part of this.#parts) part.rolledBack();
      throw error;
    }
    [this.#position, this.#events] = [position, events];
    for (const part of this.#parts) part.committed();
    for (const listener of this.#listeners) listener(batch);
    this.#waiters.reached(position);
    return batch.length;
  }
}
