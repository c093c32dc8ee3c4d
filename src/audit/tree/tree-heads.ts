import type { Clock, Timer } from '../../base/clock.ts';
import type { EventMetadata, TreeEvent } from '../../command/event.ts';
import { treeHeadMs, treeSigningMs } from '../../limits/audit.ts';
import { encodeEvent } from '../../log/event-codec.ts';
import { streamName, type EventLog } from '../../log/log.ts';
import type { Leadership } from '../../read/leadership.ts';
import type { FoldedTree } from '../../read/folded-tree.ts';
import type { CheckpointSigner, SignedCheckpoint } from './checkpoint-signer.ts';

export type TreeHeadsDependencies = {
  readonly log: Pick<EventLog, 'readLast' | 'append'>;
  readonly signer: Pick<CheckpointSigner, 'sign' | 'signedSize'>;
  readonly tree: Pick<FoldedTree, 'size' | 'lastHead'>;
  readonly leadership: Pick<Leadership, 'isLeader'>;
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly metadata: () => EventMetadata;
  readonly onError: (error: unknown) => void;
};

const stream = streamName('platform:tree');

/**
 * Each minute, the leader signs a tree that has grown, so that a rollback of more than a minute is detected. Each hour,
 * the leader appends the signed checkpoint of a tree with new leaves as the event `TreeHead`. Every node compares this
 * event with its own tree.
 */
export class TreeHeads {
  readonly #dependencies: TreeHeadsDependencies;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(dependencies: TreeHeadsDependencies) {
    this.#dependencies = dependencies;
  }

  open(): void {
    if (this.#isStopped) return;
    this.#timer = this.#dependencies.clock.after(treeSigningMs, () => {
      this.#running = this.#sign()
        .catch(this.#dependencies.onError)
        .finally(() => {
          this.#running = undefined;
          this.open();
        });
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #sign(): Promise<void> {
    const { signer, tree, leadership } = this.#dependencies;
    if (!leadership.isLeader()) return;
    const isDue = this.#isHeadDue();
    if (!isDue && tree.size() <= signer.signedSize) return;
    const signing = await signer.sign();
    if (signing.ok && isDue && leadership.isLeader()) await this.#append(signing.checkpoint);
  }

  /**
   * Returns whether the leader must append a `TreeHead`. The last `TreeHead` is itself a leaf, so another new leaf must
   * exist.
   */
  #isHeadDue(): boolean {
    const { tree, clock } = this.#dependencies;
    const last = tree.lastHead();
    if (last === undefined) return tree.size() > 0;
    return tree.size() > last.index + 1 && clock.now() - Date.parse(last.time) >= treeHeadMs;
  }

  /** Appends a `TreeHead`. After a failure, the leader tries again a minute later if a `TreeHead` is still due. */
  async #append({ size, root, note: checkpoint }: SignedCheckpoint): Promise<void> {
    const { log, uuid, metadata } = this.#dependencies;
    const last = await log.readLast(stream);
    const event: TreeEvent = { type: 'TreeHead', size, root, checkpoint };
    await log.append(stream, [encodeEvent(uuid(), event, metadata())], last?.revision ?? 'absent');
  }
}
