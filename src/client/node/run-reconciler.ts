import { Controller } from '../../../reconcilers/controller.ts';
import { FailureLines } from '../../../reconcilers/failure-lines.ts';
import { again, type Outcome } from '../../../reconcilers/outcome.ts';
import { decodeNames, decodeOutcome, describeError, isConflict } from '../../../reconcilers/plugins/plugin-outcome.ts';
import {
  reconcileAllAfterMs,
  reconcileStepMs,
  reconcileWatchedNamesMax,
} from '../../../reconcilers/reconcile-limits.ts';
import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { clientClock, type Clock, type Timer } from '../../base/clock.ts';
import type { PluginLogger, PluginObject, ReconcilerDeclaration, WatchDeclaration } from '../../plugin/api/plugin.ts';
import { isTransient } from '../back-off.ts';
import type { Informer, RemoteClient } from '../client.ts';
import { decodeReconciler, type DecodedReconciler } from './decode-reconciler.ts';
import { clientUntil } from './ending-client.ts';

export type RunOptions = {
  /**
   * The client that the reconciler uses. The client needs the rights to `list` and `watch` each type, to `get` the
   * reconciled objects, and to make the calls of the steps.
   */
  readonly client: RemoteClient;
  /** The logger; by default the console, without messages of level `debug`. */
  readonly log?: PluginLogger | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
};

export type RunningReconciler = {
  /**
   * Resolves when all objects have been read and enqueued. Rejects after a refusal that is not transient, for example
   * because the client may not read the objects. Also rejects if the reconciler stops first.
   */
  readonly synced: Promise<void>;
  /** The number of consecutive failures, by object name. Contains only the objects for which the last step failed. */
  readonly failing: ReadonlyMap<string, number>;
  /** The number of ended steps by result. `stuck`: the number of steps that exceeded the time limit. */
  readonly counts: Readonly<Record<'settled' | 'again' | 'failed' | 'stuck', number>>;
  /** Resolves when no name is queued and no step runs. Does not wait for pending retries. */
  readonly idle: () => Promise<void>;
  /** Starts no further step, aborts the signals of running steps, and waits up to 5 s for these steps to end. */
  readonly stop: () => Promise<void>;
};

/**
 * Runs a reconciler outside of the server, with the rules for plugins' reconcilers. For each object, one step runs at a
 * time, the delays grow after failures, and a step runs at the start. Each step reads its object from the server. Two
 * processes with the same reconciler both run each step, because there is no leader election.
 */
export function runReconciler(declaration: ReconcilerDeclaration<never>, options: RunOptions): RunningReconciler {
  const runner = new ReconcilerRunner(decodeReconciler(declaration), options);
  return {
    synced: runner.synced,
    counts: runner.controller.counts,
    get failing() {
      return runner.controller.failing;
    },
    idle: async () => runner.controller.idle(),
    stop: async () => runner.stop(),
  };
}

/** The wait before an object is read again from an unavailable server. */
const readAgainMs = 1_000;

const alwaysLeads = { isLeader: () => true, subscribe: () => () => undefined };

class ReconcilerRunner {
  readonly controller: Controller;
  readonly synced: Promise<void>;
  readonly #reconciler: DecodedReconciler;
  readonly #client: RemoteClient;
  readonly #clock: Clock;
  readonly #log: PluginLogger;
  readonly #lines: FailureLines;
  readonly #stopped = new AbortController();
  readonly #objects: Informer;
  #all: Timer | undefined;
  readonly #over = new AbortController();

