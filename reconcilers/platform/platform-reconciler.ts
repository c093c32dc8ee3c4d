import type { CausingEvent } from '../../src/command/event.ts';
import type { Change } from '../../src/read/objects.ts';
import { Controller } from '../controller.ts';
import type { Keys } from '../controller-options.ts';
import type { Outcome } from '../outcome.ts';
import type { PlatformDependencies } from './platform-reads.ts';

export type PlatformReconcilerOptions = {
  /** The name in metrics. */
  readonly name: string;
  /** The maximum number of concurrent steps. */
  readonly concurrency: number;
};

/**
 * The base class of platform reconcilers. A change of an object enqueues the keys that the change affects, and a new
 * leader enqueues all keys.
 */
export abstract class PlatformReconciler {
  readonly #controller: Controller;
  readonly #subscriptions: (() => void)[];
  readonly #report: PlatformDependencies['onError'];

  protected constructor(
    { name, concurrency }: PlatformReconcilerOptions,
    { changes, bound, clock, leadership, onError }: PlatformDependencies,
  ) {
    this.#report = onError;
    this.#controller = new Controller({
      name,
      bound,
      concurrency,
      clock,
      leadership,
      keys: () => this.keys(),
      reconcile: (key, { cause }) => this.reconcile(key, cause),
      onError,
      onStuck: (key) => {
        this.report(new Error('the step has not ended in time'), key);
      },
    });
    this.#subscriptions = [
      changes.subscribe((batch) => {
        for (const change of batch.changes) this.onChange(change);
      }),
    ];
  }

  /**
   * Enqueues all keys if this node is the leader, and again whenever this node becomes the leader. Call `open` after
   * the keys can be read.
   */
  open(): void {
    this.#controller.open();
  }

  /** Resolves when no key waits for a step and no step runs except stuck steps. Ignores delayed keys. */
  async idle(): Promise<void> {
    return this.#controller.idle();
  }

  /** Drops waiting keys, aborts running steps, and waits up to `reconcileStopMs` for their end. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    await this.#controller.stop();
  }

  protected abstract keys(): Keys;

  /**
   * Reads the current state of a key and performs one step, so that a repeated step is harmless. `cause`: the last
   * event that enqueued the key, which the events of the step name as their cause.
   */
  protected abstract reconcile(key: string, cause: CausingEvent | undefined): Outcome | Promise<Outcome>;

  /** Enqueues the keys that a change affects, with the change's cause. */
  protected abstract onChange(change: Change): void;

  protected report(error: unknown, key: string): void {
    this.#report(error, key);
  }

  protected enqueue(key: string, cause?: CausingEvent): void {
    this.#controller.enqueue(key, cause);
  }

  /** Enqueues a list of keys over several turns of the event loop. */
  protected enqueueKeys(keys: () => Keys, cause?: CausingEvent): void {
    this.#controller.enqueueAll(keys, cause);
  }

  /** Registers a function that is called when the reconciler stops. */
  protected addSubscription(unsubscribe: () => void): void {
    this.#subscriptions.push(unsubscribe);
  }
}
