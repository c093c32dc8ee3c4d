import type { Change } from '../read/objects.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';
import type { Selection } from '../resource/query/list-query.ts';
import type { LogPosition } from '../log/log.ts';
import { Batch, join, type SelectedFrames } from './batch.ts';
import type { FrameEncoding, WatchEvent } from './frame.ts';
import { Frames } from './frames.ts';
import { plainEvent, selectedEvent, type ShownChange } from './selected-change.ts';
import { nameWatched, selectsAll, type WatchPlan } from './watch-plan.ts';
import type { Watcher } from './watcher.ts';

/** The live watchers with the same type, name, selection and encoding, which share the buffers of their frames. */
export class Audience {
  readonly #encoding: FrameEncoding;
  /** Undefined if the audience selects each object of its type. */
  readonly #selection: Selection | undefined;
  readonly #members = new Set<Watcher>();
  /**
   * The frames of recent changes, by position, for joining watchers. An entry is removed when the last queue releases
   * its frames.
   */
  readonly #held = new Map<LogPosition, Frames>();
  /** Like `#held`, with the first event in the special form for the start of a stream. */
  readonly #heldFirst = new Map<LogPosition, Frames>();
  /** The frames of the current batch for this audience; undefined until the batch has an event for the audience. */
  #selected: SelectedFrames | undefined;

  constructor(plan: WatchPlan, encoding: FrameEncoding) {
    this.#encoding = encoding;
    this.#selection = selectsAll(plan.selection) ? undefined : plan.selection;
  }

  get size(): number {
    return this.#members.size;
  }

  add(watcher: Watcher): void {
    this.#members.add(watcher);
  }

  delete(watcher: Watcher): void {
    this.#members.delete(watcher);
  }

  /**
   * Adds a change of the batch, if the change results in an event for this audience. Returns true for the first added
   * change.
   */
  take(change: ShownChange, batch: Batch): boolean {
    const event = this.#eventOf(change, batch.lastSelected);
    if (event === undefined) return false;
    const isFirst = this.#selected === undefined;
    this.#selected ??= batch.selected(this.#encoding);
    this.#selected.add(event);
    return isFirst;
  }

  /** Sends the frames of the batch to every member. */
  publish(now: number): void {
    const selected = this.#selected;
    this.#selected = undefined;
    if (selected === undefined) return;
    let [frames, begun]: (readonly Frames[] | undefined)[] = [];
    for (const watcher of this.#members)
      if (watcher.awaitsFirst) {
        watcher.begin();
        watcher.offer((begun ??= selected.frames(true)), now);
      } else {
        watcher.offer((frames ??= selected.frames(false)), now);
      }
  }

  /**
   * Returns the frames of `changes` that a joining watcher has missed. The watchers of an audience share these frames.
   */
  framesOf(changes: readonly ShownChange[], watcher: Pick<Watcher, 'awaitsFirst' | 'begin'>): readonly Frames[] {
    const framed: Frames[] = [];
    for (const change of changes) {
      const held = watcher.awaitsFirst ? this.#heldFirst : this.#held;
      const frames = held.get(change.position) ?? this.#framed(change, held);
      if (frames.bytes.length === 0) continue;
      watcher.begin();
      framed.push(frames);
    }
    return framed;
  }

  #framed(change: ShownChange, held: Map<LogPosition, Frames>): Frames {
    const { position } = change;
    const parts: Uint8Array[] = [];
    const event = this.#eventOf(change);
    if (event !== undefined) {
      if (held === this.#heldFirst) this.#encoding.encodeFirst?.(event, parts);
      else this.#encoding.encode(event, parts);
    }
    const frames = new Frames(join(parts), () => {
      held.delete(position);
    });
    if (frames.bytes.length > 0) held.set(position, frames);
    return frames;
  }

  /** Returns the event of a change; undefined if the object is selected neither before nor after the change. */
  #eventOf(change: ShownChange, shownLast?: (change: ShownChange) => Uint8Array): WatchEvent | undefined {
    return this.#selection === undefined ? plainEvent(change) : selectedEvent(this.#selection, change, shownLast);
  }
}

