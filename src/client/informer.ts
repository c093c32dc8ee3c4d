import type { PluginObject } from '../plugin/api/plugin.ts';
import { metadataOf } from './decode-answer.ts';
import { InformerIndexes, type IndexFunction, type IndexedValue } from './informer-indexes.ts';
import type { ChangeEvent, Watch, WatchEvent, WatchOptions } from './watch.ts';

export type InformerOptions<T = PluginObject> = Pick<WatchOptions<T>, 'labelSelector' | 'fieldSelector' | 'signal'> & {
  /**
   * Index functions by name. Each function returns the indexed value or values of an object. A function that returns
   * undefined or null omits the object from the index.
   */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /**
   * Receives errors of handlers and index functions, and refusals that are not transient, such as a 403. After such a
   * refusal, the informer retries if the cache has been filled before. Otherwise the informer ends, and `synced`
   * rejects. By default, errors are written to the console.
   */
  readonly onError?: (error: unknown) => void;
};

/**
 * The functions are called in the order of the changes. Errors and rejections are passed to `onError`. Objects are
 * shared between the cache and all handlers: do not change them.
 */
export type InformerHandler<T = PluginObject> = {
  readonly add?: (object: T) => unknown;
  readonly update?: (object: T, previous: T) => unknown;
  /** Called with the object's last state. */
  readonly delete?: (object: T) => unknown;
};

export type InformerFeed<T> = {
  readonly watch: (options: WatchOptions<T>) => Watch<T>;
  /** Waits before a watch is opened again after a refusal that is not transient. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
};

/**
 * A cache of the objects of a type. The cache follows the server until `stop` is called. A handler is called once for
 * each change of the cache. There is no periodic resync.
 */
export class Informer<T = PluginObject> {
  /**
   * Resolves when the cache contains all objects. Rejects after a refusal that is not transient, for example because
   * the caller may not read the objects. Also rejects if the informer stops before the cache is filled.
   */
  readonly synced: Promise<void>;
  readonly #feed: InformerFeed<T>;
  readonly #options: InformerOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #indexes: InformerIndexes<T>;
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #stopped = new AbortController();
  #position: string | undefined;

  constructor(feed: InformerFeed<T>, options: InformerOptions<T>) {
    this.#feed = feed;
    this.#options = options;
    this.#indexes = new InformerIndexes(options.indexes ?? {}, (error) => {
      this.#report(error);
    });
    const { promise, resolve, reject } = deferred();
    this.synced = promise;
    // Prevents an unhandled rejection. A caller that does not await `synced` receives the refusal through `onError`.
    promise.catch(() => undefined);
    options.signal?.addEventListener('abort', this.stop, { once: true });
    if (options.signal?.aborted === true) this.stop();
    void this.#run(resolve).catch((error: unknown) => {
      if (!this.#stopped.signal.aborted) this.#report(error);
      reject(error);
    });
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Whether the cache has been filled with all objects. */
  get isSynced(): boolean {
    return this.#position !== undefined;
  }

  /** The cache contains at least all changes up to this position; undefined before `synced`. */
  get resourceVersion(): string | undefined {
    return this.#position;
  }

  get(name: string): T | undefined {
    return this.#objects.get(name);
  }

  /** Returns all objects, in no particular order. */
  list(): T[] {
    return [...this.#objects.values()];
  }

  /** Returns the objects with this value in an index of `indexes`. */
  by(index: string, value: IndexedValue): T[] {
    return [...this.#indexes.names(index, value)].flatMap((name) => this.#objects.get(name) ?? []);
  }

  /** Adds a handler, and calls its `add` for every cached object. Returns a function that removes the handler. */
  on(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#call(() => handler.add?.(object));
    return () => {
      this.#handlers.delete(handler);
    };
  }

  /** Ends the watch. The cache can still be read. */
  readonly stop = (): void => {
    this.#options.signal?.removeEventListener('abort', this.stop);
    this.#stopped.abort(this.#options.signal?.reason);
  };

  async #run(synced: () => void): Promise<void> {
    const { signal } = this.#stopped;
    const { labelSelector, fieldSelector } = this.#options;
    const watch = this.#feed.watch({ labelSelector, fieldSelector, bookmarks: true, signal });
    for (;;) {
      try {
        await this.#follow(watch, synced);
      } catch (error) {
        if (!this.isSynced) throw error;
        if (signal.aborted) return;
        this.#report(error);
        await this.#feed.pause(signal);
      }
    }
  }

  async #follow(watch: Watch<T>, synced: () => void): Promise<void> {
    for await (const events of watch.batches()) {
      this.#applyAll(events, watch.position);
      if (watch.position !== undefined) synced();
    }
  }

  #applyAll(events: readonly WatchEvent<T>[], position: string | undefined): void {
    for (const event of events) if (event.type !== 'BOOKMARK') this.#apply(event);
    this.#position = position ?? this.#position;
  }

  #apply(event: ChangeEvent<T>): void {
    const { type, object } = event;
    const { name } = metadataOf(object);
    const previous = this.#objects.get(name);
    if (type === 'DELETED') this.#objects.delete(name);
    else this.#objects.set(name, object);
    this.#indexes.change(name, type === 'DELETED' ? undefined : object);
    if (this.#handlers.size === 0) return;
    for (const handler of [...this.#handlers]) this.#call(() => callOf(handler, event, previous));
  }

  #call(handle: () => unknown): void {
    try {
      const answered = handle();
      if (answered instanceof Promise)
        answered.catch((error: unknown) => {
          this.#report(error);
        });
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    const { onError = console.error } = this.#options;
    try {
      onError(error);
    } catch (failure) {
      console.error(failure);
    }
  }
}

function callOf<T>(handler: InformerHandler<T>, { type, object }: ChangeEvent<T>, previous: T | undefined): unknown {
  if (type === 'DELETED') return handler.delete?.(object);
  return previous === undefined ? handler.add?.(object) : handler.update?.(object, previous);
}

type Deferred = {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
};

function deferred(): Deferred {
  let settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    promise,
    resolve: () => settle?.resolve(),
    reject: (error) => settle?.reject(error),
  };
}
