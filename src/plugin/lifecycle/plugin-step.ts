import type { Leadership } from '../../read/leadership.ts';
import type { UniqueSteps } from '../../read/uniqueness.ts';
import type { ObjectCheckResults } from '../api/object-checks.ts';
import type { AppliedObjects } from '../objects/applied-objects.ts';
import { unmountEnded } from './ended-front-ends.ts';
import type { HostedPlugin } from './hosted-plugin.ts';
import type { Incarnation, IncarnationDependencies } from './incarnation.ts';
import { eraseRetryMs } from './life-limits.ts';
import { eventFor, life, type LifeState, type Transition } from './life.ts';
import type { LoadDependencies } from '../load/load-plugin.ts';
import type { DesiredStates } from './desired-state.ts';
import { isRestingPhase, type DesiredState } from './plugin-state.ts';
import { PluginLoads } from '../load/plugin-loads.ts';
import type { PackageRef } from '../packages/package-store.ts';
import { refreshFiles, type PluginSourceDependencies } from '../folders/plugin-source.ts';
import type { PluginObjects } from '../objects/plugin-objects.ts';
import type { Failure } from './status/plugin-status.ts';
import { RoleRules, type RoleRulesDependencies } from './status/role-rules.ts';
import { StatusReporter } from './status/status-reporter.ts';

export type PluginStepDependencies = LoadDependencies &
  IncarnationDependencies &
  RoleRulesDependencies &
  PluginSourceDependencies & {
    readonly objects: PluginObjects;
    readonly desired: DesiredStates;
    readonly applied: AppliedObjects;
    /** The unique indexes that are not enforced; undefined if unknown. */
    readonly unique?: UniqueSteps;
    readonly checks?: ObjectCheckResults;
    readonly leadership: Pick<Leadership, 'isLeader'>;
    /** All plugins of this node. */
    readonly plugins: ReadonlyMap<string, HostedPlugin>;
    readonly enqueue: (plugin: HostedPlugin) => void;
    readonly forget: (plugin: HostedPlugin) => void;
  };

/**
 * The maximum number of steps of one reconciliation. Changes of the desired state during the reconciliation add steps.
 */
const stepsMax = 32;

/** Moves one plugin from its actual to its desired state, one transition at a time. Only the leader writes objects. */
export class PluginStep {
  readonly #dependencies: PluginStepDependencies;
  readonly #reporter: StatusReporter;
  readonly #rules: RoleRules;
  readonly loads: PluginLoads;
  readonly #desired: DesiredStates;

  constructor(dependencies: PluginStepDependencies) {
    this.#dependencies = dependencies;
    this.#rules = new RoleRules(dependencies);
    this.#reporter = new StatusReporter({ ...dependencies, rules: this.#rules });
    this.loads = new PluginLoads(dependencies);
    this.#desired = dependencies.desired;
  }

