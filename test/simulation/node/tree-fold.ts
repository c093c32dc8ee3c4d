import { AuditModels, type AuditModelDependencies } from '../../../projections/audit/audit-models.ts';
import type { Clock } from '../../../src/base/clock.ts';
import type { FoundedLog } from '../../../src/log/founded-log.ts';
import type { RecordedEvent } from '../../../src/log/log.ts';
import type { PluginLogger } from '../../../src/plugin/api/plugin.ts';
import { LeftOutError } from '../../../src/audit/tree/leaf-check.ts';
import { AuditFollower } from '../../../src/server/follow-audit.ts';
import type { World } from '../world.ts';
import { signTrees, type SignedTree } from './sim-signing.ts';
import type { SimTree } from './tree-pool.ts';

export type TreeFoldGiven = {
  readonly name: string;
  readonly log: FoundedLog;
  readonly clock: Clock;
  readonly logger: PluginLogger;
  readonly folded: SimTree;
  /** A subscription left out an event since the tables were empty: what they hold is not the log. */
  readonly hasGap: () => boolean;
  readonly signed: SignedTree;
  /** The tables are empty again, and the node ends. */
  readonly onLeftOut: () => void;
  /** The life is over: nothing of it may reach the tables, which the next one has. */
  readonly isOver: () => boolean;
};

class LifeModels extends AuditModels {
  readonly #isOver: () => boolean;

  constructor(given: AuditModelDependencies, isOver: () => boolean) {
    super(given);
    this.#isOver = isOver;
  }

  override clear(): void {
    if (!this.#isOver()) super.clear();
  }

  override apply(batch: readonly RecordedEvent[]): number {
    return this.#isOver() ? batch.length : super.apply(batch);
  }
}

/** Folds and signs the tree as a server does, and compares each root with those of all nodes and lives. */
export function foldTree(world: World, given: TreeFoldGiven): void {
  const { name, log, clock, logger, hasGap, isOver, signed } = given;
  const { tables, tree } = given.folded;
  const parts = [tree];
  const audit = new LifeModels({ tables, parts, identity: () => log.identity(), clock }, isOver);
  audit.subscribe(() => {
    // Its tree lacks an event, so its root is not one to compare others with.
    if (hasGap()) return;
    const size = tree.size();
    const root = Buffer.from(tree.root(size)).toString('base64');
    const known = world.roots.get(size);
    if (known === undefined) world.roots.set(size, root);
    else if (known !== root)
      world.fail(new Error(`${name} has another root of ${String(size)} leaves than a node had before`));
    else world.coverage.note('equal roots');
  });
  const onFatal = (error: Error): void => {
    if (error.cause instanceof LeftOutError) given.onLeftOut();
    else world.fail(error);
  };
  const follower = new AuditFollower({ config: { dataDir: '' }, log, audit, clock, logger, onFatal });
  follower.start();
  const onLeftOut = (error: LeftOutError): void => {
    if (!hasGap()) world.fail(error);
    world.coverage.note('an event that was left out is noticed');
    void follower.leftOut(error);
  };
  signTrees(world, { name, log, clock, audit, tree, signed, onLeftOut });
}