  constructor(reconciler: DecodedReconciler, { client, log = consoleLog, signal, clock = clientClock }: RunOptions) {
    this.#reconciler = reconciler;
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
    this.#lines = new FailureLines(clock, (message, fields) => {
      log.error(message, { reconciler: reconciler.name, ...fields });
    });
    this.controller = this.#controllerOf(reconciler);
    this.#objects = this.#informed(reconciler);
    const watched = reconciler.watches.map((watch) => this.#watched(watch));
    this.synced = this.#opened([this.#objects, ...watched]);
    this.synced.catch((error: unknown) => {
      if (!this.#stopped.signal.aborted)
        this.#lines.log('a reconciler cannot read its objects and stops', textOf(error));
      void this.stop();
    });
    if (signal?.aborted === true) void this.stop();
    signal?.addEventListener('abort', () => void this.stop(), { once: true, signal: this.#stopped.signal });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#all?.cancel();
    await this.controller.stop();
    this.#over.abort();
  }

  async #opened(informers: readonly Informer[]): Promise<void> {
    await Promise.all(informers.map(async ({ synced }) => synced));
    this.controller.open();
  }

  #controllerOf({ name, concurrency }: DecodedReconciler): Controller {
    const late = (key: string): void => {
      this.#lines.log('a reconciler exceeds its time limit', { name: key, limitMs: reconcileStepMs });
    };
    return new Controller({
      name,
      concurrency,
      bound: new ReconcileSlots(this.#clock),
      clock: this.#clock,
      leadership: alwaysLeads,
      timeLimitMs: reconcileStepMs,
      reconcile: async (key, step) => this.#step(key, step),
      keys: () => this.#objects.list().map(({ metadata }) => metadata.name),
      onStuck: late,
      onError: (error, key, attempts) => {
        this.#failed(error, key, attempts);
      },
    });
  }

  #informed({ type }: DecodedReconciler): Informer {
    const informer = this.#informer(type);
    const enqueue = ({ metadata }: PluginObject): void => {
      this.controller.enqueue(metadata.name);
    };
    informer.on({ add: enqueue, update: enqueue, delete: enqueue });
    return informer;
  }

  #watched(watch: WatchDeclaration): Informer {
    const informer = this.#informer(watch.type);
    const concern = (...states: readonly PluginObject[]): void => {
      for (const state of states) this.#concern(state, watch);
    };
    informer.on({ add: concern, update: concern, delete: concern });
    return informer;
  }

  #informer(type: ReconcilerDeclaration['type']): Informer {
    const onError = (error: unknown): void => {
      this.#lines.log('a reconciler cannot read its objects, and retries', textOf(error));
    };
    return this.#client.informer(type, { signal: this.#stopped.signal, onError });
  }

  #concern(object: PluginObject, watch: WatchDeclaration): void {
    // Changes are ignored until all objects have been read, because all objects are then enqueued.
    if (!this.controller.isActive) return;
    try {
      const names: unknown = watch.names(object);
      for (const name of decodeNames(names, reconcileWatchedNamesMax)) this.controller.enqueue(name);
    } catch (error) {
      const { name } = object.metadata;
      this.#lines.log('could not map a change to names of objects (all objects will be reconciled)', {
        changed: name,
        ...textOf(error),
      });
      this.#all ??= this.#clock.after(reconcileAllAfterMs, () => {
        this.#all = undefined;
        this.controller.enqueueAll();
      });
    }
  }

  async #step(name: string, step: { readonly signal: AbortSignal }): Promise<Outcome> {
    const { type, reconcile } = this.#reconciler;
    let object: PluginObject | undefined;
    try {
      object = await this.#client.get(type, name, { signal: step.signal });
    } catch (error) {
      // The reconciler has not been called yet, so an unavailable server does not count as a failure of the reconciler.
      if (isTransient(error)) return again(readAgainMs);
      throw error;
    }
    const answered = await reconcile({
      name,
      object,
      pluginClient: clientUntil(this.#client, this.#over.signal),
      time: new Date(this.#clock.now()).toISOString(),
      signal: step.signal,
      log: this.#log,
    });
    return decodeOutcome(answered);
  }

  #failed(error: unknown, name: string, attempts: number): void {
    // A single conflict with another writer is normal, and the retry succeeds.
    if (attempts === 1 && isConflict(error)) return;
    this.#lines.failed('a reconciler failed', { key: name, attempts }, () => ({ name, attempts, ...textOf(error) }));
  }
}

function textOf(error: unknown): { readonly error: string } {
  return { error: describeError(error).stack };
}

const consoleLog: PluginLogger = {
  debug: () => undefined,
  info: (message, fields = {}) => {
    console.info(message, fields);
  },
  warn: (message, fields = {}) => {
    console.warn(message, fields);
  },
  error: (message, fields = {}) => {
    console.error(message, fields);
  },
};
