import { claim, releaseClaim, type Claim, type Claimed, type ClaimsDependencies } from './unique/unique-claims.ts';
import type { ExpectedRevision, StreamName } from '../log/log.ts';
import type { ObjectReader } from '../read/objects.ts';
import type { Leave, StreamQueues } from './stream-queues.ts';
import type { Writer } from './admission/writer.ts';

export type GuardDependencies = Omit<ClaimsDependencies, 'metadata'> & {
  readonly reader: Pick<ObjectReader, 'position' | 'reached'>;
  readonly turns: StreamQueues;
  /** The writer that waits in the queue. The queue alternates between writers. */
  readonly writer: Writer;
  /** The time limit for folding the changes of earlier holders, in milliseconds. */
  readonly foldWaitMs: number;
};

/**
 * The guard of one write (docs/spec/consistency.md, 4). A guard serializes writes of different objects, such as two
 * writes that each remove one of the last two super administrators.
 *
 * A new holder first ensures that the append of the previous holder is no longer pending. The new holder then folds all
 * events up to its own claim, and the write is decided. Two writes thus never rely on the same state.
 */
export class HeldGuard {
  readonly #dependencies: GuardDependencies;
  readonly #metadata: ClaimsDependencies['metadata'];
  #leave: Leave | undefined;
  #held: { readonly claim: Claim; readonly claimed: Claimed } | undefined;
  #isSpent = false;

  constructor(dependencies: GuardDependencies, metadata: ClaimsDependencies['metadata']) {
    this.#dependencies = dependencies;
    this.#metadata = metadata;
  }

  /** Returns whether the write holds the guard for an append to `me` that expects `base`. */
  covers(guard: StreamName, { me, base }: { readonly me: StreamName; readonly base: ExpectedRevision }): boolean {
    const held = this.#held?.claim;
    return held?.stream === guard && held.me === me && held.base === base;
  }

  /**
   * Takes the guard. Returns true if the guard is held and the changes of earlier holders are folded. The write must
   * then be decided again. Returns false if a step failed or exceeded its time limit.
   */
  async take(guard: StreamName, of: { readonly me: StreamName; readonly base: ExpectedRevision }): Promise<boolean> {
    const { reader, turns, writer, foldWaitMs } = this.#dependencies;
    // Without the queue, the writers on this node would have to poll the log, or fence each other's appends.
    this.#leave ??= await turns.take(guard, writer);
    const wanted: Claim = { stream: guard, ...of, holds: () => false };
    const claimed = await claim({ ...this.#dependencies, metadata: this.#metadata }, wanted);
    if (claimed.outcome !== 'claimed') return false;
    this.#held = { claim: wanted, claimed };
    this.#isSpent = false;
    return (
      reader.position() >= claimed.position ||
      (await reader.reached(claimed.position, { timeoutMs: foldWaitMs })) === 'reached'
    );
  }

  /** Records that the append under the guard may succeed from now on. */
  spend(): void {
    this.#isSpent = true;
  }

  /** Releases the guard if the append was not sent, so that the next holder need not wait for the append. */
  async end(): Promise<void> {
    try {
      if (this.#held !== undefined && !this.#isSpent)
        await releaseClaim({ ...this.#dependencies, metadata: this.#metadata }, this.#held.claim, this.#held.claimed);
    } finally {
      this.#leave?.();
    }
  }
}
