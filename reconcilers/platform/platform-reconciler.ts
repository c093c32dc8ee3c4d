import type { CausingEvent } from '../../src/command/event.ts';
import type { Change } from '../../src/read/objects.ts';
import { Controller } from '../controller.ts';
import type { Keys } from '../controller-options.ts';
import type { Outcome } from '../outcome.ts';
import type { PlatformDependencies } from './platform-reads.ts';

export type PlatformReconcilerOptions = {
  /** The name in metrics. */
  readonly name: string;
  /** The highest number of concurrent steps. */
  readonly concurrency: number;
};

/**
 * The shape of a platform reconciler: a name, its keys, one step for a key, and a report of each failed or unending
 * step. A change of an object enqueues the keys that it concerns; a new leader enqueues all keys.
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
        this.report(new Error('the step does not end'), key);
      },
    });
    this.#subscriptions = [
      changes.subscribe((batch) => {
        for (const change of batch.changes) this.onChange(change);
      }),
    ];
  }

  /** Enqueues every key, now and whenever this node becomes the leader. Call it once the keys can be read. */
  open(): void {
    this.#controller.open();
  }

  /** Resolves when no key waits for a step; delayed ones do not count. */
  async idle(): Promise<void> {
    return this.#controller.idle();
  }

  /** Completes running steps and drops the rest: the next start enqueues every key again. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    await this.#controller.stop();
  }

  /** All keys that may need a step. */
  protected abstract keys(): Keys;

  /**
   * Reads the present state of a key and takes one step, so that running twice is harmless. Events that it writes name
   * `cause`, the last event that enqueued the key.
   */
  protected abstract reconcile(key: string, cause: CausingEvent | undefined): Outcome | Promise<Outcome>;

  /** Enqueues the keys that the change concerns, with its cause. */
  protected abstract onChange(change: Change): void;

  /** Reports a failure. */
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

  /** Registers an unsubscribe function that runs when the reconciler stops. */
  protected addSubscription(unsubscribe: () => void): void {
    this.#subscriptions.push(unsubscribe);
  }
}