type Gathered = {
  readonly byKey: Map<string, Audience>;
  /** The audiences that must be checked for a change of any object. */
  readonly wide: Set<Audience>;
  /** The audiences of a single object, by the name of the object. */
  readonly byName: Map<string, Set<Audience>>;
};

/**
 * All audiences of a hub. Passes each change to the audiences that may select the change. An audience without members
 * is removed.
 */
export class Audiences {
  readonly #types = new Map<TypeKey, Gathered>();
  /** The audience of each live watcher, with the key of the audience. */
  readonly #memberships = new Map<Watcher, { readonly audience: Audience; readonly key: string }>();

  get size(): number {
    return [...this.#types.values()].reduce((sum, { byKey }) => sum + byKey.size, 0);
  }

  /**
   * Returns the existing audience for a plan, or a new audience. Later calls find a new audience only after `enter`.
   */
  of(plan: WatchPlan, encoding: FrameEncoding): Audience {
    return this.#types.get(plan.type.key)?.byKey.get(keyOf(plan, encoding)) ?? new Audience(plan, encoding);
  }

  enter(watcher: Watcher, audience: Audience): void {
    const { plan, sink } = watcher;
    const key = keyOf(plan, sink.encoding);
    audience.add(watcher);
    this.#memberships.set(watcher, { audience, key });
    if (audience.size > 1) return;
    const gathered = this.#gathered(plan.type.key);
    gathered.byKey.set(key, audience);
    const name = nameWatched(plan);
    if (name === undefined) {
      gathered.wide.add(audience);
      return;
    }
    const named = gathered.byName.get(name);
    if (named === undefined) gathered.byName.set(name, new Set([audience]));
    else named.add(audience);
  }

  leave(watcher: Watcher): void {
    const { plan } = watcher;
    const place = this.#memberships.get(watcher);
    const gathered = this.#types.get(plan.type.key);
    if (place === undefined || gathered === undefined) return;
    const { audience, key } = place;
    this.#memberships.delete(watcher);
    audience.delete(watcher);
    if (audience.size > 0) return;
    gathered.byKey.delete(key);
    gathered.wide.delete(audience);
    const name = nameWatched(plan);
    const named = name === undefined ? undefined : gathered.byName.get(name);
    named?.delete(audience);
    if (name !== undefined && named?.size === 0) gathered.byName.delete(name);
    if (gathered.byKey.size === 0) this.#types.delete(plan.type.key);
  }

  publish(changes: readonly Change[], now: number): void {
    const receiving: Audience[] = [];
    const batch = new Batch();
    for (const change of changes) {
      const gathered = this.#types.get(change.type);
      if (gathered === undefined) continue;
      for (const audience of gathered.wide) if (audience.take(change, batch)) receiving.push(audience);
      for (const audience of gathered.byName.get(change.name) ?? none)
        if (audience.take(change, batch)) receiving.push(audience);
    }
    for (const audience of receiving) audience.publish(now);
  }

  #gathered(type: TypeKey): Gathered {
    let gathered = this.#types.get(type);
    if (gathered === undefined) {
      gathered = {
        byKey: new Map(),
        wide: new Set(),
        byName: new Map(),
      };
      this.#types.set(type, gathered);
    }
    return gathered;
  }
}

const none: ReadonlySet<Audience> = new Set();

/**
 * Returns the key of an audience. Numbers are written as text, because an index key may be infinite, which JSON cannot
 * express.
 */
function keyOf({ name, selection }: WatchPlan, encoding: FrameEncoding): string {
  return JSON.stringify([encoding.name, name ?? null, selection], (_, value: unknown) =>
    typeof value === 'number' ? `#${String(value)}` : value,
  );
}
