import type { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../projections/object-models.ts';
import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { Claims } from '../../../reconcilers/platform/unique-claims.ts';
import { Collector } from '../../../reconcilers/platform/collector.ts';
import { LeaseElector } from '../../../reconcilers/lease.ts';
import { WriteRefusedError } from '../../../reconcilers/outcome.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { must } from '../../../src/base/unreachable.ts';
import { claimedValueOf, claimStream, reconcileClaim } from '../../../src/write/unique/unique-claims.ts';
import { eventSchema, type CausingEvent, type EventMetadata } from '../../../src/command/event.ts';
import { createWriteDoor, type Execute } from '../../../src/write/execute.ts';
import { Collections } from '../../../src/http/resources/collection.ts';
import { ListCache } from '../../../src/http/resources/list-cache.ts';
import type { FoundedLog } from '../../../src/log/founded-log.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import { NodePlugin, pluginType } from '../evolution/node-plugin.ts';
import { WatchHub } from '../../../src/watch/hub.ts';
import { Outboxes } from '../../../src/watch/outbox.ts';
import { ClockAgreement } from '../../../src/write/clock-agreement.ts';
import { noRules } from '../../../src/write/rules.ts';
import { domain } from '../../support/sample.ts';
import { CheckedUnsettled } from './checked-unsettled.ts';
import { declaring, type Declaring } from './declaring.ts';
import { SimLeadership } from './sim-leadership.ts';
import { withDeclaration } from '../referring.ts';
import { suffixes, type, type World } from '../world.ts';

export type Serving = {
  readonly models: ObjectModels;
  readonly execute: Execute;
  readonly hub: WatchHub;
  readonly collections: Collections;
  /** Whether what the log's clock says is known. */
  readonly knowsTime: () => boolean;
  /** As its files have it. */
  readonly type: () => ResourceType;
};

export type NodeParts = {
  readonly serving: Serving;
  readonly agreement: ClockAgreement;
  readonly leadership: SimLeadership;
  /** Once the read models have caught up. */
  readonly open: () => void;
  /** The node serves the type from now on. */
  readonly served: (type: ResourceType) => void;
  /** Undefined where nothing is declared. */
  readonly declaring: Declaring | undefined;
  /** Undefined where the type has no versions that are converted. */
  readonly plugin: NodePlugin | undefined;
};

type Given = {
  readonly log: FoundedLog;
  readonly tables: LmdbTables;
  readonly clock: Clock;
  readonly name: string;
  readonly typeNow: () => ResourceType;
  /** Undefined while the plugin is reloaded. */
  readonly registeredNow: () => ResourceType | undefined;
  /** Undefined while the node does not serve it. In runs without conversions, a node always serves it. */
  readonly servedNow: () => ResourceType | undefined;
  /** Of a reconciler: its failed action. */
  readonly onError: (error: unknown) => void;
};

/** What a server is made of but for HTTP, put together as `startServer` does. */
export function nodeParts(world: World, given: Given): NodeParts {
  const { uuid, random, fail, appendBytesMax } = world;
  const { log, tables, clock, typeNow, servedNow } = given;
  const types = typesOf(world, given);
  const agreement = new ClockAgreement(clock, log);
  const models = new ObjectModels({
    tables,
    identity: () => log.identity(),
    types,
    clock,
    latestTime: () => agreement.latest(),
  });
  const unsettled = new CheckedUnsettled(world, given.name, { reader: models, declarations: models.declarations });
  const execute = createWriteDoor({
    agreement,
    unsettled,
    log,
    reader: models,
    declarations: models.declarations,
    ...(world.isReferring ? { references: withDeclaration(models.references, type) } : {}),
    typeOf: types,
    ...(world.evolution === undefined ? {} : { servedType: servedTypes(world, given) }),
    clock,
    domain,
    uuid,
    suffix: () => random.pick(suffixes),
    lastEventTime: () => models.lastTime(),
    rules: noRules,
    secrets: { keep: () => Promise.reject(new Error('nothing is withheld here')) },
    ...(appendBytesMax === undefined ? {} : { appendBytesMax }),
  });
  const elector = new LeaseElector({ log, clock, uuid, node: uuid(), onError: fail });
  const leadership = new SimLeadership(elector);
  const reconcilers = nodeReconcilers(world, given, { models, execute, leadership });
  const outboxes = new Outboxes(clock, {
    bytesMax: 20_000,
    accountBytesMax: 20_000,
    watcherBytesMax: random.pick([1_000, 1_000_000]),
  });
  const recent = { bytesMax: 1_000_000, changesMax: random.pick([0, 3, 1_000]) };
  const hub = new WatchHub({ feed: models, reader: models, log, clock, report: fail, recent, outboxes });
  const collections = new Collections({ reader: models, execute }, { cache: new ListCache(models) });
  const declares =
    world.releases === undefined ? undefined : declaring(world, { ...given, models, execute, leadership, unsettled });
  const plugin =
    world.evolution === undefined
      ? undefined
      : new NodePlugin(world, { models, execute, clock, leadership, servedNow });
  const open = (): void => {
    declares?.open();
    reconcilers.open();
    elector.start();
  };
  return {
    serving: { models, execute, hub, collections, knowsTime: () => log.time() !== undefined, type: typeNow },
    agreement,
    leadership,
    open,
    served: reconcilers.served,
    declaring: declares,
    plugin,
  };
}

type TypeLookup = (key: TypeKey) => ResourceType | undefined;

function typesOf({ evolution }: World, { registeredNow }: Given): TypeLookup {
  return (key) => {
    if (key === type.key) return registeredNow();
    return evolution !== undefined && key === pluginType.key ? pluginType : undefined;
  };
}

function servedTypes(world: World, given: Given): TypeLookup {
  const registered = typesOf(world, given);
  return (key) => (key === type.key ? given.servedNow() : registered(key));
}

type Reconciling = Pick<Serving, 'models' | 'execute'> & { readonly leadership: SimLeadership };

function nodeReconcilers(
  world: World,
  given: Given,
  { models, execute, leadership }: Reconciling,
): Pick<NodeParts, 'open' | 'served'> {
  const { uuid, coverage } = world;
  const { log, clock, servedNow, onError } = given;
  const bound = new ReconcileSlots(clock);
  const types = typesOf(world, given);
  let serves = false;
  const collector = new Collector({
    changes: models,
    reader: models,
    execute,
    leadership,
    clock,
    uuid: () => `collector ${uuid()}`,
    types,
    bound,
    serving: () => {
      const served = servedNow();
      return serves && served !== undefined ? [served] : [];
    },
    onError: (error) => {
      if (!(error instanceof WriteRefusedError)) onError(error);
    },
  });
  const metadata = (cause: CausingEvent | undefined): EventMetadata => {
    const requestId = `claims ${uuid()}`;
    return {
      actor: 'system:claims',
      verb: 'update',
      requestId,
      time: new Date(Math.max(clock.now(), models.lastTime())).toISOString(),
      schema: eventSchema,
      $correlationId: cause?.correlationId ?? requestId,
      ...(cause === undefined ? {} : { $causationId: cause.id }),
    };
  };
  const claims = new Claims({
    changes: models,
    reader: models,
    log,
    types,
    streamOf: claimStream,
    leadership,
    bound,
    clock,
    settle: async (stream, { fenceOf, cause }) => {
      const { value } = must(claimedValueOf(stream), `${stream} is a claim stream`);
      const step = { log, clock, uuid, metadata: () => metadata(cause) };
      const came = await reconcileClaim(step, { stream, value, fenceOf });
      coverage.note(`a claim looked at: ${came.outcome}`);
      return came;
    },
    // It only tidies: what a log that is away kept it from is looked at again.
    onError: () => {
      coverage.note('a claim could not be looked at');
    },
  });
  return {
    open: () => {
      serves = true;
      collector.open();
      claims.open();
    },
    served: (served) => {
      collector.enqueueAll(served);
    },
  };
}
