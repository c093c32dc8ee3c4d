import { Declarer } from '../../../reconcilers/platform/declarer.ts';
import { Heartbeat } from '../../../reconcilers/platform/heartbeat.ts';
import { Uniqueness } from '../../../reconcilers/platform/uniqueness/uniqueness.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { levelRead } from '../../../src/command/level.ts';
import { eventSchema, type EventMetadata } from '../../../src/command/event.ts';
import type { FoundedLog } from '../../../src/log/founded-log.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { claimantOf } from '../../../src/write/unique/unique-claims.ts';
import { retryingLog } from '../../../src/write/retrying-log.ts';
import type { Unsettled } from '../../../src/write/unsettled.ts';
import { type, type World } from '../world.ts';
import type { Serving } from './node-parts.ts';
import type { SimLeadership } from './sim-leadership.ts';
import { nodeAbout } from '../../support/memory/node-about.ts';

export type DeclaringGiven = Pick<Serving, 'models' | 'execute'> & {
  readonly log: FoundedLog;
  readonly clock: Clock;
  readonly leadership: SimLeadership;
  readonly unsettled: Unsettled;
  readonly registeredNow: () => ResourceType | undefined;
  readonly servedNow: () => ResourceType | undefined;
  /** The name of the node that it is a life of. */
  readonly name: string;
};

export type Declaring = {
  open(): void;
  /** The node has new files now, and has built their indexes. */
  declare(): Promise<void>;
  /** The node serves the type. */
  scan(): void;
};

const level = { level: () => levelRead, subscribe: () => () => undefined };

/** What says in the log how the type is declared, that this node lives, and that indexes are enforced. */
export function declaring(world: World, given: DeclaringGiven): Declaring {
  const { uuid, coverage, lives } = world;
  const { models, execute, log, clock, leadership, unsettled, registeredNow, servedNow, name } = given;
  const node = uuid();
  lives.set(node, name);
  const metadata = (): EventMetadata => {
    const requestId = `uniqueness ${uuid()}`;
    return {
      actor: 'system:uniqueness',
      verb: 'update',
      requestId,
      time: new Date(Math.max(clock.now(), models.lastTime())).toISOString(),
      schema: eventSchema,
      $correlationId: requestId,
    };
  };
  const shared = {
    log,
    clock,
    uuid,
    metadata,
    leadership,
    isAlone: false,
    reader: models,
    declarations: models.declarations,
    node,
  };
  let isOpen = false;
  const served = (): readonly ResourceType[] => {
    const served = servedNow();
    return isOpen && served !== undefined ? [served] : [];
  };
  const declare = async (): Promise<void> => {
    const registered = registeredNow();
    if (registered !== undefined) await declarer.declare([registered]);
  };
  const declarer = new Declarer({
    ...shared,
    log: retryingLog(log, clock),
    served,
    level,
    typeOf: (key) => (key === type.key ? registeredNow() : undefined),
    onOther: () => {
      coverage.note('another declaration counts');
    },
    onError: world.fail,
  });
  const drain = async () => {
    await unsettled.fenceStale(shared).catch(() => undefined);
    return unsettled.drained();
  };
  const heartbeat = new Heartbeat({
    ...shared,
    reads: levelRead,
    describe: () => nodeAbout,
    drained: () => {
      void drain();
      return unsettled.drained();
    },
  });
  const uniqueness: Uniqueness = new Uniqueness({
    ...shared,
    rows: models.older,
    changes: models,
    execute,
    served,
    drain,
    claimantOf: async (claimed) => claimantOf(log, claimed),
    onStep: () => {
      for (const { step } of uniqueness.steps()) coverage.note(`indexes are ${step}`);
    },
    onEnforced: () => {
      coverage.note('indexes are enforced');
    },
    onDuplicates: ({ duplicateCount }) => {
      if (duplicateCount > 0) coverage.note('duplicates are found');
    },
    onError: () => {
      coverage.note('an index could not be enforced');
    },
  });
  models.declarations.onLate(() => {
    coverage.note('a late write takes an index back');
  });
  return {
    open: () => {
      isOpen = true;
      heartbeat.start();
      uniqueness.open();
      // A plugin declares its types when it is started.
      if (world.evolution === undefined) void declare();
    },
    scan: () => {
      uniqueness.scan();
    },
    declare: async () => {
      await declare();
      uniqueness.scan();
    },
  };
}
