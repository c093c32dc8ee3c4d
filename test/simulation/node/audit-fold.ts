import { AuditModels, type AuditModelDependencies } from '../../../projections/audit/audit-models.ts';
import { ColumnLists } from '../../../projections/audit/columns/column-lists.ts';
import type { ColumnPart } from '../../../projections/audit/columns/column-part.ts';
import { ObjectsAt } from '../../../projections/audit/columns/objects-at.ts';
import { LeftOutError } from '../../../src/audit/tree/leaf-check.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { Collections } from '../../../src/http/resources/collection.ts';
import type { PastPorts } from '../../../src/http/resources/past/past.ts';
import type { FoundedLog } from '../../../src/log/founded-log.ts';
import type { RecordedEvent } from '../../../src/log/log.ts';
import type { PluginLogger } from '../../../src/plugin/api/plugin.ts';
import { MissingRevisionError } from '../../../src/read/versions.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { AuditFollower } from '../../../src/server/follow-audit.ts';
import { type, type World } from '../world.ts';
import type { SimAudit } from './audit-pool.ts';
import type { Serving } from './node-parts.ts';
import { signTrees, type SignedTree } from './sim-signing.ts';

export type AuditFoldGiven = {
  readonly name: string;
  readonly log: FoundedLog;
  readonly clock: Clock;
  readonly logger: PluginLogger;
  readonly serving: Serving;
  readonly folded: SimAudit;
  /** Whether a subscription left out an event since the tables were empty. The indexes then lack this event. */
  readonly hasGap: () => boolean;
  readonly signed: SignedTree;
  /** Called when the node ends, after the tables were cleared. */
  readonly onLeftOut: () => void;
  /** Whether the life is over. A life that is over does not change the tables, which the next life uses. */
  readonly isOver: () => boolean;
};

/** The requests about the past that a node answers. */
export type SimPast = {
  readonly collections: Collections;
  readonly ports: PastPorts;
  /** Whether the indexes lack an event: what they answer is then not the log's past. */
  readonly hasGap: () => boolean;
  /** Called when the node has another declaration of the type. */
  readonly redeclare: (declared: ResourceType) => void;
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

/** Folds the audit indexes and signs the tree as a server does. Compares each root with those of all nodes. */
export function foldAudit(world: World, given: AuditFoldGiven): SimPast {
  const { name, log, clock, logger, hasGap, isOver, signed, serving, folded } = given;
  const { tables, tree, versions, times } = folded;
  const columns = folded.columns.begin(clock);
  columns.register(serving.type());
  const parts = [tree, versions, times, folded.columns];
  const audit = new LifeModels({ tables, parts, identity: () => log.identity(), clock }, isOver);
  compareRoots(world, given, audit);
  const onFatal = ({ cause, message }: Error): void => {
    const isLeftOut = cause instanceof LeftOutError || (cause instanceof MissingRevisionError && hasGap());
    if (cause instanceof MissingRevisionError)
      world.coverage.note('an event that was left out is missed by its stream');
    if (isLeftOut) given.onLeftOut();
    else world.fail(new Error(message, { cause }));
  };
  const started = {
    start: () => {
      startColumns(world, columns, given, audit);
    },
    close: async () => columns.close(),
  };
  const follower = new AuditFollower({
    config: { dataDir: '' },
    log,
    audit,
    columns: started,
    clock,
    logger,
    onFatal,
  });
  follower.start();
  const onLeftOut = (error: LeftOutError): void => {
    if (!hasGap()) world.fail(error);
    world.coverage.note('an event that was left out is noticed');
    void follower.leftOut(error);
  };
  signTrees(world, { name, log, clock, audit, tree, signed, onLeftOut });
  const lists = new ColumnLists({ columns, objects: new ObjectsAt({ log, versions }), clock });
  const reader = serving.models;
  const past = { models: audit, versions, times, lists };
  return {
    collections: new Collections({ reader, execute: serving.execute }, { past }),
    ports: { reader, log, identity: () => log.identity(), audit: past },
    hasGap,
    redeclare: (declared) => {
      columns.remove(type.key);
      columns.register(declared);
    },
  };
}

function compareRoots(world: World, { name, hasGap, folded: { tree } }: AuditFoldGiven, audit: AuditModels): void {
  audit.subscribe(() => {
    // The tree lacks an event, so its root differs from other roots.
    if (hasGap()) return;
    const size = tree.size();
    const root = Buffer.from(tree.root(size)).toString('base64');
    const known = world.roots.get(size);
    if (known === undefined) world.roots.set(size, root);
    else if (known !== root)
      world.fail(new Error(`${name} has another root of ${String(size)} leaves than a node had before`));
    else world.coverage.note('equal roots');
  });
}

function startColumns(
  { coverage }: World,
  columns: ColumnPart,
  { log, serving, isOver }: AuditFoldGiven,
  audit: AuditModels,
): void {
  columns.start({
    feed: serving.models,
    log,
    folded: audit.position(),
    onError: () => {
      if (!isOver()) coverage.note('columns that are behind are retried');
    },
  });
}
