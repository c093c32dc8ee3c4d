import { ClientError, type PluginObject, type TypeName } from '../plugin/api/plugin.ts';
import { BackOff, isTransient, type Chance } from './back-off.ts';
import { metadataOf, type Frame } from './decode-answer.ts';
import { pagesOf } from './pages.ts';
import { pathOf, type Query, type Requests } from './requests.ts';
import { streamedFrames } from './watch-stream.ts';

export type WatchOptions<T = PluginObject> = {
  readonly labelSelector?: string | readonly string[] | undefined;
  readonly fieldSelector?: string | readonly string[] | undefined;
  /** Watches only the object with this name. */
  readonly name?: string | undefined;
  /**
   * Yields only changes after this position, for example the position of a list. Without `from`, the present objects
   * are yielded first. With the `items` of the list, the watch can continue after an expired position (410). Without
   * `items`, the watch then rejects, because it cannot compute the differences.
   */
  readonly from?: { readonly resourceVersion: string; readonly items?: readonly T[] } | undefined;
  /** Also yields BOOKMARKs. A later watch can start `from` their positions. */
  readonly bookmarks?: boolean | undefined;
  /**
   * The media type of another form of the objects, such as a Table with one row. Requires `from` without `items`,
   * because the states of such a form cannot be compared: the form has no name.
   */
  readonly accept?: string | undefined;
  /** The part of each object in the row of a Table; `Metadata` by default. */
  readonly includeObject?: 'None' | 'Metadata' | 'Object' | undefined;
  /**
   * Called before each wait for a new connection. The argument is the error; undefined if the server ended the
   * connection.
   */
  readonly onRetry?: ((error: unknown) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type ChangeEvent<T = PluginObject> =
  | { readonly type: 'ADDED'; readonly object: T }
  | { readonly type: 'MODIFIED'; readonly object: T }
  /** The object's last state: the object was deleted, or no longer matches the selectors. */
  | { readonly type: 'DELETED'; readonly object: T };

export type WatchEvent<T = PluginObject> =
  | ChangeEvent<T>
  /**
   * All events up to this position have been yielded. If `isInitialEnd` is true, all objects that existed at the start
   * have been yielded too.
   */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEnd: boolean };

export type WatchSettings = {
  readonly chance: Chance;
  readonly silenceMs: number;
};

/**
 * A watch that continues after disconnects, restarts and transient refusals. The watch yields no change twice, and
 * resumes from the last position. Without a position, the watch reads the present objects again, and yields the
 * differences from the states that it has yielded before.
 */
export class Watch<T> {
  readonly #requests: Requests;
  readonly #type: TypeName;
  readonly #options: WatchOptions<T>;
  readonly #silenceMs: number;
  readonly #backOff: BackOff;
  readonly #signal: AbortSignal;
  /**
   * The last known state of each object by name: the last yielded state, or the state in `items`. Undefined if the
   * caller passed a position without `items`.
   */
  readonly #states: Map<string, T> | undefined;
  /** The last position; undefined until the present objects have been read, and again after a 410. */
  #position: string | undefined;
  /**
   * The names of the present objects that were read on this connection, to find deleted objects. Undefined if no object
   * was known before this connection, because there is then no deletion to report.
   */
  #present: Set<string> | undefined;
  /** Whether the present objects are read with a list, because the server does not support initial events. */
  #listsFirst = false;

  constructor(requests: Requests, type: TypeName, { chance, silenceMs }: WatchSettings, options: WatchOptions<T>) {
    const { from, accept, signal = new AbortController().signal } = options;
    if (accept !== undefined && (from === undefined || from.items !== undefined))
      throw new TypeError('a watch with `accept` requires `from`, without `items`');
    this.#requests = requests;
    this.#type = type;
    this.#options = options;
    this.#silenceMs = silenceMs;
    this.#backOff = new BackOff(requests.clock, chance);
    this.#signal = signal;
    this.#position = from?.resourceVersion;
    this.#states =
      from !== undefined && from.items === undefined
        ? undefined
        : new Map((from?.items ?? []).map((object) => [metadataOf(object).name, object]));
  }

  /** The position of the last batch; undefined while the present objects are being read. */
  get position(): string | undefined {
    return this.#position;
  }

  /**
   * Yields the events in the groups in which they arrive. Rejects when the signal aborts, or after a refusal that is
   * not transient. Another call then continues after the last event.
   */
  async *batches(): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    for (;;) {
      let failure: unknown;
      this.#present = (this.#states?.size ?? 0) === 0 ? undefined : new Set();
      try {
        yield* this.#connected();
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!this.#mayContinue(error)) throw error;
        failure = error;
      }
      this.#options.onRetry?.(failure);
      await this.#backOff.wait(failure, this.#signal);
    }
  }

  async *#connected(): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    for await (const frames of this.#frames()) {
      const events = this.#eventsIn(frames);
      if (events.length > 0) yield events;
    }
  }

  #mayContinue(error: unknown): boolean {
    if (!(error instanceof ClientError)) return isTransient(error);
    if (error.status === 410) {
      this.#position = undefined;
      return this.#states !== undefined;
    }
    if (error.status === 422 && this.#position === undefined && !this.#listsFirst) {
      this.#listsFirst = true;
      return true;
    }
    return isTransient(error);
  }

  async *#frames(): AsyncGenerator<readonly Frame<T>[], void, undefined> {
    if (this.#position === undefined && this.#listsFirst) yield* this.#listed();
    const { labelSelector, fieldSelector, name, accept, includeObject } = this.#options;
    const from: Query =
      this.#position === undefined
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
        : { resourceVersion: this.#position };
    yield* streamedFrames<T>(this.#requests, {
      path: pathOf(this.#type, name),
      query: { watch: true, allowWatchBookmarks: true, labelSelector, fieldSelector, includeObject, ...from },
      accept,
      signal: this.#signal,
      silenceMs: this.#silenceMs,
    });
  }

  /** Reads the present objects with a list, for a server that does not support initial events. */
  async *#listed(): AsyncGenerator<readonly Frame<T>[], void, undefined> {
    const { labelSelector, fieldSelector, name } = this.#options;
    const named = name === undefined ? [] : [`metadata.name=${name}`];
    const query = {
      labelSelector,
      fieldSelector: [...named, ...[fieldSelector ?? []].flat()],
      signal: this.#signal,
    };
    let resourceVersion: string | undefined;
    for await (const page of pagesOf<T>(this.#requests, this.#type, query)) {
      resourceVersion ??= page.resourceVersion;
      yield page.items.map((object) => ({ type: 'ADDED', object }) as const);
    }
    if (resourceVersion !== undefined) yield [{ type: 'BOOKMARK', resourceVersion, isInitialEnd: true }];
  }

  #eventsIn(frames: readonly Frame<T>[]): readonly WatchEvent<T>[] {
    const events: WatchEvent<T>[] = [];
    for (const frame of frames) this.#addEvents(frame, events);
    // Without a position, the present objects are not read completely, and a new connection reads them again from the
    // start. So only a position counts as progress that resets the wait.
    if (this.#position !== undefined) this.#backOff.reset();
    return events;
  }

  /**
   * Appends the frame's events to `into`. All frames of a batch share this array, because separate arrays for 100,000
   * objects would cause long garbage collections.
   */
  #addEvents(frame: Frame<T>, into: WatchEvent<T>[]): void {
    if (frame.type === 'BOOKMARK') {
      into.push(...this.#marked(frame));
      return;
    }
    const { name, resourceVersion } = metadataOf(frame.object);
    if (this.#position === undefined) this.#present?.add(name);
    else this.#position = resourceVersion;
    if (this.#states === undefined) into.push(frame);
    else addChanges(this.#states, frame, into);
  }

  #marked(frame: Frame<T> & { readonly type: 'BOOKMARK' }): readonly WatchEvent<T>[] {
    const removed = this.#position === undefined && frame.isInitialEnd ? this.#absent() : [];
    if (this.#position !== undefined || frame.isInitialEnd) this.#position = frame.resourceVersion;
    return this.#options.bookmarks === true ? [...removed, frame] : removed;
  }

  /**
   * Removes the states of objects that are not among the present objects, and returns a DELETED event for each of these
   * objects. Call this method after all present objects have been read.
   */
  #absent(): readonly WatchEvent<T>[] {
    const removed: WatchEvent<T>[] = [];
    if (this.#present === undefined) return removed;
    for (const [name, object] of this.#states ?? []) {
      if (this.#present.has(name)) continue;
      this.#states?.delete(name);
      removed.push({ type: 'DELETED', object });
    }
    this.#present = undefined;
    return removed;
  }
}

type ObjectFrame<T> = Frame<T> & { readonly object: T };

/** Applies an event to `states`, and appends the resulting changes to `into`. */
function addChanges<T>(states: Map<string, T>, frame: ObjectFrame<T>, into: WatchEvent<T>[]): void {
  const { type, object } = frame;
  const { name, uid, resourceVersion } = metadataOf(object);
  if (type === 'DELETED') {
    if (states.delete(name)) into.push(frame);
    return;
  }
  const before = states.get(name);
  states.set(name, object);
  if (before === undefined) {
    into.push(type === 'ADDED' ? frame : { type: 'ADDED', object });
    return;
  }
  const known = metadataOf(before);
  if (known.uid !== uid) into.push({ type: 'DELETED', object: before }, { type: 'ADDED', object });
  else if (known.resourceVersion !== resourceVersion) into.push({ type: 'MODIFIED', object });
}
