import { messageOf } from '../../base/error-message.ts';
import { within, type Clock, type Timer } from '../../base/clock.ts';
import { serviceController } from '../../base/service-controller.ts';
import { comparedLeavesMax, treeComparisonMs, treeComparisonWaitMs } from '../../limits/audit.ts';
import { logStart, type EventLog, type LogPosition, type RecordedEvent } from '../../log/log.ts';
import type { FoldedTree } from '../../read/folded-tree.ts';
import { isLeafStream } from '../proof/leaf-entry.ts';
import { ChangedLeafError, entryOf } from './entries.ts';

/** The log has an event that this node's subscription left out, so the tree lacks the event's leaf. */
export class LeftOutError extends Error {
  constructor({ id, stream, position }: RecordedEvent) {
    super(
      `the log has event ${id} of ${stream} at position ${position.toString()}, which the subscription of the audit ` +
        'indexes left out',
    );
    this.name = 'LeftOutError';
  }
}

/** The reason why this node signs nothing now. `isFault`: the tree differs from the log. */
export type LeafHindrance = {
  readonly detail: string;
  readonly isFault: boolean;
};

type Outcome = 'running' | { readonly hindrance: LeafHindrance | undefined };

export type LeafCheckDependencies = {
  readonly log: Pick<EventLog, 'readAllBackward'>;
  /** The categories of all events that are leaves of the audit tree. */
  readonly categories: readonly string[];
  readonly tree: Pick<FoldedTree, 'size' | 'positionOf' | 'hashes' | 'lastHead'>;
  readonly clock: Clock;
  /** Called once if the tree lacks a leaf. The tree must then be built again. */
  readonly onLeftOut: (error: LeftOutError) => void;
  /** Called with a fault that a periodic comparison finds, unless the previous comparison found the same fault. */
  readonly onFault?: (detail: string) => void;
  /** The maximum number of leaves that one step compares; `comparedLeavesMax` by default. */
  readonly leavesMax?: number;
};

/**
 * Compares the leaves of the tree with the log by backward reads, which are independent of the subscription that built
 * the tree. An event that the subscription omitted is thus detected. The oldest leaves are compared first, and equal
 * leaves are not compared again.
 */
export class LeafCheck {
  readonly #dependencies: LeafCheckDependencies;
  readonly #stop = serviceController();
  /** The number of leaves, from the first leaf on, that are compared or need no comparison. */
  #compared = 0;
  #running: Promise<LeafHindrance | undefined> | undefined;
  #leftOut: LeafHindrance | undefined;
  #timer: Timer | undefined;
  #fault: string | undefined;

  constructor(dependencies: LeafCheckDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Compares the first `size` leaves with the log. Returns undefined if the leaves are equal, otherwise the reason to
   * sign nothing. A long comparison continues after the call, which returns the progress as the reason.
   *
   * The first `known` leaves are not compared. Neither are the leaves in the last `TreeHead`, because the fold has
   * compared the root of this event.
   */
  async hindrance(size: number, known: number): Promise<LeafHindrance | undefined> {
    const { clock, tree } = this.#dependencies;
    this.#compared = Math.max(this.#compared, known, tree.lastHead()?.size ?? 0);
    const until = clock.monotonic() + treeComparisonWaitMs;
    while (this.#compared < size) {
      if (this.#leftOut !== undefined) return this.#leftOut;
      const running = (this.#running ??= this.#compareAll().finally(() => {
        this.#running = undefined;
      }));
      const outcome = await this.#outcomeOf(running, until - clock.monotonic());
      if (outcome === 'running') return { detail: this.#progress(size), isFault: false };
      if (outcome.hindrance !== undefined) return outcome.hindrance;
    }
    return undefined;
  }

  /**
   * Begins to compare new leaves each minute while `isReady` returns true. A signature then has few leaves left to
   * compare, and a node that signs nothing also detects leaves that its indexes lack.
   */
  open(isReady: () => boolean): void {
    if (this.#stop.signal.aborted) return;
    const { clock, tree } = this.#dependencies;
    this.#timer = clock.after(treeComparisonMs, () => {
      const compared = isReady() ? this.hindrance(tree.size(), 0) : Promise.resolve(undefined);
      void compared.then((found) => {
        this.#report(found);
        this.open(isReady);
      });
    });
  }

  /** Stops the periodic comparison, and ends a comparison in progress. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#stop.abort();
    await this.#running;
  }

  async #outcomeOf(running: Promise<LeafHindrance | undefined>, ms: number): Promise<Outcome> {
    const { clock } = this.#dependencies;
    const seen: { outcome: Outcome } = { outcome: 'running' };
    const ended = running.then((hindrance) => {
      seen.outcome = { hindrance };
    });
    await within(ended, { clock, ms, signal: this.#stop.signal });
    return seen.outcome;
  }

  #report(found: LeafHindrance | undefined): void {
    const fault = found?.isFault === true ? found.detail : undefined;
    if (fault !== undefined && fault !== this.#fault) this.#dependencies.onFault?.(fault);
    this.#fault = fault;
  }

  #progress(size: number): string {
    return `the tree is being compared with the log: ${String(this.#compared)} of ${String(size)} leaves`;
  }

  async #compareAll(): Promise<LeafHindrance | undefined> {
    const { tree, onLeftOut, leavesMax = comparedLeavesMax } = this.#dependencies;
    try {
      for (const size = tree.size(); this.#compared < size;) {
        const until = Math.min(size, this.#compared + leavesMax);
        await this.#compare(this.#compared, until);
        if (this.#stop.signal.aborted) return { detail: 'this node is stopping', isFault: false };
        this.#compared = Math.max(this.#compared, until);
      }
      return undefined;
    } catch (error) {
      if (error instanceof ChangedLeafError) return { detail: error.message, isFault: true };
      if (!(error instanceof LeftOutError))
        return { detail: `the tree cannot be compared with the log: ${messageOf(error)}`, isFault: false };
      this.#leftOut = { detail: error.message, isFault: true };
      onLeftOut(error);
      return this.#leftOut;
    }
  }

  /** Compares the leaves from `from` (inclusive) to `until` (exclusive), newest first. */
  async #compare(from: number, until: number): Promise<void> {
    const { log, tree, categories } = this.#dependencies;
    const { signal } = this.#stop;
    const last = tree.positionOf(until - 1);
    // The read begins at the position of an event, because a log may refuse other positions.
    const before = until < tree.size() ? { before: tree.positionOf(until) } : {};
    const after = from === 0 ? logStart : tree.positionOf(from - 1);
    let left = until;
    for await (const batch of log.readAllBackward({ ...before, after, categories, signal })) {
      for (const recorded of batch) {
        if (!isLeafStream(recorded.stream) || recorded.position > last) continue;
        if (left === from) throw new LeftOutError(recorded);
        this.#compareLeaf(left - 1, recorded);
        left -= 1;
      }
    }
    // The log lacks a leaf, perhaps temporarily, because a deposed log server may show an earlier end of the log.
    if (left > from && !signal.aborted) throw new ChangedLeafError(left - 1);
  }

  #compareLeaf(index: number, recorded: RecordedEvent): void {
    const { tree } = this.#dependencies;
    const expected: LogPosition = tree.positionOf(index);
    if (recorded.position > expected) throw new LeftOutError(recorded);
    if (recorded.position < expected) throw new ChangedLeafError(index);
    entryOf(tree, index, recorded);
  }
}
