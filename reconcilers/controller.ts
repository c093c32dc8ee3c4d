import { setImmediate as nextTurn } from 'node:timers/promises';

import { delay } from '../src/base/clock.ts';
import type { CausingEvent } from '../src/command/event.ts';
import type { ReconcilerReport } from '../src/read/operation/reconciler-report.ts';
import { serviceController } from '../src/base/service-controller.ts';
import type { Measured } from './reconcile-slots.ts';
import type { ControllerOptions, Keys } from './controller-options.ts';
import { DelayedKeys } from './delayed-keys.ts';
import { reportOf } from './controller-report.ts';
import { describeSafely, Failures, retryMs, type Failure } from './failures.ts';
import { failed, type Outcome } from './outcome.ts';
import { reconcileSliceMs, reconcileStepMs, reconcileStopMs, reconcileStuckMax } from './reconcile-limits.ts';
import { KeyLists } from './key-lists.ts';
import { ReconcileStep, type Term } from './reconcile-step.ts';
import { WorkQueue } from './work-queue.ts';

/**
 * Runs a step for each enqueued key while this node is the leader. Steps of one key run one at a time. Failed keys are
 * retried later. Other work of the process runs between short slices of steps.
 */
export class Controller implements Measured {
  readonly name: string;
  readonly counts = { settled: 0, again: 0, failed: 0, stuck: 0 };
  readonly #options: ControllerOptions;
  readonly #queue = new WorkQueue();
  readonly #delayed: DelayedKeys;
  readonly #lists: KeyLists;
  readonly #steps = new Set<ReconcileStep>();
  readonly #idle = new Set<() => void>();
  readonly #unsubscribe: readonly (() => void)[];
  #term: Term = new Failures();
  #isOpen = false;
  #isStopped = false;
  #lastSuccessMs: number | undefined;
  /** The number of workers that process keys of the queue or wait for a slot. */
  #workers = 0;
  /** The number of steps in `#steps` that have exceeded their time limit. */
  #stuck = 0;

