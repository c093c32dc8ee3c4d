import type { Clock } from '../../../base/clock.ts';
import type { CodeFolders } from '../../errors/error-attribution.ts';
import type { HostedPlugin } from '../hosted-plugin.ts';
import { progressReportMs, slowStepMs } from '../life-limits.ts';
import { describe } from '../../load/load-module.ts';
import { noticesOf } from './plugin-notices.ts';
import type { RoleRules } from './role-rules.ts';
import type { UniqueSteps } from '../../../read/uniqueness.ts';
import type { PluginObjects } from '../../objects/plugin-objects.ts';
import type { PluginLogger } from '../../api/plugin.ts';
import type { MigrationMounts } from '../../api/migration-mounts.ts';
import type { ObjectCheckResults } from '../../api/object-checks.ts';
import type { ReconcilerMounts } from '../../api/reconciler-mounts.ts';

export type StatusReporterDependencies = {
  readonly objects: PluginObjects;
  readonly reconcilers: Pick<ReconcilerMounts, 'health'>;
  readonly migrations: Pick<MigrationMounts, 'of'>;
  /** The unique indexes that are not enforced; undefined if unknown. */
  readonly unique?: Pick<UniqueSteps, 'of'>;
  /** The stored objects that break the schemas; undefined if the objects are not checked. */
  readonly checks?: Pick<ObjectCheckResults, 'of'>;
  readonly rules: Pick<RoleRules, 'unmatched'>;
  readonly suspects: Pick<CodeFolders, 'placeOf'>;
  readonly leadership: { isLeader(): boolean };
  readonly clock: Clock;
  readonly log: PluginLogger;
};

/**
 * Reports the state of plugins. Every node logs failures and warnings. The leader also writes the state to the Plugin
 * objects.
 */
export class StatusReporter {
  readonly #dependencies: StatusReporterDependencies;
  readonly #logged = new WeakMap<HostedPlugin, string>();

  constructor(dependencies: StatusReporterDependencies) {
    this.#dependencies = dependencies;
  }

  async report(plugin: HostedPlugin): Promise<void> {
    const { objects, leadership, reconcilers, migrations, unique, checks, suspects } = this.#dependencies;
    const { name, phase, failure, progress, version } = plugin;
    this.#logFailure(plugin);
    if (!leadership.isLeader()) return;
    const running =
      phase === 'started'
        ? {
            notices: noticesOf({
              incarnation: plugin.incarnation,
              kept: plugin.kept,
              troubles: reconcilers.health(name),
              unique: unique?.of(name) ?? [],
              invalid: checks?.of(name) ?? [],
              migrations: migrations.of(name),
              unmatched: this.#dependencies.rules.unmatched(plugin),
              placeOf: (stack) => suspects.placeOf(name, stack),
            }),
            version,
          }
        : { notices: [] };
    const generation = plugin.isLeaving ? undefined : plugin.generation;
    const isLoading = phase === 'not-started' && plugin.incarnation === undefined;
    const { uid, reconciliation } = plugin;
    const report = { phase, failure, ...running, progress, isLoading, generation };
    await objects.report(name, report, { uid, causedBy: reconciliation.cause });
  }

  /** Logs the problems of a plugin that starts. */
  logNotices(plugin: HostedPlugin): void {
    const { log, suspects, rules } = this.#dependencies;
    for (const { type, message } of noticesOf({
      incarnation: plugin.incarnation,
      kept: plugin.kept,
      troubles: [],
      unique: [],
      invalid: [],
      migrations: { running: [], failures: [] },
      unmatched: rules.unmatched(plugin),
      placeOf: (stack) => suspects.placeOf(plugin.name, stack),
    }))
      log.warn('plugin started with a warning', { plugin: plugin.name, notice: type, message });
  }

  /**
   * Runs a step. If the step takes longer than `slowStepMs`, reports the state and the progress until the step ends.
   */
  async reportWhile<Result>(plugin: HostedPlugin, step: () => Promise<Result>): Promise<Result> {
    const { clock, log } = this.#dependencies;
    let reported = Promise.resolve();
    const report = (): void => {
      reported = reported
        .then(async () => this.report(plugin))
        .catch((error: unknown) => {
          log.error('could not write the status of a plugin', { plugin: plugin.name, error: describe(error) });
        });
      timer = clock.after(progressReportMs, report);
    };
    let timer = clock.after(slowStepMs, report);
    try {
      return await step();
    } finally {
      timer.cancel();
      await reported;
    }
  }

  /** Logs each failure once, even if the plugin is reconciled repeatedly. */
  #logFailure(plugin: HostedPlugin): void {
    const { name, phase, failure } = plugin;
    const failed = phase === 'failed' ? `${failure?.reason ?? ''}: ${failure?.message ?? ''}` : undefined;
    if (failed !== undefined && this.#logged.get(plugin) !== failed)
      this.#dependencies.log.error('plugin failed', {
        plugin: name,
        reason: failure?.reason,
        message: failure?.message,
      });
    if (failed === undefined) this.#logged.delete(plugin);
    else this.#logged.set(plugin, failed);
  }
}