  /** Makes transitions until the plugin has its desired state or must wait, and then reports the state. */
  async reconcile(plugin: HostedPlugin): Promise<void> {
    for (let step = 0; step < stepsMax && !plugin.reconciliation.isStopped; step += 1) {
      await this.#refresh(plugin);
      this.#dropOutdatedFailure(plugin);
      if (!(await this.#advance(plugin, this.#desired.of(plugin)))) break;
    }
    if (!plugin.isWaiting) this.#dependencies.registry.clearReloading(plugin.name);
    await this.#reporter.report(plugin);
  }

  /** Returns the started plugins with an outdated report about the rules of their roles. */
  withChangedRules(): readonly HostedPlugin[] {
    return this.#rules.changed(this.#dependencies.plugins.values());
  }

  /** Reads and runs the module, without registering types and routes. Returns early if the plugin is enqueued again. */
  async load(plugin: HostedPlugin): Promise<void> {
    if (plugin.files === undefined || plugin.manifest === undefined) return;
    plugin.change({ type: 'load' });
    const fingerprint = this.#desired.fingerprint(plugin);
    const loaded = await this.loads.take(plugin);
    if (loaded?.ok === true) plugin.change({ type: 'loaded', incarnation: loaded.incarnation });
    else this.fail(plugin, loaded?.failure, fingerprint);
  }

  /** Records a failure, which is kept until the files or the object change. */
  fail(plugin: HostedPlugin, failure: Failure | undefined, fingerprint = this.#desired.fingerprint(plugin)): void {
    if (failure !== undefined) plugin.recordFailure({ failure, fingerprint });
  }

  async refresh(plugin: HostedPlugin): Promise<void> {
    const desired = this.#dependencies.objects.desired(plugin.name);
    if (desired?.isDeleted === true) return;
    const failure = await refreshFiles(plugin, desired?.package, this.#dependencies);
    this.fail(plugin, failure);
    if (failure?.reason === 'PackageUnreadable') this.reconcileLater(plugin);
  }

  reconcileLater(plugin: HostedPlugin): void {
    const { clock, enqueue } = this.#dependencies;
    plugin.reconciliation.retryAfter(clock, eraseRetryMs, () => {
      enqueue(plugin);
    });
  }

  #dropOutdatedFailure(plugin: HostedPlugin): void {
    const { ownFailure } = plugin;
    if (ownFailure !== undefined && ownFailure.fingerprint !== this.#desired.fingerprint(plugin))
      plugin.recordFailure(undefined);
  }

  /** Updates the plugin's files. On the leader, also updates the plugin's object. */
  async #refresh(plugin: HostedPlugin): Promise<void> {
    const desired = this.#desired.observe(plugin);
    await this.refresh(plugin);
    const digest = plugin.files?.digest ?? 'none';
    // A deleted object is not created again. An object is not updated if another folder has the plugin's name.
    const mayEnsure =
      desired === undefined
        ? !plugin.hadObject && plugin.folder !== undefined
        : !desired.isDeleted && plugin.refused === undefined && !this.#desired.isAnother(plugin, desired);
    if (this.#dependencies.leadership.isLeader() && plugin.ensuredDigest !== digest && mayEnsure)
      await this.#ensure(plugin, desired?.package);
    if (mayEnsure) plugin.recordEnsured(digest);
  }

  async #ensure(plugin: HostedPlugin, ref: PackageRef | undefined): Promise<void> {
    const { objects, log } = this.#dependencies;
    const before = this.#desired.fingerprint(plugin);
    const applied = await objects.ensure(plugin.name, plugin.hasPresentManifest ? plugin.manifest : undefined, ref);
    this.#desired.observe(plugin);
    // The write changes the fingerprint, but does not resolve the failure, so the failure gets the new fingerprint.
    if (plugin.ownFailure?.fingerprint === before) this.fail(plugin, plugin.ownFailure.failure);
    if (applied.ok) {
      plugin.recordKept(new Map([['Plugin', applied.kept]]));
      return;
    }
    log.error('could not write a Plugin object', { plugin: plugin.name, detail: applied.detail });
    this.fail(plugin, {
      reason: 'PluginObjectRefused',
      message: `could not write the Plugin object: ${applied.detail}`,
    });
  }

  /** Makes one transition. Returns false if no further transition is needed now. */
  async #advance(plugin: HostedPlugin, wanted: DesiredState): Promise<boolean> {
    if (wanted.kind !== 'run' && wanted.kind !== 'wait') this.loads.drop(plugin, wanted.kind === 'off');
    const wasLeaving = plugin.isLeaving;
    plugin.desire(wanted);
    if (plugin.isCurrent && plugin.phase === 'started' && wanted.kind === 'run') return this.#applyLate(plugin);
    if (plugin.isCurrent && plugin.phase === 'not-started' && (wanted.kind === 'run' || wanted.kind === 'wait'))
      return this.#bringUp(plugin, wanted.kind === 'run');
    return this.#perform(
      plugin,
      life[plugin.phase][wanted.kind === 'wait' ? 'changed' : eventFor(plugin.phase, wanted.kind, plugin.isCurrent)],
      wasLeaving,
    );
  }

  async #perform(plugin: HostedPlugin, { to, act }: Transition, wasLeaving: boolean): Promise<boolean> {
    const before = plugin.phase;
    unmountEnded(this.#dependencies.frontEnds, plugin.name, { to, act });
    switch (act) {
      case 'none':
        return rest(plugin, to);
      case 'load':
        // Until the load ends, requests for the plugin's last known API groups return 503 instead of 404.
        this.#dependencies.registry.markReloading(plugin.name, plugin.groups);
        await this.#reporter.reportWhile(plugin, async () => this.load(plugin));
        this.fail(plugin, plugin.incarnation?.registerTypes() ?? plugin.incarnation?.announceRoutes());
        if (plugin.incarnation !== undefined) this.#dependencies.registry.markKnown(plugin.name);
        // If the plugin was enqueued during the load, the files are checked again before the next step.
        return plugin.module.loading === undefined;
      case 'release':
        return this.#release(plugin, wasLeaving);
      case 'erase':
        plugin.change({ type: 'uninstall' });
        if (before !== to) await this.#reporter.report(plugin);
        return this.#erase(plugin);
      case 'forget':
        plugin.change({ type: 'rest', phase: 'discovered' });
        this.#dependencies.forget(plugin);
        return false;
    }
  }

