import { appendFence, type ClaimsDependencies } from './unique/unique-claims.ts';
import { unsettledMax } from '../limits/writes.ts';
import { ordinal, type AppendOutcome, type ExpectedRevision, type LogPosition, type StreamName } from '../log/log.ts';
import type { DeclarationReader } from '../read/declarations.ts';
import { lastRevision, type ObjectReader } from '../read/objects.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';
import type { DecidedBy } from './declared.ts';

export type UnsettledDependencies = {
  readonly reader: Pick<ObjectReader, 'position' | 'head'>;
  readonly declarations: DeclarationReader;
};

export type Sending = {
  readonly type: TypeKey;
  readonly name: string;
  readonly stream: StreamName;
  readonly expected: ExpectedRevision;
  readonly by: DecidedBy;
};

type Sent = Sending & {
  /** The position that this node had folded when the append was sent. */
  readonly position: LogPosition;
  /** Whether the write no longer waits for the outcome. The append may succeed later. */
  isGivenUp: boolean;
};

type Fencing = Pick<ClaimsDependencies, 'log' | 'uuid' | 'metadata'>;

/**
 * This node's pending appends to objects: appends in progress, and appends that were given up with an unknown outcome.
 * After a new declaration of a type, the node is drained when no append that was decided by an earlier declaration is
 * pending (docs/spec/consistency.md, 1).
 */
export class Unsettled {
  readonly #dependencies: UnsettledDependencies;
  readonly #sent = new Set<Sent>();
  #givenUp = 0;
  #isFencing = false;

  constructor(dependencies: UnsettledDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns whether another append may be sent. The number of given-up appends is limited, so that a log without
   * replies does not fill the memory.
   */
  hasRoom(): boolean {
    if (this.#givenUp >= unsettledMax) this.#forgetSettled();
    return this.#givenUp < unsettledMax;
  }

  /** Tracks an append. Must be called in the turn that checked the declaration `by` and began the append. */
  async track(sending: Sending, appending: Promise<AppendOutcome>): Promise<AppendOutcome> {
    const sent: Sent = { ...sending, position: this.#dependencies.reader.position(), isGivenUp: false };
    this.#sent.add(sent);
    let isSettled = false;
    try {
      const outcome = await appending;
      isSettled = outcome.ok || outcome.reason !== 'unknown';
      return outcome;
    } finally {
      if (isSettled) this.#sent.delete(sent);
      else this.#giveUp(sent);
    }
  }

  /**
   * Returns the position up to which this node is drained: no declaration that was replaced at or before the position
   * decided a pending append.
   */
  drained(): LogPosition {
    this.#forgetSettled();
    return this.#stale().reduce(
      (least, { position }) => (position < least ? position : least),
      this.#dependencies.reader.position(),
    );
  }

  /**
   * Fences the given-up appends that were decided by an earlier declaration. After a failure, the next call tries
   * again.
   */
  async fenceStale(fencing: Fencing): Promise<void> {
    if (this.#isFencing) return;
    this.#isFencing = true;
    try {
      this.#forgetSettled();
      for (const sent of this.#stale()) if (sent.isGivenUp && (await canSettle(sent, fencing))) this.#settle(sent);
    } finally {
      this.#isFencing = false;
    }
  }

  #giveUp(sent: Sent): void {
    sent.isGivenUp = true;
    this.#givenUp += 1;
  }

  #settle(sent: Sent): void {
    if (this.#sent.delete(sent)) this.#givenUp -= 1;
  }

  #stale(): readonly Sent[] {
    const { declarations } = this.#dependencies;
    return [...this.#sent].filter(({ type, by }) => declarations.declared(type)?.revision !== by?.revision);
  }

  #forgetSettled(): void {
    const { reader } = this.#dependencies;
    for (const sent of this.#sent) {
      if (!sent.isGivenUp) continue;
      const folded = lastRevision(reader.head(sent.type, sent.name)) ?? -1;
      if (folded > ordinal(sent.expected)) this.#settle(sent);
    }
  }
}

/**
 * Ensures that the append can no longer succeed. Returns true if the stream has an event at a revision after
 * `expected`, or if a fence could be appended there. Returns false otherwise: for example, if the read returned a state
 * of the stream before `expected`, which is older than the append.
 */
async function canSettle({ stream, expected }: Sent, { log, uuid, metadata }: Fencing): Promise<boolean> {
  const head = await log.readLast(stream);
  const [reached, base] = [ordinal(head?.revision ?? 'absent'), ordinal(expected)];
  return reached > base || (reached === base && (await appendFence({ log, uuid, metadata }, stream, head)).ok);
}
