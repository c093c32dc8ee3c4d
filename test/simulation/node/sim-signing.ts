import { auditedCategories as categories, type AuditModels } from '../../../projections/audit/audit-models.ts';
import type { TreePart } from '../../../projections/audit/tree/tree-part.ts';
import { NodeSigner } from '../../../src/audit/keys/node-signer.ts';
import { CheckpointSigner } from '../../../src/audit/tree/checkpoint-signer.ts';
import { LeafCheck, type LeftOutError } from '../../../src/audit/tree/leaf-check.ts';
import type { Clock } from '../../../src/base/clock.ts';
import type { TreeSize } from '../../../src/command/event.ts';
import type { FoundedLog } from '../../../src/log/founded-log.ts';
import type { World } from '../world.ts';

/** What a node has signed, beside its key: it outlives the node's lives and tables. */
export type SignedTree = { last: TreeSize | undefined; atMs: number };

export type SigningGiven = {
  readonly name: string;
  readonly log: FoundedLog;
  readonly clock: Clock;
  readonly audit: AuditModels;
  readonly tree: TreePart;
  readonly signed: SignedTree;
  readonly onLeftOut: (error: LeftOutError) => void;
};

const own = new NodeSigner(Buffer.alloc(32, 7));

/** Signs as a server does, at drawn times. Each signed root is that of the log, whatever a subscription left out. */
export function signTrees(world: World, given: SigningGiven): void {
  const { name, log, clock, audit, tree, signed, onLeftOut } = given;
  const { coverage, random, fail, timeline } = world;
  const signer = new CheckpointSigner({
    domain: 'svc.run',
    treeId: () => log.tree(),
    tree,
    signer: own,
    hindrance: () => audit.unavailable(),
    leaves: new LeafCheck({ log, categories, tree, clock, onLeftOut }),
    signed: {
      last: () => signed.last,
      record: async (_origin, next) => {
        signed.last = next;
        return Promise.resolve();
      },
    },
    onRefused: (detail) => {
      if (detail.startsWith('this node has signed')) fail(new Error(`${name}: ${detail}`));
      coverage.note('a fault before a signature');
    },
  });
  const sign = async (): Promise<void> => {
    const signing = await signer.sign();
    if (!signing.ok) {
      coverage.note('no signature');
      return;
    }
    const { size, root } = signing.checkpoint;
    timeline.add(() => `${name} signs ${String(size)} leaves`);
    const truth = world.truth.root(size);
    if (root !== truth)
      throw new Error(`${name} signs ${root} for ${String(size)} leaves, which have ${String(truth)}`);
    signed.atMs = timeline.now;
    coverage.note('signature');
  };
  const wait = (): void => {
    clock.after(random.between(200, 4_000), () => void sign().catch(fail).then(wait));
  };
  wait();
}