  constructor(options: ControllerOptions) {
    const { name, bound, clock, leadership, onError } = options;
    this.name = name;
    this.#options = options;
    this.#delayed = new DelayedKeys(clock, (key, cause) => {
      this.enqueue(key, cause);
    });
    this.#lists = new KeyLists({
      bound,
      clock,
      onError,
      enqueue: this.enqueue.bind(this),
      onEnd: this.#notifyIdle.bind(this),
    });
    this.#unsubscribe = [
      bound.measure(this),
      leadership.subscribe((leads) => {
        this.#endTerm();
        if (leads && this.isActive) this.enqueueAll();
      }),
    ];
  }

  get isActive(): boolean {
    return this.#isOpen && !this.#isStopped && this.#options.leadership.isLeader();
  }

  /** The number of keys that wait for a step, without delayed keys. */
  get depth(): number {
    return this.#queue.depth;
  }

  get spinning(): number {
    return this.#options.slowed?.().total ?? 0;
  }

  /** The recorded errors of some failing keys. */
  get failures(): ReadonlyMap<string, Failure> {
    return this.#term.described;
  }

  report(): ReconcilerReport {
    return reportOf({
      options: this.#options,
      queued: this.depth,
      steps: this.#steps.size,
      stuck: this.stuck,
      delayed: this.#delayed,
      failures: this.#term,
      counts: this.counts,
      lastSuccessMs: this.#lastSuccessMs,
    });
  }

  /** The number of consecutive failures by key. Keys with a successful last step are absent. */
  get failing(): ReadonlyMap<string, number> {
    return this.#term.attempts;
  }

  /** The keys with a running step that has exceeded its time limit. */
  get stuck(): readonly string[] {
    return [...this.#steps].filter(({ isStuck }) => isStuck).map(({ key }) => key);
  }

  /**
   * Enqueues all keys if this node is the leader, and again whenever this node becomes the leader. Before `open`, no
   * key is enqueued. Call `open` after `keys` has become readable.
   */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    if (this.isActive) this.enqueueAll();
  }

  /**
   * Enqueues the key, so that a step of the key starts after this call. Does nothing while the controller is not
   * active, because all keys are enqueued when the controller becomes active.
   */
  enqueue(key: string, cause?: CausingEvent): void {
    if (!this.isActive) return;
    this.#queue.add(key, cause);
    if (cause !== undefined) this.#delayed.setCause(key, cause);
    this.#employ();
  }

  /** Enqueues the key after a delay. If the key is delayed already, the earlier time applies. */
  enqueueAfter(key: string, delayMs: number, cause?: CausingEvent): void {
    if (this.isActive) this.#delayed.add(key, delayMs, cause);
  }

  /** Enqueues a list of keys over several turns of the event loop. */
  enqueueAll(keys: () => Keys = this.#options.keys, cause?: CausingEvent): void {
    const term = this.#term;
    if (this.isActive) void this.#lists.read({ keys, cause, isOver: () => term !== this.#term });
  }

  /** Resolves on a stop, or when no key waits, no list is read and no step runs except stuck steps. */
  async idle(): Promise<void> {
    await Promise.resolve();
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => {
      this.#idle.add(resolve);
    });
  }

  /** Drops waiting keys, aborts running steps, and waits up to `reconcileStopMs` for their end. */
  async stop(): Promise<void> {
    const { clock, onStuck } = this.#options;
    if (!this.#isStopped) {
      this.#isStopped = true;
      for (const unsubscribe of this.#unsubscribe) unsubscribe();
      this.#endTerm();
    }
    const ended = serviceController();
    const steps = new Promise<void>((resolve) => {
      this.#idle.add(resolve);
    });
    this.#notifyIdle();
    await Promise.race([steps, delay(clock, reconcileStopMs, ended.signal)]);
    ended.abort();
    this.#settleIdle();
    for (const { key, isStuck } of this.#steps) if (!isStuck) onStuck?.(key);
  }

  #endTerm(): void {
    this.#term = new Failures();
    this.#queue.clear();
    this.#delayed.clear();
    for (const step of this.#steps) step.abort();
  }

  #canBegin(): boolean {
    return this.#queue.ready > 0 && this.#stuck < reconcileStuckMax && this.isActive;
  }

  #employ(): void {
    if (this.#workers >= this.#options.concurrency || !this.#canBegin()) return;
    this.#workers += 1;
    void this.#work();
  }

  async #work(): Promise<void> {
    const { bound, plugin } = this.#options;
    // Lets the enqueuing code complete first, so that no step starts while a change is being published.
    await Promise.resolve();
    while (this.#canBegin()) {
      await bound.run(plugin, async () => this.#slice());
      if (this.#canBegin()) await nextTurn();
    }
    this.#workers -= 1;
  }

  /** Processes several keys in one slot for a short time, since acquiring a slot costs more than a short step. */
  async #slice(): Promise<void> {
    const { bound, clock } = this.#options;
    const endMs = clock.monotonic() + reconcileSliceMs;
    while (this.#canBegin()) {
      const key = this.#queue.take();
      const step = key === undefined ? undefined : this.#begin(key);
      if (step !== undefined) await step;
      if (bound.isTurnOver() || clock.monotonic() >= endMs) return;
    }
  }

  /**
   * Starts a step. The promise resolves when the step has ended or has exceeded its time limit. Returns undefined if
   * the step has ended already.
   */
  #begin(key: string): Promise<void> | undefined {
    const step = new ReconcileStep(key, this.#term, this.#queue.causeOf(key));
    this.#steps.add(step);
    try {
      const outcome = this.#options.reconcile(key, step);
      if (outcome instanceof Promise) return this.#limited(step, outcome);
      this.#end(step, outcome);
    } catch (error) {
      this.#end(step, failed(error));
    }
    return undefined;
  }

  async #limited(step: ReconcileStep, outcome: Promise<Outcome>): Promise<void> {
    const { clock, timeLimitMs = reconcileStepMs } = this.#options;
    return new Promise((resolve) => {
      const timer = clock.after(timeLimitMs, () => {
        this.#declareStuck(step);
        resolve();
      });
      const end = (came: Outcome): void => {
        timer.cancel();
        this.#end(step, came);
        resolve();
      };
      outcome.then(end, (error: unknown) => {
        end(failed(error));
      });
    });
  }

  #declareStuck(step: ReconcileStep): void {
    step.isStuck = true;
    this.#stuck += 1;
    this.counts.stuck += 1;
    step.abort();
    this.#options.onStuck?.(step.key);
    this.#notifyIdle();
  }

  #end(step: ReconcileStep, outcome: Outcome): void {
    const { key, term, isStuck, cause } = step;
    this.#steps.delete(step);
    this.#queue.done(key);
    if (isStuck) {
      this.#stuck -= 1;
      this.#options.onRecovered?.(key);
    }
    // A step of an earlier term has no follow-up, since the next leader enqueues all keys.
    const last = this.#queue.nextCauseOf(key) ?? this.#delayed.causeOf(key) ?? cause;
    if (term === this.#term) this.#follow(key, outcome, last);
    this.#employ();
    this.#notifyIdle();
  }

  #follow(key: string, outcome: Outcome, cause: CausingEvent | undefined): void {
    const { clock, describe = describeSafely } = this.#options;
    this.counts[outcome.type] += 1;
    if (outcome.type === 'failed') {
      const attempts = this.#term.record(key, outcome.error, { nowMs: clock.now(), describe });
      this.enqueueAfter(key, retryMs(attempts), cause);
      this.#options.onError(outcome.error, key, attempts);
      return;
    }
    this.#lastSuccessMs = clock.now();
    if (this.#term.delete(key)) this.#options.onRecovered?.(key);
    if (outcome.type === 'again') this.enqueueAfter(key, outcome.afterMs, cause);
  }

  #isIdle(): boolean {
    return this.#queue.depth === 0 && this.#steps.size === this.#stuck && (!this.#lists.isReading || this.#isStopped);
  }

  #notifyIdle(): void {
    if (this.#idle.size > 0 && this.#isIdle()) this.#settleIdle();
  }

  #settleIdle(): void {
    const waiting = [...this.#idle];
    this.#idle.clear();
    for (const resolve of waiting) resolve();
  }
}
