import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { auditedCategories } from '../../../projections/audit/audit-models.ts';
import { NodeKeys } from '../../audit/keys/node-keys.ts';
import { NodeSigner } from '../../audit/keys/node-signer.ts';
import { CheckpointSigner } from '../../audit/tree/checkpoint-signer.ts';
import { LeafCheck, type LeftOutError } from '../../audit/tree/leaf-check.ts';
import { TreeHeads } from '../../audit/tree/tree-heads.ts';
import { privateDir } from '../../disk/data-dir.ts';
import { nodeKey } from '../../disk/node-key.ts';
import { SignedTrees } from '../../disk/signed-trees.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { treeRoutes } from '../../http/platform/tree/tree-routes.ts';
import type { FoldedTree } from '../../read/folded-tree.ts';
import { SigningRefusedError, type TreeReader } from '../../read/tree.ts';
import { composeExport } from './compose-export.ts';
import { metadataOf } from './compose-reconcilers.ts';
import type { Core } from './core.ts';

/** The Merkle tree of the log's events, and the key with which this node signs checkpoints. */
export type ComposedTree = {
  readonly routes: readonly PlatformRoute[];
  readonly reader: TreeReader;
  /** Starts the work on keys, tree heads and the leaf check. Must be called after the read models have caught up. */
  open(): void;
  stop(): Promise<void>;
};

/**
 * Composes the parts of the tree. `onLeftOut` is called if the tree lacks an event of the log.
 *
 * @throws StartError if the key or the file of signed trees is damaged.
 */
export async function composeTree(core: Core, onLeftOut: (error: LeftOutError) => void): Promise<ComposedTree> {
  const { audit, config, eventLog, models } = core;
  const dir = privateDir(join(config.dataDir, 'keys'));
  const own = new NodeSigner(await nodeKey(dir));
  const keys = composeKeys(core, own);
  const leaves = composeLeafCheck(core, onLeftOut);
  const signer = composeSigner(core, { own, keys, leaves, signed: new SignedTrees(dir) });
  const heads = composeHeads(core, signer);
  const proofs = treeRoutes({
    tree: audit.tree,
    audit: audit.models,
    reader: models,
    log: eventLog,
    categories: auditedCategories,
    signer,
    keys,
  });
  const reader = readerOf(audit.tree, signer);
  return {
    reader,
    routes: [...proofs, ...composeExport(core, reader)],
    open: () => {
      keys.open();
      heads.open();
      leaves?.open(() => audit.models.unavailable() === undefined);
    },
    stop: async () => {
      await Promise.all([keys.stop(), heads.stop(), leaves?.stop()]);
    },
  };
}

function readerOf(tree: FoldedTree, signer: CheckpointSigner): TreeReader {
  return {
    origin: () => signer.origin,
    size: () => tree.size(),
    root: (size) => tree.root(size),
    nodeHash: tree.nodeHash,
    positionOf: (index) => tree.positionOf(index),
    leavesUntil: (position) => tree.leavesUntil(position),
    earlierCheckpoint: (size) => signer.signEarlier(size),
    signedCheckpoint: async () => {
      const signing = await signer.sign();
      if (signing.ok) return signing.checkpoint.note;
      throw new SigningRefusedError(signing.detail);
    },
  };
}

function composeKeys(core: Core, signer: NodeSigner): NodeKeys {
  const { audit, edge, eventLog: log, leadership, isAlone, models } = core;
  const metadata = metadataOf('keys', core);
  return new NodeKeys({
    log,
    domain: edge.domain,
    signer,
    level: models.level,
    leadership,
    isAlone,
    clock: edge.clock,
    uuid: randomUUID,
    metadata: () => ({ ...metadata(), verb: 'create' }),
    changes: audit.models,
    onAnew: () => {
      edge.log.warn(
        'no node with a trusted key has signed the key with which this node signs the Merkle tree: the key begins a ' +
          'new chain, and auditors must trust it explicitly',
        { key: signer.key },
      );
    },
    onError: (error) => {
      edge.log.warn('could not read or append the public keys of the nodes that sign the Merkle tree; retrying', {
        error: String(error),
      });
    },
  });
}

/**
 * Composes the check that the tree has all leaves, because EventStoreDB may leave events out of a subscription. An
 * embedded log needs no check.
 */
function composeLeafCheck(
  { audit, edge, eventLog: log }: Core,
  onLeftOut: (error: LeftOutError) => void,
): LeafCheck | undefined {
  if (log.scan !== undefined) return undefined;
  return new LeafCheck({
    log,
    categories: auditedCategories,
    tree: audit.tree,
    clock: edge.clock,
    onLeftOut,
    onFault: (detail) => {
      const message = 'the Merkle tree of the audit indexes differs from the event log: this node signs no checkpoint';
      edge.log.error(message, { reason: detail });
    },
  });
}

type SignerParts = {
  readonly own: NodeSigner;
  readonly keys: NodeKeys;
  readonly leaves: LeafCheck | undefined;
  readonly signed: SignedTrees;
};

function composeSigner({ audit, edge, eventLog }: Core, { own, keys, leaves, signed }: SignerParts): CheckpointSigner {
  return new CheckpointSigner({
    domain: edge.domain,
    treeId: () => eventLog.tree(),
    tree: audit.tree,
    signer: own,
    signed,
    leaves,
    hindrance: () => audit.models.unavailable() ?? keys.hindrance(),
    onRefused: (detail) => {
      edge.log.error('cannot sign a checkpoint of the Merkle tree', { reason: detail });
    },
  });
}

function composeHeads(core: Core, signer: CheckpointSigner): TreeHeads {
  const { audit, edge, eventLog, leadership } = core;
  const metadata = metadataOf('tree', core);
  return new TreeHeads({
    log: eventLog,
    signer,
    tree: audit.tree,
    leadership,
    clock: edge.clock,
    uuid: randomUUID,
    metadata: () => ({ ...metadata(), verb: 'create' }),
    onError: (error) => {
      edge.log.warn('could not append the root of the Merkle tree to the event log; retrying', {
        error: String(error),
      });
    },
  });
}
