import type { UniqueSteps } from '../../read/uniqueness.ts';
import type { AppliedObjects } from '../objects/applied-objects.ts';
import type { HostedPlugin } from './hosted-plugin.ts';
import type { Incarnation, IncarnationDependencies } from './incarnation.ts';
import { eraseRetryMs } from './life-limits.ts';
import { eventFor, life, type Desire, type LifeState, type Transition } from './life.ts';
import type { LoadDependencies } from '../load/load-plugin.ts';
import { dependencyVerdict } from './plugin-dependencies.ts';
import { PluginLoads } from '../load/plugin-loads.ts';
import type { PackageRef } from '../packages/package-store.ts';
import { refreshFiles, type PluginSourceDependencies } from '../folders/plugin-source.ts';
import type { PluginObjects, PluginWish } from '../objects/plugin-objects.ts';
import type { Failure } from './plugin-status.ts';
import { noticesOf } from './plugin-notices.ts';
import { PluginTeller } from './plugin-teller.ts';

/** Whether this node does what only one of several needs to do. */
export type Leadership = {
  isLeader(): boolean;
  /** Calls `listener` when that changes. */
  subscribe(listener: (leads: boolean) => void): () => void;
};

export type PluginStepDependencies = LoadDependencies & IncarnationDependencies & PluginSourceDependencies & {
  readonly objects: PluginObjects;
  readonly applied: AppliedObjects;
  /** Absent: nothing is known of unique indexes that are not enforced. */
  readonly unique?: UniqueSteps;
  readonly leadership: Pick<Leadership, 'isLeader'>;
  /** Names of plugins that the operator of this node keeps from being loaded. */
  readonly keptOff: ReadonlySet<string>;
  /** All plugins of this node. */
  readonly plugins: ReadonlyMap<string, HostedPlugin>;
  readonly enqueue: (plugin: HostedPlugin) => void;
  readonly forget: (plugin: HostedPlugin) => void;
};

/** What is wanted of a plugin, and why it is not to run where something keeps it from that. */
type Wanted = { readonly kind: Desire['kind'] | 'wait'; readonly failure?: Failure | undefined };

/** The most steps from one state of rest to the next: release, load, build, apply, serve, with room for a change of mind. */
const stepsMax = 32;

/**
 * Brings one plugin from what is to what its object, its files and the plugins it needs want, one transition of its life at
 * a time, each judged anew: what changes meanwhile counts at the next. All that people see is written by the node that leads.
 */
export class PluginStep {
  readonly #dependencies: PluginStepDependencies;
  readonly #teller: PluginTeller;
  readonly loads: PluginLoads;

  constructor(dependencies: PluginStepDependencies) {
    this.#dependencies = dependencies;
    this.#teller = new PluginTeller(dependencies);
    this.loads = new PluginLoads(dependencies);
  }