  /**
   * Removes the plugin's registrations. While dependents run, only requests that the dependents stop, and returns
   * false. Each dependent enqueues this plugin again when the dependent has stopped.
   */
  async #release(plugin: HostedPlugin, wasLeaving: boolean): Promise<boolean> {
    const { plugins, enqueue, log, registry, frontEnds } = this.#dependencies;
    // Uses the dependencies of running code, which have no cycle. New manifests may have a cycle.
    const dependents = [...plugins.values()].filter(
      (other) => (other.phase === 'started' || other.phase === 'stopping') && other.runsOn(plugin.name),
    );
    if (dependents.length > 0) {
      plugin.change({ type: 'leave', isLeaving: true });
      // Notifies the dependents once. Each dependent later notifies this plugin of its progress.
      if (!wasLeaving) dependents.forEach(enqueue);
      return false;
    }
    const wasStarted = plugin.phase === 'started';
    const { incarnation } = plugin;
    plugin.change({ type: 'release' });
    if (!plugin.isReturning) frontEnds?.unmount(plugin.name);
    else if (wasStarted) registry.markReloading(plugin.name, plugin.groups);
    await this.#reporter.reportWhile(plugin, async () => incarnation?.release());
    if (wasStarted) log.info('plugin stopped', { plugin: plugin.name });
    plugin.change({ type: 'rest', phase: 'discovered' });
    return true;
  }

  /**
   * Performs the next action of a start. Each call performs one action, so that the desired state is checked between
   * two actions.
   */
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
    incarnation.serve(plugin.reconciliation.cause);
    plugin.change({ type: 'serve' });
    this.#reporter.logNotices(plugin);
    this.#dependencies.log.info('plugin started', { plugin: plugin.name });
    return false;
  }

  async #build(plugin: HostedPlugin, incarnation: Incarnation): Promise<Failure | undefined> {
    if (this.#dependencies.objects.phase(plugin.name) !== 'started') await this.#reporter.report(plugin);
    const failure = await this.#reporter.reportWhile(plugin, async () =>
      incarnation.buildIndexes((percent) => {
        plugin.change({ type: 'build', progress: percent });
      }),
    );
    plugin.change({ type: 'build', progress: undefined });
    return failure;
  }

  /** Applies the objects on a new leader, because the previous leader may not have applied them. */
  async #applyLate(plugin: HostedPlugin): Promise<boolean> {
    if (plugin.isApplied || plugin.incarnation === undefined || !this.#dependencies.leadership.isLeader()) return false;
    await this.#apply(plugin, plugin.incarnation);
    return true;
  }

  async #apply(plugin: HostedPlugin, incarnation: Incarnation): Promise<void> {
    const applied = (await incarnation.hasOwnDeclarations())
      ? await this.#dependencies.applied.apply(incarnation.is)
      : undefined;
    plugin.change({ type: 'apply', isApplied: true });
    if (applied === undefined) return;
    if (applied.ok) plugin.recordKept(new Map([...plugin.kept, ...applied.kept]));
    else this.fail(plugin, applied.failure);
  }

  /**
   * On the leader, removes the objects that the plugin created, and then the uninstall finalizer of the Plugin object.
   */
  async #erase(plugin: HostedPlugin): Promise<boolean> {
    const { objects, applied, leadership, log } = this.#dependencies;
    const desired = objects.desired(plugin.name);
    if (!leadership.isLeader() || desired === undefined) return false;
    const isOver = (): boolean => objects.desired(plugin.name)?.uid !== plugin.uid;
    const problems = await applied.removeAll(plugin.name, desired.deleteData, isOver);
    const isDone =
      !isOver() &&
      problems.length === 0 &&
      (await objects.letGo(plugin.name, { uid: plugin.uid, causedBy: plugin.reconciliation.cause }));
    if (isOver()) return false;
    plugin.reconciliation.cancelRetry();
    if (isDone) {
      log.info('plugin uninstalled', { plugin: plugin.name });
      return false;
    }
    const more = problems.length > 16 ? `; and ${String(problems.length - 16)} more` : '';
    const named = problems.slice(0, 16).join('; ');
    const problem = {
      reason: 'NotRemoved',
      message: `could not remove all objects of the plugin; retrying: ${named}${more}`,
    };
    plugin.change({ type: 'uninstall', problem });
    this.reconcileLater(plugin);
    return false;
  }
}

/** Moves the plugin to a state without data. Returns whether the state has changed. */
function rest(plugin: HostedPlugin, phase: LifeState): boolean {
  if (phase === plugin.phase || !isRestingPhase(phase)) return false;
  plugin.change({ type: 'rest', phase });
  return true;
}
