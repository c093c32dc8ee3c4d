import type { CausingEvent } from '../../src/command/event.ts';
import type { Leadership } from '../../src/read/leadership.ts';
import type { Clock, Timer } from '../../src/base/clock.ts';
import type { Client, PluginLogger, PluginObject } from '../../src/plugin/api/plugin.ts';
import type { MountedReconciler, ReconcilerTrouble } from '../../src/plugin/api/reconciler-mounts.ts';
import type { Change, ObjectReader } from '../../src/read/objects.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { typeKeyOf } from '../../src/resource/type/type-declaration.ts';
import type { ReconcileSlots } from '../reconcile-slots.ts';
import { Controller } from '../controller.ts';
import type { Step } from '../controller-options.ts';
import { FailureLines } from '../failure-lines.ts';
import type { Outcome } from '../outcome.ts';
import { SpinningNames } from './spinning-names.ts';
import { StepEvent, TracedStep } from './traced-step.ts';
import type { TracedSteps } from './traced-steps.ts';
import { decodeNames, decodeOutcome, describeError, isConflict } from './plugin-outcome.ts';
import {
  reconcileAllAfterMs,
  reconcileErrorLengthMax,
  reconcileFailingAttempts,
  reconcileSpinMs,
  reconcileStepMs,
  reconcileStopMs,
  reconcileWatchedNamesMax,
} from '../reconcile-limits.ts';

export type PluginStep = {
  /** Returns whether the reconciler has stopped. */
  readonly isOver: () => boolean;
  /** The last event that led to the step. The writes of the step name this event as their cause. */
  readonly causedBy: CausingEvent | undefined;
  /** Returns the request id for the writes of the step. */
  readonly requestId: () => string;
};

export type PluginReconcilerDependencies = {
  readonly reader: ObjectReader;
  readonly bound: ReconcileSlots;
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly loggerOf: (plugin: string) => PluginLogger;
  /** Returns an in-process client of the generated API for one step, with the plugin's own rights. */
  readonly clientOf: (plugin: string, step: PluginStep) => Client;
  /** Returns a new object for each call, so that a plugin may modify the object without affecting other code. */
  readonly parse: (bytes: Uint8Array) => PluginObject;
  /**
   * Returns the position in the plugin's files at which a stack trace starts; empty if the trace names no file of the
   * plugin.
   */
  readonly placeOf: (plugin: string, stack: string) => string;
  /** Attributes changes to the steps that wrote them. All reconcilers share one `TracedSteps`. */
  readonly traced: TracedSteps;
  /** Called when the result of `health` may have changed. */
  readonly onHealth: () => void;
};