  /** Steps until nothing is to be done, and tells how it stands. */
  async settle(plugin: HostedPlugin): Promise<void> {
    for (let step = 0; step < stepsMax && !plugin.isOver; step += 1) {
      await this.#refresh(plugin);
      if (!await this.#take(plugin, this.#wanted(plugin))) break;
    }
    if (!plugin.isWaiting) this.#dependencies.registry.rests(plugin.name);
    await this.#teller.tell(plugin);
  }

  /** Reads and runs it, or has something else looked at first. Nothing is registered yet. */
  async load(plugin: HostedPlugin): Promise<void> {
    if (plugin.files === undefined || plugin.manifest === undefined) return;
    plugin.state = 'not-started';
    const fingerprint = this.#fingerprint(plugin);
    this.fail(plugin, await this.loads.take(plugin), fingerprint);
  }

  /** It is to stay so until its files or its object change. */
  fail(plugin: HostedPlugin, failure: Failure | undefined, fingerprint = this.#fingerprint(plugin)): void {
    if (failure !== undefined) plugin.own = { failure, fingerprint };
  }

  /** Its object says so; before there is one, its manifest. */
  isEnabled(plugin: HostedPlugin): boolean {
    if (this.#dependencies.keptOff.has(plugin.name)) return false;
    const wish = this.#dependencies.objects.wish(plugin.name);
    return wish === undefined ? plugin.manifest?.enabled !== false : wish.enabled && !wish.isDeleted;
  }

  async refresh(plugin: HostedPlugin): Promise<void> {
    const wish = this.#dependencies.objects.wish(plugin.name);
    if (wish?.isDeleted === true) return;
    const failure = await refreshFiles(plugin, wish?.package, this.#dependencies);
    this.fail(plugin, failure);
    if (failure?.reason === 'PackageUnreadable') this.settleLater(plugin);
  }

  settleLater(plugin: HostedPlugin): void {
    const { clock, enqueue } = this.#dependencies;
    plugin.retry?.cancel();
    plugin.retry = clock.after(eraseRetryMs, () => { enqueue(plugin); });
  }

  /** The files it is made of, and its object, brought up to date with them by the node that leads. */
  async #refresh(plugin: HostedPlugin): Promise<void> {
    const wish = this.#seen(plugin);
    await this.refresh(plugin);
    const digest = plugin.files?.digest ?? 'none';
    // Gone for good, or another folder's by the same name: it is not made again.
    const mayEnsure = wish === undefined ? !plugin.wasThere && plugin.folder !== undefined : !wish.isDeleted && plugin.refused === undefined && !this.#isAnother(plugin, wish);
    if (this.#dependencies.leadership.isLeader() && plugin.ensuredDigest !== digest && mayEnsure) await this.#ensure(plugin, wish?.package);
    plugin.ensuredDigest = mayEnsure ? digest : plugin.ensuredDigest;
  }

  #seen(plugin: HostedPlugin): PluginWish | undefined {
    const wish = this.#dependencies.objects.wish(plugin.name);
    plugin.uid ??= wish?.uid;
    plugin.seen = seenOf(wish);
    plugin.generation = wish?.generation;
    return wish;
  }

  /** Its object went; or it has none and no folder either. */
  #isGone(plugin: HostedPlugin, wish: PluginWish | undefined): boolean {
    return wish === undefined ? plugin.wasThere || plugin.folder === undefined : this.#isAnother(plugin, wish);
  }

  /** Its object went, and one of its name came. */
  #isAnother({ uid }: HostedPlugin, wish: PluginWish): boolean {
    return uid !== undefined && wish.uid !== uid;
  }

  async #ensure(plugin: HostedPlugin, ref: PackageRef | undefined): Promise<void> {
    const { objects, log } = this.#dependencies;
    const before = this.#fingerprint(plugin);
    const applied = await objects.ensure(plugin.name, plugin.manifestDigest === plugin.files?.digest ? plugin.manifest : undefined, ref);
    this.#seen(plugin);
    // What it failed for is not mended by what the host itself wrote.
    if (plugin.own?.fingerprint === before) plugin.own = { ...plugin.own, fingerprint: this.#fingerprint(plugin) };
    if (applied.ok) {
      plugin.kept = new Map([['Plugin', applied.kept]]);
      return;
    }
    log.error('could not write a Plugin object', { plugin: plugin.name, detail: applied.detail });
    this.fail(plugin, { reason: 'PluginObjectRefused', message: `could not write its Plugin object: ${applied.detail}` });
  }

