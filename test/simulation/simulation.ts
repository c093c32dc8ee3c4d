import { ObjectModels } from '../../projections/object-models.ts';
import { logStart, type LogPosition } from '../../src/log/log.ts';
import { must } from '../../src/base/unreachable.ts';
import { idOf } from '../support/id-of.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { checkHistory, countTakeovers, unsettledClaims } from './checks/checks.ts';
import { checkCauses } from './checks/checks-causes.ts';
import { checkReferences } from './checks/checks-references.ts';
import { checkUniqueness, unenforced } from './checks/checks-unique.ts';
import { Cluster, stalenessOf } from './cluster.ts';
import type { Coverage } from './coverage.ts';
import { drawFaults, incidents, noFaults, type Faults, type Incident } from './faults.ts';
import { History, nameOfStream } from './history.ts';
import { Random } from './random.ts';
import { isReferring } from './referring.ts';
import { Releases, release } from './releases.ts';
import { SharedLog } from './log/shared-log.ts';
import { TrueTree } from './log/true-tree.ts';
import { checkRows, SimClient } from './clients/sim-client.ts';
import { selectionsOf } from './selections.ts';
import { SimDuel } from './clients/sim-duel.ts';
import { SimAuditor } from './clients/sim-auditor.ts';
import { SimLister } from './clients/sim-lister.ts';
import type { Serving } from './node/node-parts.ts';
import { cut, SimNode } from './node/sim-node.ts';
import { SimWatcher } from './clients/sim-watcher.ts';
import type { TablesPool } from './node/tables-pool.ts';
import { Timeline } from './timeline.ts';
import { facts, type, type World } from './world.ts';
import { plainJudge } from './checks/judge.ts';
import { checkContents, checkForms, checkKept, unmigrated } from './evolution/checks-evolution.ts';
import { Evolution, evolve } from './evolution/evolution.ts';
import { EvolvingClient } from './evolution/evolving-client.ts';
import { EvolvingJudge } from './evolution/evolving-judge.ts';
import { EvolvingWatcher } from './evolution/evolving-watcher.ts';

/** From the end of the faults until everything is as it should be, in simulated time. */
const settleMsMax = 120_000;
/** The reconciler of claims sweeps every ten minutes, and a new leader may have begun just before the end. */
const tidyMsMax = 1_500_000;
const runMsMax = 900_000;
const minuteMs = 60_000;
const tenYearsMs = 315_360_000_000;

/** How much longer a run that ran out of time may take when it is had again. */
const moreTime = 10;

/** A run took longer than it may, which says nothing unless it does so again in far more time. */
class OutOfTimeError extends Error {}

export type Run = { readonly error: unknown; readonly trace: readonly string[] };

/** One run, wholly determined by its seed. One that runs out of simulated time is had again with ten times as much. */
export async function simulate(
  seed: number,
  coverage: Coverage,
  options: Omit<Given, 'coverage' | 'patience'>,
): Promise<Run> {
  const run = await simulateOnce(seed, { ...options, coverage, patience: 1 });
  if (!(run.error instanceof OutOfTimeError)) return run;
  coverage.note('ran out of time');
  return simulateOnce(seed, { ...options, coverage, patience: moreTime });
}

type Given = {
  readonly coverage: Coverage;
  readonly tables: TablesPool;
  readonly isTraced: boolean;
  /** Whether the type has versions that are converted. */
  readonly evolves: boolean;
  readonly patience: number;
};

async function simulateOnce(seed: number, given: Given): Promise<Run> {
  const simulation = new Simulation(seed, given);
  let error: unknown;
  try {
    await simulation.run();
  } catch (cause) {
    error = cause;
  }
  simulation.close();
  return { error, trace: simulation.trace ?? [] };
}

class Simulation {
  readonly trace: string[] | undefined;
  readonly #world: World;
  readonly #random: Random;
  readonly #timeline: Timeline;
  readonly #nodes: readonly SimNode[];
  readonly #clients: readonly (SimClient | EvolvingClient)[];
  readonly #watchers: readonly (SimWatcher | EvolvingWatcher)[];
  readonly #listers: readonly SimLister[];
  readonly #auditors: readonly SimAuditor[];
  readonly #pool: TablesPool;
  /** It goes on until claims that nobody holds are given up. */
  readonly #isTidied: boolean;
  /** How many times as long as usual anything may take. */
  readonly #patience: number;
  #faults: Faults;
  #working: number;
  #failure: { readonly error: unknown } | undefined;
  /** When the faults ceased. */
  #calmMs = Infinity;

