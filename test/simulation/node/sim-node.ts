import { ObjectModels } from '../../../projections/object-models.ts';
import type { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { reconcileStepMs } from '../../../reconcilers/reconcile-limits.ts';
import { delay, type Clock } from '../../../src/base/clock.ts';
import type { PluginLogger } from '../../../src/plugin/api/plugin.ts';
import { decodeEvent } from '../../../src/log/event-codec.ts';
import { LogFollower } from '../../../src/server/follow-log.ts';
import { FoundedLog } from '../../../src/log/founded-log.ts';
import { LogCorruptError, logStart, type LogPosition } from '../../../src/log/log.ts';
import { Readiness } from '../../../src/server/readiness.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Watcher } from '../../../src/watch/watcher.ts';
import type { WatchPlan } from '../../../src/watch/watch-plan.ts';
import { domain } from '../../support/sample.ts';
import type { RecordingSink } from '../../watch/recording-sink.ts';
import { foldAudit, type SimPast } from './audit-fold.ts';
import type { SignedTree } from './sim-signing.ts';
import type { SimAudit } from './audit-pool.ts';
import { nodeParts, type NodeParts, type Serving } from './node-parts.ts';
import type { Link } from '../passage.ts';
import type { SimLeadership } from './sim-leadership.ts';
import type { NodePlugin } from '../evolution/node-plugin.ts';
import { Life } from '../timeline.ts';
import { wayToLog, type WayToLog } from '../log/way-to-log.ts';
import { Wholeness } from '../wholeness.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { epoch, referringType, type, type World } from '../world.ts';

/** How a node comes back: with the read models it had, with none, or with those of an older backup. */
export type Restart = 'kept' | 'lost' | 'behind';

const restarts: readonly Restart[] = ['kept', 'kept', 'lost', 'behind'];

/**
 * A server but for HTTP: the real door, read models, runner, hub and collector, over its own way to the log and its own
 * clock.
 */
export class SimNode {
  readonly name: string;
  readonly link: Link;
  readonly #world: World;
  #tables: LmdbTables;
  #audit: SimAudit;
  #past: SimPast | undefined;
  /** When a list of the past was last answered correctly, in ms of the run. */
  pastMs = -1;
  /** Whether a subscription left out an event since the audit tables were empty. */
  #auditHasGap = false;
  readonly #signed: SignedTree = { last: undefined, atMs: -1 };
  #skewMs: number;
  #life: Life;
  #way: WayToLog | undefined;
  #leadership: SimLeadership | undefined;
  #parts: NodeParts | undefined;
  /** As its files have it. */
  #type: ResourceType;
  /** Whether the type is registered: it is not while the plugin is reloaded. */
  #isRegistered = true;
  /** Counts the loads of the plugin. */
  #load = 0;
  #serving: Serving | undefined;
  readonly #open = new Set<{ readonly watcher: Watcher; readonly sink: RecordingSink }>();
  /** The furthest it has ever answered from. */
  #served: LogPosition = logStart;
  /** For as long as a step may take, at one go: after it, one is past its time that did nothing wrong. */
  #stoodStill = false;

  constructor(world: World, name: string) {
    this.name = name;
    this.#world = world;
    this.link = { node: name, downUntil: 0, stalledUntil: 0 };
    const { skewMs } = world.faults();
    this.#skewMs = skewMs === 0 ? 0 : world.random.between(-skewMs, skewMs);
    this.#life = new Life(world.timeline);
    this.#life.end();
    this.#type = world.evolution?.newest ?? (world.isReferring ? referringType : type);
    this.#tables = world.openTables();
    this.#audit = world.openAudit();
  }

  get alive(): boolean {
    return this.#life.alive;
  }

  get serving(): Serving | undefined {
    return this.#serving;
  }

  /** The type as the node's files declare it. */
  get type(): ResourceType {
    return this.#type;
  }

  /** Undefined while the plugin is reloaded. */
  get #registered(): ResourceType | undefined {
    return this.#isRegistered ? this.#type : undefined;
  }

  /** The plugin with the evolving type. */
  get plugin(): NodePlugin | undefined {
    return this.#parts?.plugin;
  }

  /** When it has last signed a tree, in ms of the run. */
  get signedMs(): number {
    return this.#signed.atMs;
  }

  /** The requests about the past; read it within `ask`. */
  get past(): SimPast | undefined {
    return this.#past;
  }

  /** The bytes of a row, as they are stored. */
  row(name: string): Buffer | undefined {
    return this.#tables.row(type.key, name);
  }

  /** Whether it holds the lease, by its own clock. */
  get elected(): boolean {
    return this.#leadership?.elected === true;
  }

  /** Makes it act as the leader, with any holder of the lease. */
  usurp(leads: boolean): void {
    this.#leadership?.force(leads);
  }

  start(how: Restart): void {
    if (this.#life.alive) return;
    const { coverage, timeline } = this.#world;
    timeline.add(() => `${this.name} starts, read models ${how}`);
    coverage.note(`started with read models ${how}`);
    const life = (this.#life = new Life(timeline));
    if (how !== 'kept') this.#tables = this.#world.openTables();
    if (this.#way?.hasAuditGap() === true) this.#auditHasGap = true;
    this.#way = undefined;
    if (how === 'lost') {
      this.#audit = this.#world.openAudit();
      this.#auditHasGap = false;
    }
    // Before the read models are opened, which begin where the tables end.
    if (how === 'behind') this.#foldSome();
    void this.#serve(life).catch(this.#world.fail);
  }

  crash(why: string, comesBack = restarts): void {
    if (!this.#life.alive) return;
    this.#world.coverage.note('crash');
    this.stop(why);
    const { random, timeline } = this.#world;
    timeline.schedule(random.between(20, 2_500), 'a restart', () => {
      this.start(random.pick(comesBack));
    });
  }

  /** As a node is stopped that is to be started again: others may lead at once. */
  retire(): void {
    const { random, coverage } = this.#world;
    const life = this.#life;
    if (this.#serving === undefined) return;
    coverage.note('retired');
    this.#serving.hub.closeAll();
    this.#served = this.#serving.models.position();
    this.#serving = undefined;
    this.#parts = undefined;
    void this.#leadership?.stop();
    life.later(random.between(50, 3_000), 'a clean end', () => {
      this.crash('it was stopped');
    });
  }

  stop(why: string): void {
    this.#world.timeline.add(() => `${this.name} dies: ${why}`);
    if (this.#serving !== undefined) this.#served = this.#serving.models.position();
    this.#serving = undefined;
    this.#leadership = undefined;
    this.#past = undefined;
    this.#parts = undefined;
    this.#life.end();
    for (const { watcher, sink } of this.#open) {
      watcher.closed();
      sink.unblock();
    }
    this.#open.clear();
  }

  pause(ms: number): void {
    if (this.#life.alive) this.#world.timeline.add(() => `${this.name} stands still for ${String(ms)} ms`);
    if (ms >= reconcileStepMs) this.#stoodStill = true;
    this.#life.pause(ms);
  }

  resume(): void {
    this.#life.resume();
  }

  jump(ms: number): void {
    this.#skewMs += ms;
  }

  /**
   * Its files change: it serves nothing until the indexes are rebuilt and its declaration is appended, if it may
   * declare.
   */
  install(released: ResourceType): void {
    if (this.#type === released) return;
    this.#world.timeline.add(() => `${this.name} has ${String(released.declaration?.version)}`);
    this.#type = released;
    this.#past?.redeclare(released);
    const parts = this.#parts;
    if (parts === undefined) return;
    if (this.#serving !== undefined) this.#served = parts.serving.models.position();
    this.#serving = undefined;
    if (parts.plugin !== undefined) parts.serving.hub.closeType(type.key);
    void this.#reinstall(parts, released).catch(this.#world.fail);
  }

  /** As a plugin is reloaded: the new types are registered when all of the old code has ended. */
  async #reload(parts: NodeParts, plugin: NodePlugin): Promise<void> {
    const { random } = this.#world;
    const isOver = this.#begin(parts);
    this.#isRegistered = false;
    await plugin.unmount();
    const [clock, delayMs] = [this.clock(this.#life), random.chance(0.5) ? 0 : random.below(300)];
    if (delayMs > 0) await delay(clock, delayMs);
    if (isOver()) return;
    this.#isRegistered = true;
    await this.#start(parts, plugin, isOver);
  }

  /** Begins a load of the plugin. It is over when a later one begins, or with the node's life. */
  #begin(parts: NodeParts): () => boolean {
    const load = (this.#load += 1);
    return () => this.#load !== load || this.#parts !== parts;
  }

  /** Builds the indexes and declares the type. Then serves it, unless its files are older than stored objects. */
  async #start(parts: NodeParts, plugin: NodePlugin, isOver: () => boolean): Promise<void> {
    if (!(await this.#prepare(parts, plugin, isOver))) return;
    this.#serving = parts.serving;
    parts.declaring?.scan();
    parts.served(this.#type);
    this.#world.timeline.add(() => `${this.name} serves ${this.#type.declaration?.version ?? ''}`);
    void plugin.mount(this.#type).catch(this.#world.fail);
  }

  async #prepare(
    { serving: { models }, declaring }: NodeParts,
    plugin: NodePlugin,
    isOver: () => boolean,
  ): Promise<boolean> {
    const declared = this.#type;
    await models.buildIndexes(declared);
    if (isOver()) return false;
    const problems = await plugin.problems(declared);
    if (problems.length > 0) {
      this.#world.coverage.note('an older folder is refused');
      return false;
    }
    await declaring?.declare();
    return !isOver();
  }

  async #reinstall(parts: NodeParts, released: ResourceType): Promise<void> {
    const isOver = (): boolean => this.#parts !== parts || this.#type !== released;
    if (parts.plugin !== undefined) {
      await this.#reload(parts, parts.plugin);
      return;
    }
    await parts.serving.models.buildIndexes(released);
    if (isOver()) return;
    void parts.declaring?.declare();
    this.#serving = parts.serving;
  }

  setClockRight(): void {
    this.#skewMs = 0;
  }

  rejectInFlight(): void {
    this.#way?.rejectInFlight();
  }

  /** A request: undefined when nobody is there to answer, or dies before it does. */
  async ask<T>(call: (serving: Serving) => T | Promise<T>): Promise<{ readonly answer: T } | undefined> {
    const life = this.#life;
    const answered = new Promise<{ readonly answer: T } | undefined>((resolve, reject) => {
      life.later(this.#world.random.below(3), 'a request', () => {
        if (this.#serving === undefined) resolve(undefined);
        else
          Promise.resolve(call(this.#serving)).then((answer) => {
            resolve({ answer });
          }, reject);
      });
    });
    const outcome = await Promise.race([answered, life.died]);
    return outcome === 'died' || !life.alive ? undefined : outcome;
  }

  /** Opens a watch; call it within `ask`. */
  watch({ hub }: Serving, plan: WatchPlan, sink: RecordingSink): Watcher {
    const watcher = hub.open(plan, sink);
    this.#open.add({ watcher, sink });
    return watcher;
  }

  clock(life: Life): Clock {
    const { timeline } = this.#world;
    return {
      now: () => epoch + Math.floor(timeline.now) + this.#skewMs,
      monotonic: () => timeline.now,
      after: (delayMs, task) => life.later(delayMs, 'a timer', task),
    };
  }

  async #serve(life: Life): Promise<void> {
    const { fail, timeline } = this.#world;
    const clock = this.clock(life);
    const way = (this.#way = wayToLog(
      this.#world,
      {
        link: this.link,
        life,
        crash: (why) => {
          if (this.#life === life) this.crash(why);
        },
      },
      clock,
    ));
    const log = new FoundedLog(way.log);
    const onError = (error: unknown): void => {
      if (!this.#stoodStill || !isStuck(error)) fail(error);
    };
    const typeNow = (): ResourceType => this.#type;
    const registeredNow = (): ResourceType | undefined => this.#registered;
    const servedNow = (): ResourceType | undefined =>
      this.#world.evolution === undefined || this.#serving !== undefined ? this.#registered : undefined;
    const types = { typeNow, registeredNow, servedNow };
    this.#isRegistered = this.#world.evolution === undefined;
    const parts = nodeParts(this.#world, { log, tables: this.#tables, clock, onError, name: this.name, ...types });
    const { models } = parts.serving;
    this.#leadership = parts.leadership;
    new Wholeness(this.#world, this.name, models).watch(() => this.#serving?.models === models);
    await this.#follow(parts, { log, clock, way });
    this.#watchPosition(models);
    this.#isRegistered = true;
    const { plugin } = parts;
    if (plugin === undefined) await models.buildIndexes(this.#type);
    this.#parts = parts;
    const isOver = this.#begin(parts);
    parts.open();
    if (!life.alive) return;
    if (models.position() < this.#served)
      throw new Error(
        `${this.name} answers from ${models.position().toString()} after it answered from ${this.#served.toString()}`,
      );
    if (plugin !== undefined) {
      await this.#start(parts, plugin, isOver);
      return;
    }
    timeline.add(() => `${this.name} serves from ${models.position().toString()}`);
    this.#serving = parts.serving;
  }

  async #follow(
    { serving, agreement }: NodeParts,
    { log, clock, way }: { readonly log: FoundedLog; readonly clock: Clock; readonly way: WayToLog },
  ): Promise<void> {
    const config = { platformDomain: domain, dataDir: '' } as Config;
    const { fail, coverage } = this.#world;
    const life = this.#life;
    const onFatal = (error: Error): void => {
      if (!way.hasGap() || !(error.cause instanceof LogCorruptError)) {
        fail(error);
        return;
      }
      coverage.note('stopped at a gap');
      this.crash('its subscription left out an event', ['kept']);
    };
    const follower = new LogFollower({
      config,
      log,
      models: serving.models,
      clock,
      logger: silent,
      readiness: new Readiness(log),
      agreement,
      onFatal,
    });
    await follower.start();
    if (!life.alive) return;
    this.#past = foldAudit(this.#world, {
      name: this.name,
      log,
      clock,
      logger: silent,
      serving,
      folded: this.#audit,
      hasGap: () => this.#auditHasGap || way.hasAuditGap(),
      signed: this.#signed,
      onLeftOut: () => {
        if (!life.alive) return;
        this.#way = undefined;
        this.#auditHasGap = false;
        this.crash('its audit indexes lacked an event', ['kept']);
      },
      isOver: () => !life.alive,
    });
  }

  /** Invariant 6: a node's position never falls. */
  #watchPosition(models: ObjectModels): void {
    let last = models.position();
    models.subscribe(({ position }) => {
      if (position <= last || models.position() !== position)
        this.#world.fail(new Error(`${this.name} went from ${last.toString()} to ${position.toString()}`));
      last = position;
    });
  }

  /** The read models as an older backup has them. */
  #foldSome(): void {
    const { shared, random } = this.#world;
    const { folded } = shared;
    const [founding] = folded;
    if (founding === undefined) return;
    const { event } = decodeEvent(founding);
    if (event.type !== 'EpochStarted') throw new Error(`the log begins with a ${event.type}`);
    const folding = olderOf(this.#world);
    const models = new ObjectModels({
      tables: this.#tables,
      identity: () => event,
      types: (key) => (key === type.key ? folding : undefined),
      clock: this.clock(this.#life),
    });
    for (const recorded of folded.slice(0, random.below(folded.length + 1))) models.apply([recorded]);
  }
}

/** As which an older backup was folded. */
function olderOf({ evolution, random }: World): ResourceType {
  return evolution === undefined ? type : random.pick(evolution.stages).type;
}

const silent: PluginLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

function isStuck(error: unknown): boolean {
  return error instanceof Error && error.message === 'the step has not ended in time';
}

/** The log cannot be reached from these nodes. */
export function cut(nodes: readonly SimNode[], untilMs: number): void {
  for (const node of nodes) {
    node.link.downUntil = untilMs;
    node.rejectInFlight();
  }
}