  #wanted(plugin: HostedPlugin): Wanted {
    const { objects, keptOff } = this.#dependencies;
    const wish = objects.wish(plugin.name);
    if (this.#isGone(plugin, wish)) return { kind: 'gone' };
    if (wish?.isDeleted === true) return { kind: 'uninstall' };
    if (!this.isEnabled(plugin)) return { kind: 'off', failure: keptOff.has(plugin.name) ? { reason: 'KeptOff', message: 'PLUGINS_DISABLED names it: this server does not load it' } : undefined };
    const { refused, own } = plugin;
    if (refused !== undefined) return { kind: 'fail', failure: refused };
    if (own !== undefined && own.fingerprint === this.#fingerprint(plugin)) return { kind: 'fail', failure: own.failure };
    plugin.own = undefined;
    const { plugins } = this.#dependencies;
    const verdict = dependencyVerdict(plugin, (name) => plugins.get(name), [...plugins.values()].filter((other) => this.isEnabled(other)));
    return verdict.kind === 'ready' ? { kind: 'run' } : verdict;
  }

  /** One transition; false: there is nothing to be done now. */
  async #take(plugin: HostedPlugin, wanted: Wanted): Promise<boolean> {
    if (wanted.kind !== 'run' && wanted.kind !== 'wait') this.loads.drop(plugin, wanted.kind === 'off');
    plugin.failure = wanted.failure;
    plugin.isWaiting = wanted.kind === 'wait';
    plugin.isReturning = wanted.kind === 'run' || plugin.isWaiting;
    const wasLeaving = plugin.isLeaving;
    plugin.isLeaving = false;
    if (plugin.isCurrent && plugin.state === 'started' && wanted.kind === 'run') return this.#applyLate(plugin);
    if (plugin.isCurrent && plugin.state === 'not-started' && (wanted.kind === 'run' || wanted.kind === 'wait')) return this.#bringUp(plugin, wanted.kind === 'run');
    return this.#transit(plugin, life[plugin.state][wanted.kind === 'wait' ? 'changed' : eventFor(plugin.state, wanted.kind, plugin.isCurrent)], wasLeaving);
  }

