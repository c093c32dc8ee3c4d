import { claim, giveUp, type Claim, type Claimed, type ClaimsDependencies } from './unique-claims.ts';
import type { ExpectedRevision, StreamName } from '../log/log.ts';
import type { ObjectReader } from '../read/objects.ts';
import type { Leave, Turns } from './object-queue.ts';
import type { Writer } from './admission/writer.ts';

export type GuardDependencies = Omit<ClaimsDependencies, 'metadata'> & {
  readonly reader: Pick<ObjectReader, 'position' | 'reached'>;
  readonly turns: Turns;
  /** Whose turn it is to be. */
  readonly writer: Writer;
  /** How long the fold of what former holders did is waited for. */
  readonly foldWaitMs: number;
};

/**
 * One write's hold on a guard (consistency protocol, 4): what such a write takes away from must not be taken away by two that each
 * count on the other's. Whoever takes the guard first sees to it that the former holder's append can no longer land, then folds
 * up to its own claim, and so all that former holders did; judged after that, and appended at the claimed revision, no two
 * are judged on the same support. It costs three small appends' time, of writes that are rare.
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

  /** Whether it is held for an append to `me` that expects `base`. */
  covers(guard: StreamName, { me, base }: { readonly me: StreamName; readonly base: ExpectedRevision }): boolean {
    const held = this.#held?.claim;
    return held?.stream === guard && held.me === me && held.base === base;
  }

  /** True once it is held and what former holders did is folded: then the write is to be decided and judged anew. */
  async take(guard: StreamName, of: { readonly me: StreamName; readonly base: ExpectedRevision }): Promise<boolean> {
    const { reader, turns, writer, foldWaitMs } = this.#dependencies;
    // Writers of one node queue here: left to the log alone, each would fence off the others or wait for them by asking.
    this.#leave ??= await turns.take(guard, writer);
    const wanted: Claim = { stream: guard, ...of, holds: () => false };
    const claimed = await claim({ ...this.#dependencies, metadata: this.#metadata }, wanted);
    if (claimed.outcome !== 'claimed') return false;
    this.#held = { claim: wanted, claimed };
    this.#isSpent = false;
    return reader.position() >= claimed.position || await reader.reached(claimed.position, { timeoutMs: foldWaitMs }) === 'reached';
  }

  /** The guarded append is about to be sent: from now on it may land. */
  spend(): void {
    this.#isSpent = true;
  }

  /** The write is over. A guard that came to nothing is given up, so that the next one need not wait for an append that never was. */
  async end(): Promise<void> {
    try {
      if (this.#held !== undefined && !this.#isSpent) await giveUp({ ...this.#dependencies, metadata: this.#metadata }, this.#held.claim, this.#held.claimed);
    } finally {
      this.#leave?.();
    }
  }
}
