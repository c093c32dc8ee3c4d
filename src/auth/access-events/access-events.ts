import { delay, type Clock, type Timer } from '../../base/clock.ts';
import type { AccessEvent, AccessKind, EventMetadata } from '../../command/event.ts';
import { accessBatchMs, accessEntryBytesBurst, accessEntryBytesPerSecond, accessStopMs } from '../../limits/access.ts';
import { encodeEvent } from '../../log/event-codec.ts';
import type { AppendOutcome, EventLog, ExpectedRevision, ProposedEvent, StreamName } from '../../log/log.ts';
import { TokenBucket } from '../../write/admission/token-bucket.ts';
import type { Access, AccessRecorder } from './access-recorder.ts';
import { AccessWindow } from './access-window.ts';

export type AccessEventsDependencies = {
  readonly log: Pick<EventLog, 'append'>;
  /** The stream of this process, to which no other process writes. */
  readonly stream: StreamName;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly metadata: () => EventMetadata;
  /** `isShort` returns true while the disk is nearly full. Then no new event is appended. */
  readonly disk?: { isShort(): boolean; take(bytes: number): void };
  /** Called with a reason when appends begin to fail, and with undefined when an append succeeds again. */
  readonly onState: (reason: string | undefined) => void;
};

type Batch = {
  readonly event: ProposedEvent;
  readonly expected: ExpectedRevision;
};

/**
 * Records accesses (log-ins, log-outs and refused requests) as events, at most one event each second. Requests never
 * wait for the log. While the log is unavailable, one window counts all accesses and describes a limited number.
 *
 * The stream has one writer, so its revision is known. An event with an unknown outcome is appended again, with the
 * same id and revision, before the next event (docs/spec/consistency.md, 3).
 */
export class AccessEvents implements AccessRecorder {
  readonly #dependencies: AccessEventsDependencies;
  readonly #bytes: TokenBucket;
  readonly #totals = new Map<AccessKind, number>();
  #omitted = 0;
  /** Accesses that no event contains yet. */
  #window: AccessWindow | undefined;
  /** The event of the next append or retry. */
  #batch: Batch | undefined;
  #expected: ExpectedRevision = 'absent';
  #timer: Timer | undefined;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isStopped = false;

  constructor(dependencies: AccessEventsDependencies) {
    this.#dependencies = dependencies;
    const rate = { perSecond: accessEntryBytesPerSecond, burst: accessEntryBytesBurst };
    this.#bytes = new TokenBucket(rate, dependencies.clock.monotonic());
  }

  /** The number of accesses since the start, by kind. */
  get totals(): ReadonlyMap<AccessKind, number> {
    return this.#totals;
  }

  /** The number of accesses since the start that no event describes. */
  get omitted(): number {
    return this.#omitted;
  }

  record(access: Access): void {
    if (this.#isStopped) return;
    this.#totals.set(access.kind, (this.#totals.get(access.kind) ?? 0) + 1);
    const time = this.#now();
    this.#window ??= new AccessWindow(time, (bytes) => this.#takeBytes(bytes));
    if (!this.#window.add(access, time)) this.#omitted += 1;
    this.#schedule();
  }

  /** Appends the recorded accesses. Gives up after a time limit or after a failed append. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    const ended = new AbortController();
    await Promise.race([this.#writeRest(), delay(this.#dependencies.clock, accessStopMs, ended.signal)]);
    ended.abort();
  }

  async #writeRest(): Promise<void> {
    await this.#writing;
    // At most one append for the pending event, and one append for the window.
    for (let left = 2; left > 0 && (this.#batch ?? this.#window) !== undefined; left -= 1) await this.#write();
  }

  #takeBytes(bytes: number): boolean {
    return this.#bytes.take(bytes, this.#dependencies.clock.monotonic()) === 0;
  }

  #now(): string {
    return new Date(this.#dependencies.clock.now()).toISOString();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#writing !== undefined || this.#isStopped) return;
    this.#timer = this.#dependencies.clock.after(accessBatchMs, () => {
      this.#timer = undefined;
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined;
        if ((this.#batch ?? this.#window) !== undefined) this.#schedule();
      });
    });
  }

  async #write(): Promise<void> {
    const batch = (this.#batch ??= this.#nextBatch());
    if (batch === undefined) return;
    const { log, stream } = this.#dependencies;
    let outcome: AppendOutcome;
    try {
      outcome = await log.append(stream, [batch.event], batch.expected);
    } catch (cause) {
      outcome = { ok: false, reason: 'unknown', cause };
    }
    if (outcome.ok) {
      this.#batch = undefined;
      this.#expected = outcome.revision;
      this.#report(undefined);
      return;
    }
    // Another event at this revision means that the log is damaged or restored, because the stream has one writer. The
    // event gets a new id, because an id cannot be used at another revision.
    if (outcome.reason === 'conflict')
      this.#batch = { event: { ...batch.event, id: this.#dependencies.uuid() }, expected: outcome.actual };
    this.#report(
      outcome.reason === 'conflict'
        ? 'the stream of access events contains events of another writer'
        : String(outcome.cause),
    );
  }

  #nextBatch(): Batch | undefined {
    const { disk, uuid, metadata } = this.#dependencies;
    if (this.#window === undefined || disk?.isShort() === true) return undefined;
    const event: AccessEvent = this.#window.event(this.#now());
    this.#window = undefined;
    const encoded = encodeEvent(uuid(), event, metadata());
    disk?.take(encoded.data.length + encoded.metadata.length);
    return { event: encoded, expected: this.#expected };
  }

  #report(reason: string | undefined): void {
    const isFailing = reason !== undefined;
    if (isFailing !== this.#isFailing) this.#dependencies.onState(reason);
    this.#isFailing = isFailing;
  }
}
