import { claim, releaseClaim, type Claim, type Claimed, type ClaimsDependencies } from './unique/unique-claims.ts';
import type { ExpectedRevision, StreamName } from '../log/log.ts';
import type { ObjectReader } from '../read/objects.ts';
import type { Leave, StreamQueues } from './stream-queues.ts';
import type { Writer } from './admission/writer.ts';

export type GuardDependencies = Omit<ClaimsDependencies, 'metadata'> & {
  readonly reader: Pick<ObjectReader, 'position' | 'reached'>;
  readonly turns: StreamQueues;
  /** The writer that waits in the queue; the queue alternates between writers. */
  readonly writer: Writer;
  /** The time limit for folding the changes of earlier holders. */
  readonly foldWaitMs: number;
};

/**
 * The guard of one write (consistency protocol, 4). A guard prevents two concurrent writes that each remove one of two
 * things and rely on the other to remain. A new holder first ensures that the append of the previous holder can no
 * longer succeed. The new holder then folds all events up to its own claim, which include all changes of earlier
 * holders. The write is decided after this and appended at the claimed revision, so two writes never rely on the same
 * state. A guard needs three small appends; guarded writes are rare.
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

  /** Whether the write holds the guard for an append to `me` that expects `base`. */
  covers(guard: StreamName, { me, base }: { readonly me: StreamName; readonly base: ExpectedRevision }): boolean {
    const held = this.#held?.claim;
    return held?.stream === guard && held.me === me && held.base === base;
  }

  /**
   * Takes the guard. Returns true if the guard is held and the changes of earlier holders are folded. The write must
   * then be decided again.
   */
  async take(guard: StreamName, of: { readonly me: StreamName; readonly base: ExpectedRevision }): Promise<boolean> {
    const { reader, turns, writer, foldWaitMs } = this.#dependencies;
    // Writers on one node queue for the guard. Without the queue, they would fence or poll each other through the log.
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

  /** Records that the guarded append is about to be sent, and may succeed from now on. */
  spend(): void {
    this.#isSpent = true;
  }

  /**
   * Ends the write. An unused guard is released, so that the next holder does not wait for an append that was never
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