  constructor(seed: number, { coverage, tables, isTraced, evolves, patience }: Given) {
    this.#pool = tables;
    this.#patience = patience;
    const trace = isTraced ? [] : undefined;
    const random = (this.#random = new Random(seed));
    const timeline = (this.#timeline = new Timeline(trace));
    this.trace = trace;
    this.#faults = random.chance(0.06) ? noFaults : drawFaults(random);
    this.#isTidied = random.chance(0.05);
    timeline.add(() => JSON.stringify(this.#faults));
    const shared = new SharedLog(
      () => timeline.now,
      () => random.below(3),
    );
    const cluster = random.chance(0.3) ? new Cluster({ timeline, shared, random, coverage }) : undefined;
    const evolution = evolves ? new Evolution(seed) : undefined;
    let ids = 0;
    const world = (this.#world = {
      timeline,
      shared,
      cluster,
      random,
      coverage,
      faults: () => this.#faults,
      history: new History(shared),
      invocations: [],
      fail: (error) => {
        this.#failure ??= { error };
      },
      openTables: () => tables.take(),
      openAudit: () => tables.audits.take(),
      roots: new Map(),
      truth: new TrueTree(shared),
      hotSerial: 's1',
      releases: evolution ?? Releases.of(seed),
      isReferring: !evolves && Releases.of(seed) === undefined && isReferring(seed),
      evolution,
      judge: evolution === undefined ? plainJudge(facts) : new EvolvingJudge(shared, evolution.stages),
      forms: new Map(),
      lives: new Map(),
      late: undefined,
      appendBytesMax: this.#faults.appendBytesMax,
      staleMs: stalenessOf(this.#faults, cluster),
      uuid: () => {
        ids += 1;
        return idOf(`${String(seed)} ${String(ids)}`);
      },
    } satisfies World);
    this.#nodes = Array.from({ length: random.pick([2, 3]) }, (_, index) => new SimNode(world, `n${String(index)}`));
    this.#clients = Array.from(
      { length: random.pick([2, 3, 4]) },
      (_, index) => new (evolves ? EvolvingClient : SimClient)(world, this.#nodes, `c${String(index)}`),
    );
    this.#watchers = Array.from(
      { length: random.pick([1, 2, 3]) },
      (_, index) => new (evolves ? EvolvingWatcher : SimWatcher)(world, this.#nodes, `w${String(index)}`),
    );
    this.#listers = Array.from(
      { length: evolves ? 0 : random.pick([0, 0, 0, 1]) },
      (_, index) => new SimLister(world, this.#nodes, `l${String(index)}`),
    );
    this.#auditors = Array.from(
      { length: evolves ? 0 : random.pick([0, 0, 1]) },
      (_, index) => new SimAuditor(world, this.#nodes, `a${String(index)}`),
    );
    this.#working = this.#clients.length;
  }

  async run(): Promise<void> {
    for (const node of this.#nodes) node.start('kept');
    for (const client of this.#clients)
      void client
        .run(this.#random.between(5, 18))
        .then(() => {
          this.#working -= 1;
        })
        .catch(this.#world.fail);
    release(this.#world, this.#nodes, () => this.#faults === noFaults);
    evolve(this.#world, this.#nodes, () => this.#faults === noFaults);
    if (this.#world.evolution !== undefined) this.#rival();
    else if (this.#faults.duels) this.#duel();
    for (const watcher of this.#watchers) void watcher.run().catch(this.#world.fail);
    for (const each of [...this.#listers, ...this.#auditors]) void each.run().catch(this.#world.fail);
    for (const incident of incidents) this.#await(incident);
    await this.#until(
      () => this.#working === 0,
      runMsMax * this.#patience,
      () => 'the clients never came to an end',
    );
    this.#calm();
    if (this.#isTidied) await this.#tidy();
    await this.#settle();
    if (this.#world.evolution !== undefined) await this.#touchAll(this.#world.evolution);
    for (const each of [...this.#watchers, ...this.#listers, ...this.#auditors]) each.stop();
    await this.#check();
  }

  async #settle(): Promise<void> {
    await this.#until(
      () => this.#isSettled(),
      this.#timeline.now + settleMsMax * this.#patience,
      () => `nothing settled: ${this.#unsettled().join('; ')}`,
    );
  }

  async #touchAll(evolution: Evolution): Promise<void> {
    let isDone = false;
    const client = new EvolvingClient(this.#world, this.#nodes, 't');
    void client
      .touchAll(evolution)
      .then(() => {
        isDone = true;
      })
      .catch(this.#world.fail);
    await this.#until(
      () => isDone,
      this.#timeline.now + settleMsMax * this.#patience,
      () => 'the last writes are not answered',
    );
    await this.#settle();
  }

  /** Looked at once a second: it takes minutes. */
  async #tidy(): Promise<void> {
    for (const each of [...this.#listers, ...this.#auditors]) each.stop();
    let nextMs = 0;
    const isTidy = (): boolean => {
      if (this.#timeline.now < nextMs) return false;
      nextMs = this.#timeline.now + 1_000;
      return unsettledClaims(this.#world).length === 0;
    };
    await this.#until(
      isTidy,
      this.#timeline.now + tidyMsMax * this.#patience,
      () => `nobody holds and nobody gave up ${unsettledClaims(this.#world).join(', ')}`,
    );
  }

  #duel(): void {
    this.#working += 1;
    const duel = new SimDuel(this.#world, this.#nodes, new SimClient(this.#world, this.#nodes, 'd'));
    void duel
      .run(this.#random.between(1, 3))
      .then(() => {
        this.#working -= 1;
      })
      .catch(this.#world.fail);
  }

  #rival(): void {
    const rival = new EvolvingClient(this.#world, this.#nodes, 'r');
    void rival.rival(() => this.#faults === noFaults).catch(this.#world.fail);
  }

  close(): void {
    for (const node of this.#nodes) node.stop('the run is over');
    this.#pool.takeBack();
  }

  async #until(done: () => boolean, untilMs: number, late: () => string): Promise<void> {
    while (!done()) {
      if (this.#timeline.now > untilMs || !(await this.#timeline.next())) throw new OutOfTimeError(late());
      if (this.#failure !== undefined) throw this.#failure.error;
      this.#checkLease();
    }
  }

  /** As all clocks run alike, no two nodes ever believe that they hold the lease. */
  #checkLease(): void {
    const elected = this.#nodes.filter((node) => node.elected);
    if (elected.length > 1)
      throw new Error(`${elected.map(({ name }) => name).join(' and ')} both believe that they hold the lease`);
  }

  #await(incident: Incident): void {
    const perMinute = this.#faults.incidents[incident];
    if (perMinute === 0) return;
    this.#timeline.schedule(Math.round((-Math.log(1 - this.#random.next()) * minuteMs) / perMinute), incident, () => {
      if (this.#faults === noFaults) return;
      this.#world.coverage.note(`incident ${incident}`);
      this.#strike(incident);
      this.#await(incident);
    });
  }

  #strike(incident: Incident): void {
    const random = this.#random;
    const { now } = this.#timeline;
    const node = random.pick(this.#nodes);
    const struck = random.chance(0.5) ? this.#nodes : [node];
    this.#timeline.add(() => `${incident} ${struck.map(({ name }) => name).join(' ')}`);
    switch (incident) {
      case 'crash':
        if (random.chance(0.3)) node.retire();
        else node.crash('it was its time');
        break;
      case 'pause':
        node.pause(random.between(100, 5_000));
        break;
      case 'longPause':
        node.pause(60_000);
        break;
      case 'outage':
        cut(struck, now + random.between(100, 8_000));
        break;
      case 'rejection':
        node.rejectInFlight();
        break;
      case 'stall':
        node.link.stalledUntil = now + random.between(50, 6_000);
        break;
      case 'jump':
        this.#jump(node, random.pick([-tenYearsMs, -3_600_000, -1_000, 1_000, 3_600_000, tenYearsMs]));
        break;
      case 'election':
        this.#world.cluster?.elect();
        break;
      case 'scavenge':
        this.#world.cluster?.scavenge(random.between(1, 4));
        break;
      case 'leaders':
        for (const each of struck) each.usurp(random.chance(0.8));
        break;
    }
  }

  /** A clock that is wrong, until somebody sets it right. */
  #jump(node: SimNode, ms: number): void {
    node.jump(ms);
    this.#timeline.schedule(this.#random.between(500, 8_000), 'a clock is set right', () => {
      if (this.#faults !== noFaults) node.jump(-ms);
    });
  }

  /** The faults cease. Calls and events in transit still arrive. */
  #calm(): void {
    this.#timeline.add(() => 'the faults cease');
    this.#faults = noFaults;
    this.#calmMs = this.#timeline.now;
    for (const node of this.#nodes) node.setClockRight();
    for (const node of this.#nodes) {
      node.link.downUntil = 0;
      node.link.stalledUntil = 0;
      node.resume();
      node.usurp(false);
      if (this.#world.releases !== undefined) node.install(this.#world.releases.newest);
      node.start('kept');
    }
  }

  #isSettled(): boolean {
    return this.#unsettled().length === 0;
  }

  /** Invariant 12. */
  #unsettled(): readonly string[] {
    const end = this.#end();
    // A run that waits for its claims has stopped its auditors.
    const isAudited = this.#auditors.length > 0 && !this.#isTidied;
    const waiting = this.#nodes.flatMap(({ name, serving, signedMs, pastMs, past }) => {
      if (serving === undefined) return [`${name} does not serve`];
      if (signedMs <= this.#calmMs) return [`${name} signs no tree`];
      // A node that lacks the last event cannot notice before another event follows.
      const lacksEvent = past?.hasGap() === true;
      if (isAudited && !lacksEvent && pastMs <= this.#calmMs) return [`${name} lists no past`];
      return serving.models.position() === end
        ? []
        : [`${name} is at ${serving.models.position().toString()}, not at ${end.toString()}`];
    });
    if (this.#world.shared.onTheirWay > 0) waiting.push('appends are on their way');
    waiting.push(...unenforced(this.#world, this.#nodes), ...unmigrated(this.#world, this.#nodes));
    if (waiting.length > 0) return waiting;
    if (!this.#watchers.every(({ settled }) => settled)) return ['a watcher is not live'];
    return [...this.#world.history.streams]
      .filter(([, steps]) => {
        const after = steps.at(-1)?.after;
        return (
          after?.kind === 'live' &&
          after.object.metadata.deletionTimestamp !== undefined &&
          after.object.metadata.finalizers === undefined
        );
      })
      .map(([stream]) => `${stream} is marked and not removed`);
  }

  /** The position every node must come to. */
  #end(): LogPosition {
    return this.#world.shared.folded.at(-1)?.position ?? logStart;
  }

  async #check(): Promise<void> {
    checkHistory(this.#world);
    checkCauses(this.#world);
    countTakeovers(this.#world);
    checkUniqueness(this.#world);
    if (this.#world.isReferring) checkReferences(this.#world);
    const end = this.#end();
    for (const { name, serving } of this.#nodes) if (serving !== undefined) this.#checkNode(name, serving);
    if (this.#world.evolution !== undefined) checkContents(this.#world);
    for (const watcher of this.#watchers) watcher.check(end);
    await this.#checkRebuilt();
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#world.coverage.note('events', this.#world.shared.events.length);
  }

  #checkNode(name: string, serving: Serving): void {
    if (this.#world.evolution === undefined) {
      checkRows(this.#world, name, serving.models);
      return;
    }
    checkForms(this.#world, name, serving);
    checkKept(this.#world, name, serving);
  }

  /** Invariant 9: what each node came to over many lives is what the log alone gives. */
  async #checkRebuilt(): Promise<void> {
    const tables = this.#world.openTables();
    const last = this.#world.releases?.newest ?? type;
    const identity = must(this.#nodes[0]?.serving, 'every node serves in the end').models.identity();
    const models = new ObjectModels({
      tables,
      identity: () => identity,
      types: (key) => (key === type.key ? last : undefined),
      clock: new FakeClock(),
    });
    const { folded } = this.#world.shared;
    for (let start = 0; start < folded.length; start += 64) models.apply(folded.slice(start, start + 64));
    await models.buildIndexes(last);
    for (const node of this.#nodes) {
      for (const stream of this.#world.history.streams.keys()) {
        const name = nameOfStream(stream);
        const [live, rebuilt] = [node.row(name), tables.row(type.key, name)];
        if (live === undefined ? rebuilt !== undefined : rebuilt?.equals(live) !== true)
          throw new Error(
            `${node.name} holds another row of ${name} than one rebuilt from the log\n${live?.toString() ?? ''}\n` +
              (rebuilt?.toString() ?? ''),
          );
      }
      for (const selection of selectionsOf(last)) {
        const named = [node.serving?.models, models].map((each) =>
          [...(each?.pages(type.key, { selection, sort: [] }) ?? [])].flat().join(),
        );
        const [live, rebuilt] = named;
        if (live !== rebuilt)
          throw new Error(`${node.name} finds ${String(live)} where one rebuilt from the log finds ${String(rebuilt)}`);
      }
    }
  }
}
