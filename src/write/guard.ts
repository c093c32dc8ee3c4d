import { claim, releaseClaim, type Claim, type Claimed, type ClaimsDependencies } from './unique/unique-claims.ts';
import type { ExpectedRevision, StreamName } from '../log/log.ts';
import type { ObjectReader } from '../read/objects.ts';
import type { Leave, ObjectQueue } from './object-queue.ts';
import type { Writer } from './admission/writer.ts';

export type GuardDependencies = Omit<ClaimsDependencies, 'metadata'> & {
  readonly reader: Pick<ObjectReader, 'position' | 'reached'>;
  readonly turns: ObjectQueue;
  /** The writer, for fairness of the queue. */
  readonly writer: Writer;
  /** The time limit for folding the changes of earlier holders. */
  readonly foldWaitMs: number;
};

/**
 * One write's hold of a guard (consistency protocol, 4): two concurrent writes cannot each remove something and rely on
 * the other's part. A new holder first ensures that the previous holder's append can no longer succeed, and then folds
 * up to its own claim, which includes all changes of earlier holders. Since the write is decided after that and
 * appended at the claimed revision, no two writes rely on the same state. This costs three small appends; such writes
 * are rare.
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

  /** Whether the guard is held for an append to `me` that expects `base`. */
  covers(guard: StreamName, { me, base }: { readonly me: StreamName; readonly base: ExpectedRevision }): boolean {
    const held = this.#held?.claim;
    return held?.stream === guard && held.me === me && held.base === base;
  }

  /**
   * Takes the guard. True when it is held and the changes of earlier holders are folded: the write must then be decided
   * again.
   */
  async take(guard: StreamName, of: { readonly me: StreamName; readonly base: ExpectedRevision }): Promise<boolean> {
    const { reader, turns, writer, foldWaitMs } = this.#dependencies;
    // Writers of one node queue here: through the log alone, each would fence off the others or poll for them.
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

  /** Call it when the guarded append is about to be sent: it may succeed from now on. */
  spend(): void {
    this.#isSpent = true;
  }

  /**
   * Ends the write. An unused guard is released, so that the next holder need not wait for an append that was never
   * sent.
   */
  async end(): Promise<void> {
    try {
      if (this.#held !== undefined && !this.#isSpent)
        await releaseClaim({ ...this.#dependencies, metadata: this.#metadata }, this.#held.claim, this.#held.claimed);
    } finally {
      this.#leave?.();
    }
  }
}