export class PluginReconciler {
  readonly #plugin: string;
  readonly #reconciler: MountedReconciler;
  readonly #dependencies: PluginReconcilerDependencies;
  readonly #log: PluginLogger;
  readonly #controller: Controller;
  readonly #type: TypeKey;
  readonly #watches: readonly {
    readonly key: TypeKey;
    readonly names: MountedReconciler['watches'][number]['names'];
  }[];
  readonly #spinning: SpinningNames;
  readonly #lines: FailureLines;
  /** The timer for reconciling all names, which is set after `names` has failed for a change. */
  #all: Timer | undefined;
  #isStopping = false;
  /**
   * True after a stop. Running steps are then abandoned, since the next load of the plugin may reconcile their names.
   */
  #isOver = false;

  constructor(plugin: string, reconciler: MountedReconciler, dependencies: PluginReconcilerDependencies) {
    const { bound, clock, leadership } = dependencies;
    this.#plugin = plugin;
    this.#reconciler = reconciler;
    this.#dependencies = dependencies;
    this.#log = dependencies.loggerOf(plugin);
    this.#lines = new FailureLines(clock, (message, fields) => {
      this.#log.error(message, { reconciler: reconciler.name, ...fields });
    });
    this.#spinning = new SpinningNames({
      parse: dependencies.parse,
      onSpin: (name, message) => {
        this.#lines.log('a reconciler spins', { name, reason: message });
      },
      onChange: dependencies.onHealth,
    });
    this.#type = typeKeyOf(reconciler.type.group, reconciler.type.plural);
    this.#watches = reconciler.watches.map(({ type, names }) => ({ key: typeKeyOf(type.group, type.plural), names }));
    this.#controller = new Controller({
      name: `${plugin}/${reconciler.name}`,
      plugin,
      bound,
      concurrency: reconciler.concurrency,
      clock,
      leadership,
      timeLimitMs: reconcileStepMs,
      reconcile: (name, step) => this.#step(name, step),
      keys: () => this.#names(),
      type: this.#type,
      slowed: () => this.#spinning.slowed(),
      describe: (error, attempts) => this.#describe(error, attempts),
      onError: (error, name, attempts) => {
        this.#failed(error, name, attempts);
      },
      onStuck: (name) => {
        this.#stuck(name);
      },
      onRecovered: () => {
        dependencies.onHealth();
      },
    });
  }

  open(): void {
    this.#controller.open();
  }

  async idle(): Promise<void> {
    return this.#controller.idle();
  }

  async stop(): Promise<void> {
    this.#all?.cancel();
    this.#isStopping = true;
    await this.#controller.stop();
    this.#isOver = true;
  }

  /**
   * Enqueues the names that the changes affect: the names of changed objects, and the names that the functions `names`
   * of the watches return.
   */
  notice(changes: readonly Change[]): void {
    if (!this.#controller.isActive) return;
    for (const change of changes) {
      if (change.type === this.#type) this.#enqueue(change.name, change);
      for (const { key, names } of this.#watches) if (change.type === key) this.#concern(change, names);
    }
  }

  health(): readonly ReconcilerTrouble[] {
    const { name: reconciler } = this.#reconciler;
    const trouble: ReconcilerTrouble[] = [];
    const [stuck, ...more] = this.#controller.stuck;
    if (stuck !== undefined) {
      const others = more.length === 0 ? '' : `; ${String(more.length)} more steps have exceeded this limit`;
      trouble.push({
        type: 'ReconcilerStuck',
        reconciler,
        message: `the step for ${stuck} has not ended within ${String(reconcileStepMs / 1_000)} s${others}`,
      });
    }
    const spinning = this.#spinning.message();
    if (spinning !== undefined) trouble.push({ type: 'ReconcilerSpinning', reconciler, message: spinning });
    const failing = [...this.#controller.failures].find(([, { attempts }]) => attempts >= reconcileFailingAttempts);
    if (failing !== undefined)
      trouble.push({
        type: 'ReconcilerFailing',
        reconciler,
        message: `the step for ${failing[0]} fails: ${failing[1].error}`,
      });
    return trouble;
  }

  *#names(): Iterable<string> {
    const query = { selection: { labels: [], fields: [] }, sort: [] };
    for (const page of this.#dependencies.reader.pages(this.#type, query)) yield* page;
  }

  #step(name: string, step: Step): Outcome | Promise<Outcome> {
    const { reader, parse, clock, clientOf } = this.#dependencies;
    const stored = reader.get(this.#type, name);
    const traced = new TracedStep(this.#reconciler.name, name, step.cause);
    const requestId = this.#dependencies.traced.requestIdOf({
      step: traced,
      onWrite: (change) => {
        this.#spinning.record(traced, change);
      },
    });
    const answered: unknown = this.#reconciler.reconcile({
      name,
      object: stored === undefined ? undefined : parse(stored.bytes),
      pluginClient: clientOf(this.#plugin, { isOver: () => this.#isOver, causedBy: step.cause, requestId }),
      time: new Date(clock.now()).toISOString(),
      log: this.#log,
      get signal() {
        return step.signal;
      },
    });
    const end = (result: unknown): Outcome => this.#spinning.end(traced, decodeOutcome(result));
    if (typeof answered !== 'object' || answered === null || !('then' in answered)) return end(answered);
    // Accepts any thenable, and reads `then` only once, since a getter may return different values.
    return new Promise((resolve) => {
      resolve(answered);
    }).then(end);
  }

  /** Enqueues the name, with a delay if the change belongs to a cycle of steps that is slowed down. */
  #enqueue(name: string, change: Change): void {
    const step = this.#dependencies.traced.stepOf(change);
    // Each enqueued name has its own cause, which records whether the step of this name ended the cycle.
    const cause = step?.eventOf(change.cause) ?? change.cause;
    if (cause instanceof StepEvent && cause.isSlowed(this.#reconciler.name, name))
      this.#controller.enqueueAfter(name, reconcileSpinMs, cause);
    else this.#controller.enqueue(name, cause);
  }

  #concern(change: Change, names: MountedReconciler['watches'][number]['names']): void {
    const { parse } = this.#dependencies;
    for (const bytes of [change.previousBytes?.(), change.kind === 'deleted' ? undefined : change.bytes]) {
      if (bytes === undefined) continue;
      try {
        for (const name of decodeNames(names(parse(bytes)), reconcileWatchedNamesMax)) this.#enqueue(name, change);
      } catch (error) {
        this.#lines.log('could not compute the names that a change affects: all names are reconciled', {
          changed: change.name,
          error: describeError(error).stack,
        });
        this.#concernAll();
      }
    }
  }

  /** Schedules a reconciliation of all names, so that no change is lost. */
  #concernAll(): void {
    this.#all ??= this.#dependencies.clock.after(reconcileAllAfterMs, () => {
      this.#all = undefined;
      this.#controller.enqueueAll();
    });
  }

  #failed(error: unknown, name: string, attempts: number): void {
    // A single conflict with another writer is normal. The retry usually succeeds.
    if (attempts === 1 && isConflict(error)) {
      this.#log.debug('a reconciler lost a race with another writer and retries', {
        reconciler: this.#reconciler.name,
        name,
      });
      return;
    }
    this.#lines.failed('a step of a reconciler failed and is retried', { key: name, attempts }, () => ({
      name,
      attempts,
      error: describeError(error).stack,
    }));
    if (attempts >= reconcileFailingAttempts) this.#dependencies.onHealth();
  }

  /**
   * Returns the message of an error and, for a name that fails repeatedly, the place in the plugin's files. Finding the
   * place can require a source map.
   */
  #describe(error: unknown, attempts: number): string {
    const { message, stack } = describeError(error);
    const place = attempts < reconcileFailingAttempts ? '' : this.#dependencies.placeOf(this.#plugin, stack);
    return `${message.slice(0, reconcileErrorLengthMax)}${place}`;
  }

  #stuck(name: string): void {
    if (this.#isStopping) this.#lines.log('a reconciler did not stop in time', { name, limitMs: reconcileStopMs });
    else this.#lines.log('a reconciler exceeds its time limit', { name, limitMs: reconcileStepMs });
    this.#dependencies.onHealth();
  }
}
