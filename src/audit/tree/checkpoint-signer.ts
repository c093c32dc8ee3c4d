import { messageOf } from '../../base/error-message.ts';
import type { TreeSize } from '../../command/event.ts';
import type { FoldedTree } from '../../read/folded-tree.ts';
import { checkpointText, originOf } from '../proof/checkpoint.ts';
import type { NodeSigner } from '../keys/node-signer.ts';
import type { LeafCheck } from './leaf-check.ts';

/** The size and root of a tree, and the signed note of both. */
export type SignedCheckpoint = TreeSize & { readonly note: string };

/** This node cannot sign a checkpoint now. */
export type SigningRefusal = {
  readonly ok: false;
  readonly reason: 'unavailable';
  readonly detail: string;
};

export type Signing = { readonly ok: true; readonly checkpoint: SignedCheckpoint } | SigningRefusal;

export type CheckpointSignerDependencies = {
  readonly domain: string;
  /** Returns the id of the log's tree. The log must be founded. */
  readonly treeId: () => string;
  readonly tree: Pick<FoldedTree, 'size' | 'root'>;
  readonly signer: NodeSigner;
  /** Returns the reason why this node must not sign yet; undefined without a reason. */
  readonly hindrance: () => string | undefined;
  /** Compares the tree with the log before each signature. Undefined for an embedded log, which omits no events. */
  readonly leaves?: Pick<LeafCheck, 'hindrance'> | undefined;
  /** The largest tree that this node has signed for each origin, stored on disk. */
  readonly signed: {
    last(origin: string): TreeSize | undefined;
    record(origin: string, signed: TreeSize): Promise<void>;
  };
  /**
   * Called with each new reason of a refusal: the tree differs from the last signed tree or from the log, or the signed
   * tree cannot be stored.
   */
  readonly onRefused: (detail: string) => void;
};

/**
 * Signs the tree that this node has folded. Each larger tree must extend the last signed tree. The size and root of a
 * tree are stored on disk before the first signature of the tree is returned. The node thus does not sign a log that
 * was rolled back or rewritten after the last signature.
 */
export class CheckpointSigner {
  readonly #dependencies: CheckpointSignerDependencies;
  #last: (SignedCheckpoint & { readonly origin: string }) | undefined;
  #running: Promise<Signing> | undefined;
  #refused: string | undefined;

  constructor(dependencies: CheckpointSignerDependencies) {
    this.#dependencies = dependencies;
  }

  /** The name of the tree in checkpoints, and of the keys that sign the checkpoints. */
  get origin(): string {
    const { domain, treeId } = this.#dependencies;
    return originOf(domain, treeId());
  }

  /** The largest size that this node has signed; 0 before the first signature. */
  get signedSize(): number {
    return this.#dependencies.signed.last(this.origin)?.size ?? 0;
  }

  /**
   * Returns a refusal, or a checkpoint of the tree at the time of the call or of a larger tree. Concurrent calls share
   * a signature.
   */
  async sign(): Promise<Signing> {
    const { tree, hindrance } = this.#dependencies;
    const wanted = tree.size();
    for (;;) {
      const hindered = hindrance();
      if (hindered !== undefined) return { ok: false, reason: 'unavailable', detail: hindered };
      const last = this.#last;
      if (last?.origin === this.origin && last.size >= wanted && last.size === tree.size())
        return { ok: true, checkpoint: last };
      if (this.#running === undefined) {
        this.#running = this.#signNow().finally(() => {
          this.#running = undefined;
        });
        return this.#running;
      }
      const shared = await this.#running;
      if (!shared.ok || shared.checkpoint.size >= wanted) return shared;
    }
  }

  /**
   * Signs a tree that is not larger than the last signed tree. Stores nothing, because the note states nothing new.
   *
   * @throws RangeError for a larger tree, and if the tree does not extend the last signed tree.
   */
  signEarlier(size: number): string {
    const { tree, signer } = this.#dependencies;
    const { origin, signedSize } = this;
    const refused = this.#rollback(origin);
    if (refused !== undefined) throw new RangeError(refused);
    if (size > signedSize)
      throw new RangeError(
        `the last tree that this node has signed has only ${String(signedSize)} leaves, so a checkpoint of ` +
          `${String(size)} leaves is not an earlier one`,
      );
    return signer.sign(origin, checkpointText({ origin, size, root: tree.root(size) }));
  }

  async #signNow(): Promise<Signing> {
    const { tree, signer, signed, leaves } = this.#dependencies;
    const { origin } = this;
    const refused = this.#rollback(origin);
    if (refused !== undefined) return this.#refuse(refused);
    const size = tree.size();
    const root = tree.root(size);
    const unlike = leaves === undefined ? undefined : await this.#unlike(leaves, size);
    if (unlike !== undefined) return unlike;
    const encoded = Buffer.from(root).toString('base64');
    try {
      if (signed.last(origin)?.size !== size) await signed.record(origin, { size, root: encoded });
    } catch (error) {
      return this.#refuse(`the size and root of the tree cannot be written to the disk: ${messageOf(error)}`);
    }
    this.#refused = undefined;
    const note = signer.sign(origin, checkpointText({ origin, size, root }));
    this.#last = { origin, size, root: encoded, note };
    return { ok: true, checkpoint: this.#last };
  }

  /**
   * Returns a refusal if the tree differs from the log, is not compared with the log yet, or must not be signed now.
   * Otherwise returns undefined.
   */
  async #unlike(leaves: Pick<LeafCheck, 'hindrance'>, size: number): Promise<SigningRefusal | undefined> {
    const found = await leaves.hindrance(size, this.signedSize);
    if (found?.isFault === true) return this.#refuse(found.detail);
    const detail = found?.detail ?? this.#dependencies.hindrance();
    return detail === undefined ? undefined : { ok: false, reason: 'unavailable', detail };
  }

  /**
   * Returns the difference between the tree and the last signed tree; undefined if the tree extends the last signed
   * tree.
   */
  #rollback(origin: string): string | undefined {
    const { tree, signed } = this.#dependencies;
    const last = signed.last(origin);
    if (last === undefined) return undefined;
    const before = `this node has signed ${String(last.size)} leaves with the root ${last.root}`;
    if (last.size > tree.size()) return `${before}, and its log has only ${String(tree.size())} now`;
    const root = Buffer.from(tree.root(last.size)).toString('base64');
    return root === last.root ? undefined : `${before}, and the same leaves of its log have the root ${root}`;
  }

  #refuse(detail: string): SigningRefusal {
    if (this.#refused !== detail) this.#dependencies.onRefused(detail);
    this.#refused = detail;
    return { ok: false, reason: 'unavailable', detail: `cannot sign a checkpoint of the Merkle tree: ${detail}` };
  }
}