  async #transit(plugin: HostedPlugin, { to, act }: Transition, wasLeaving: boolean): Promise<boolean> {
    const before = plugin.state;
    switch (act) {
      case 'none':
        plugin.state = to;
        return to !== before;
      case 'load':
        // What it serves is known by what it last served: until it is loaded, or fails, that may be there in a moment.
        this.#dependencies.registry.returns(plugin.name, plugin.groups);
        await this.#teller.whileTold(plugin, async () => this.load(plugin));
        this.fail(plugin, plugin.incarnation?.registerTypes() ?? plugin.incarnation?.announceRoutes());
        if (plugin.incarnation !== undefined) this.#dependencies.registry.knows(plugin.name);
        // Woken while it loads: the host looks at where its files are now before the next step.
        return plugin.loading === undefined;
      case 'release':
        return this.#release(plugin, to, wasLeaving);
      case 'erase':
        plugin.state = to;
        if (before !== to) await this.#teller.tell(plugin);
        return this.#erase(plugin);
      case 'forget':
        plugin.state = to;
        this.#dependencies.forget(plugin);
        return false;
    }
  }

  /** Those that run on it stop first; each of them looks after this one again once it has. */
  async #release(plugin: HostedPlugin, to: LifeState, wasLeaving: boolean): Promise<boolean> {
    const { plugins, enqueue, log, registry } = this.#dependencies;
    // By what runs: those that are started cannot run on each other in a ring, as new manifests may want it.
    const dependents = [...plugins.values()].filter(({ state, runsOn }) => (state === 'started' || state === 'stopping') && runsOn.has(plugin.name));
    if (dependents.length > 0) {
      plugin.isLeaving = true;
      // Once: from then on it is told whenever one of them has come further.
      if (!wasLeaving) dependents.forEach(enqueue);
      return false;
    }
    const wasStarted = plugin.state === 'started';
    plugin.state = to;
    const { incarnation } = plugin;
    plugin.groups = incarnation?.groups() ?? plugin.groups;
    if (wasStarted && plugin.isReturning) registry.returns(plugin.name, incarnation?.groups() ?? []);
    plugin.incarnation = undefined;
    plugin.isApplied = false;
    plugin.progress = undefined;
    await this.#teller.whileTold(plugin, async () => incarnation?.release());
    plugin.runsOn = new Set();
    if (wasStarted) log.info('plugin stopped', { plugin: plugin.name });
    plugin.state = life[to].released.to;
    return true;
  }

  /** From registered to served: indexes, objects, paths. Everything is judged anew between them. */
  async #bringUp(plugin: HostedPlugin, isReady: boolean): Promise<boolean> {
    const { incarnation } = plugin;
    if (incarnation === undefined) return false;
    if (!incarnation.areIndexesBuilt) {
      this.fail(plugin, await this.#build(plugin, incarnation));
      return true;
    }
    if (!isReady) return false;
    if (this.#dependencies.leadership.isLeader() && !plugin.isApplied) {
      await this.#apply(plugin, incarnation);
      return true;
    }
    incarnation.serve();
    plugin.state = life[plugin.state].served.to;
    const { log, suspects } = this.#dependencies;
    for (const { type, message } of noticesOf({ incarnation: plugin.incarnation, kept: plugin.kept, troubles: [], unique: [], placeOf: (stack) => suspects.placeOf(plugin.name, stack) })) log.warn('plugin notice', { plugin: plugin.name, notice: type, message });
    log.info('plugin started', { plugin: plugin.name });
    return false;
  }

  async #build(plugin: HostedPlugin, incarnation: Incarnation): Promise<Failure | undefined> {
    if (this.#dependencies.objects.phase(plugin.name) !== 'started') await this.#teller.tell(plugin);
    const failure = await this.#teller.whileTold(plugin, async () => incarnation.buildIndexes((percent) => { plugin.progress = percent; }));
    plugin.progress = undefined;
    return failure;
  }

  /** Once this node leads: the objects of a plugin that another node was to apply. */
  async #applyLate(plugin: HostedPlugin): Promise<boolean> {
    if (plugin.isApplied || plugin.incarnation === undefined || !this.#dependencies.leadership.isLeader()) return false;
    await this.#apply(plugin, plugin.incarnation);
    return true;
  }

  async #apply(plugin: HostedPlugin, incarnation: Incarnation): Promise<void> {
    const applied = await incarnation.isItsOwn() ? await this.#dependencies.applied.apply(incarnation.is) : undefined;
    plugin.isApplied = true;
    if (applied === undefined) return;
    if (applied.ok) plugin.kept = new Map([...plugin.kept, ...applied.kept]);
    else this.fail(plugin, applied.failure);
  }

  /** The node that leads removes what it declared; its object goes once that is done, and with it the name is free. */
  async #erase(plugin: HostedPlugin): Promise<boolean> {
    const { objects, applied, leadership, log } = this.#dependencies;
    const wish = objects.wish(plugin.name);
    if (!leadership.isLeader() || wish === undefined) return false;
    const isOver = (): boolean => objects.wish(plugin.name)?.uid !== plugin.uid;
    const problems = await applied.erase(plugin.name, wish.deleteData, isOver);
    const isDone = !isOver() && problems.length === 0 && await objects.letGo(plugin.name, plugin.uid);
    if (isOver()) return false;
    plugin.retry?.cancel();
    if (isDone) {
      log.info('plugin uninstalled', { plugin: plugin.name });
      return false;
    }
    plugin.failure = { reason: 'NotRemoved', message: `could not remove its remains; retrying: ${problems.slice(0, 16).join('; ')}${problems.length > 16 ? `; and ${String(problems.length - 16)} more` : ''}` };
    this.settleLater(plugin);
    return false;
  }

  #fingerprint(plugin: HostedPlugin): string {
    return `${plugin.files?.digest ?? 'none'} ${JSON.stringify(this.#dependencies.objects.wish(plugin.name)?.generation ?? null)}`;
  }
}

/** Changes whenever what people want of it may have. */
export function seenOf(wish: PluginWish | undefined): string {
  return wish === undefined ? 'none' : `${JSON.stringify(wish.uid ?? null)} ${JSON.stringify(wish.generation ?? null)} ${String(wish.isDeleted)}`;
}
