import { randomUUID } from 'node:crypto';

import type { EventDisk } from './event-disk.ts';
import { decodeStored, storedEvent, tombstoneRevision } from './stored-event.ts';
import type { Proposed, StoredEvent } from './stored-event.ts';

/** The revision that the writer expects of the stream. */
export type Expected = number | 'no_stream' | 'any' | 'stream_exists';

export type Decision =
  /**
   * `position` is undefined for an append without events, and for a repeated append if its last event is no longer
   * readable.
   */
  | { readonly kind: 'appended'; readonly revision: number | undefined; readonly position: number | undefined }
  | { readonly kind: 'wrong-version'; readonly actual: number | undefined }
  | { readonly kind: 'deleted' };

/** The retention of a stream, from the last event of its metadata stream. */
type Retention = { readonly maxCount: number; readonly maxAgeMs: number; readonly truncateBefore: number };
/** The value of `$tb` in a deleted stream. The number is too large for JSON, so clients receive it as text. */
const softDeleted = '9223372036854775807';
const keepAll: Retention = { maxCount: Infinity, maxAgeMs: Infinity, truncateBefore: 0 };
/** A metadata stream keeps its last event only. */
const keepLast: Retention = { ...keepAll, maxCount: 1 };
/** The stream in which a scavenge records its position. Its event ends the current chunk. */
const scavengePoints = '$scavengePoints';
const chunkBytes = 268_435_456;

type Stream = {
  readonly events: StoredEvent[];
  /** The revision of `events[0]`; earlier events are scavenged. */
  first: number;
  retention: Retention;
  metadata: object;
};

/**
 * The log as EventStoreDB stores it: positions are byte offsets, a repeated append is recognized by its ids and its
 * expected revision, and a deleted stream continues its revisions. An append is decided at once and becomes visible
 * with the next flush, together with all other pending appends.
 */
export class ServerLog {
  readonly #disk: EventDisk;
  readonly #now: () => number;
  #all: StoredEvent[] = [];
  /** The number of flushed events in `#all`. */
  #visible = 0;
  readonly #streams = new Map<string, Stream>();
  /**
   * The stream and revision of every event by its id, like the server's cache of committed ids. Appends with the
   * expectation `any` need it.
   */
  readonly #ids = new Map<string, { readonly stream: string; readonly revision: number }>();
  #end = 0;
  #pending: {
    readonly events: StoredEvent[];
    readonly scavenged: ReadonlySet<number> | undefined;
    readonly done: () => void;
    readonly failed: (error: Error) => void;
  }[] = [];
  #flushing = false;
  #halted = false;
  #flushingDone: Promise<void> | undefined;
  readonly #listeners = new Set<() => void>();
  /**
   * The position of the last scavenge. A reader may name any position before it, even if no event begins there, and
   * receives the next event.
   */
  #scavengedTo = 0;

  constructor(disk: EventDisk, now: () => number) {
    this.#disk = disk;
    this.#now = now;
  }

  async open(): Promise<void> {
    for (const event of await this.#disk.load()) {
      const { proposed } = decodeStored(event.response);
      this.#add(event, proposed);
    }
    this.#visible = this.#all.length;
  }

  /**
   * Ends the log as the end of the server's process does: unflushed appends are lost and receive no response. Resolves
   * when no more bytes of this log can reach the disk, which the next server reads.
   */
  async halt(): Promise<void> {
    this.#halted = true;
    for (const { failed } of this.#pending) failed(new Error('the server is gone'));
    this.#pending = [];
    await this.#flushingDone;
  }

  get end(): number {
    return this.#all[this.#visible - 1]?.end ?? 0;
  }

  /** Calls the listener after each flush. */
  onGrown(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** @param early - reports a conflict at once, even if the conflicting append is not flushed. */
  async append(stream: string, events: readonly Proposed[], expected: Expected, early = false): Promise<Decision> {
    const decision = this.#decide(
      stream,
      events.map(({ id }) => id),
      expected,
    );
    if (decision.kind !== 'write') {
      if (!early) await this.#flushed([]);
      return decision;
    }
    if (events.length === 0) return { kind: 'appended', revision: undefined, position: undefined };
    const added = this.#write(stream, events);
    await this.#flushed(added);
    const last = added.at(-1);
    return { kind: 'appended', revision: last?.revision, position: last?.position };
  }

  #decide(name: string, ids: readonly string[], expected: Expected): Decision | { readonly kind: 'write' } {
    const stream = this.#streams.get(name);
    const current = lastRevision(stream);
    if (current === tombstoneRevision) return { kind: 'deleted' };
    if (expected === 'any' || expected === 'stream_exists') {
      if (expected === 'stream_exists' && (current === -1 || isSoftDeleted(stream)))
        return { kind: 'wrong-version', actual: undefined };
      return this.#repeated(name, ids) ?? { kind: 'write' };
    }
    const after = expected === 'no_stream' ? -1 : expected;
    if (after > current) return wrong(current);
    if (after === current) return { kind: 'write' };
    for (const [index, id] of ids.entries()) {
      if (this.#isAt(name, after + 1 + index, id)) continue;
      if (index === 0 && expected === 'no_stream' && isSoftDeleted(stream)) return { kind: 'write' };
      return wrong(current);
    }
    return ids.length === 0 ? wrong(current) : this.#isStored(name, after + ids.length);
  }

  /** Until a restart, the server also knows the ids of scavenged events. */
  #isAt(name: string, revision: number, id: string): boolean {
    const known = this.#ids.get(id);
    return (
      eventAt(this.#streams.get(name), revision)?.id === id || (known?.stream === name && known.revision === revision)
    );
  }

  /**
   * Decides an append with the expectation `any`. If the stream has all ids, the append is a repetition; if it has only
   * the first ones, a conflict. Returns undefined for a new append.
   */
  #repeated(stream: string, ids: readonly string[]): Decision | undefined {
    let last: number | undefined;
    for (const [index, id] of ids.entries()) {
      const known = this.#ids.get(id);
      if (known?.stream !== stream) return index === 0 ? undefined : wrong(lastRevision(this.#streams.get(stream)));
      last = known.revision;
    }
    return last === undefined ? undefined : this.#isStored(stream, last);
  }

  #isStored(name: string, revision: number): Decision {
    const stream = this.#streams.get(name);
    const event = eventAt(stream, revision);
    const readable = event !== undefined && stream !== undefined && this.#isKept(stream, event);
    return { kind: 'appended', revision, position: readable ? event.position : undefined };
  }

  #write(stream: string, events: readonly Proposed[]): StoredEvent[] {
    const known = this.#streams.get(stream);
    const added: StoredEvent[] = [];
    if (known !== undefined && isSoftDeleted(known)) {
      // A new event reopens the stream: earlier events stay hidden, and the revisions continue.
      added.push(this.#place(`$$${stream}`, metadataEvent({ ...known.metadata, $tb: lastRevision(known) + 1 })));
    }
    for (const event of events) added.push(this.#place(stream, event));
    return added;
  }

  #place(stream: string, event: Proposed): StoredEvent {
    const revision = lastRevision(this.#streams.get(stream)) + 1;
    const stored = storedEvent(event, { stream, revision, position: this.#end, createdMs: this.#now() });
    this.#add(stored, event);
    return stored;
  }

  #add(stored: StoredEvent, event: Proposed): void {
    let stream = this.#streams.get(stored.stream);
    if (stream === undefined) {
      const retention = stored.stream.startsWith('$$') ? keepLast : keepAll;
      this.#streams.set(stored.stream, (stream = { events: [], first: stored.revision, retention, metadata: {} }));
    }
    stream.events.push(stored);
    this.#all.push(stored);
    this.#ids.set(stored.id, stored);
    this.#end = stored.end;
    if (stored.stream === scavengePoints) {
      this.#scavengedTo = stored.position;
      this.#end = Math.ceil(stored.end / chunkBytes) * chunkBytes;
    }
    if (stored.stream.startsWith('$$')) this.#retain(stored.stream.slice(2), event);
  }

  #retain(name: string, event: Proposed): void {
    let stream = this.#streams.get(name);
    if (stream === undefined)
      this.#streams.set(name, (stream = { events: [], first: 0, retention: keepAll, metadata: {} }));
    const text = Buffer.from(event.data).toString();
    stream.metadata = objectOf(text);
    stream.retention = retentionOf(stream.metadata);
  }

  /** Deletes a stream. A soft delete hides all events; after a tombstone, nobody can append to the stream again. */
  async delete(name: string, expected: Expected, tombstone: boolean): Promise<Decision> {
    const stream = this.#streams.get(name);
    const current = lastRevision(stream);
    if (current === tombstoneRevision) return { kind: 'deleted' };
    if (typeof expected === 'number' && expected !== current) return wrong(current);
    if (expected === 'no_stream' && current !== -1) return wrong(current);
    if (!tombstone) return this.append(`$$${name}`, [metadataEvent({ ...stream?.metadata, $tb: softDeleted })], 'any');
    const event: Proposed = {
      id: randomUUID(),
      type: '$streamDeleted',
      isJson: false,
      data: Buffer.alloc(0),
      metadata: Buffer.alloc(0),
    };
    const stored = storedEvent(event, {
      stream: name,
      revision: tombstoneRevision,
      position: this.#end,
      createdMs: this.#now(),
    });
    this.#add(stored, event);
    await this.#flushed([stored]);
    return { kind: 'appended', revision: undefined, position: stored.position };
  }

  #flushed(events: StoredEvent[], scavenged?: ReadonlySet<number>): Promise<void> {
    if (this.#halted) return Promise.reject(new Error('the server is gone'));
    return new Promise((resolve, reject) => {
      this.#pending.push({ events, scavenged: scavenged, done: resolve, failed: reject });
      if (!this.#flushing) this.#flushingDone = this.#flush();
    });
  }

  async #flush(): Promise<void> {
    this.#flushing = true;
    // Appends in the same turn of the event loop share one flush.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      await this.#disk.flush(batch.map(({ events }) => events).filter(({ length }) => length > 0));
      for (const { scavenged } of batch) if (scavenged !== undefined) await this.#disk.drop(scavenged);
      if (this.#halted) {
        for (const { failed } of batch) failed(new Error('the server is gone'));
        break;
      }
      for (const { events } of batch) this.#visible += events.length;
      for (const listener of this.#listeners) listener();
      for (const { done } of batch) done();
    }
    this.#flushing = false;
  }

  /**
   * Returns the revisions `first` to `last` that a reader of the stream can see; undefined if the stream does not exist
   * or is deleted.
   */
  readable(name: string): { readonly tombstone: boolean; readonly first: number; readonly last: number } | undefined {
    const stream = this.#streams.get(name);
    if (stream === undefined) return undefined;
    if (lastRevision(stream) === tombstoneRevision) return { tombstone: true, first: 0, last: 0 };
    if (isSoftDeleted(stream)) return undefined;
    const end = this.end;
    let index = stream.events.length - 1;
    while (index >= 0 && (stream.events[index]?.position ?? 0) >= end) index -= 1;
    const last = stream.events[index]?.revision;
    if (last === undefined) return undefined;
    const { maxCount, maxAgeMs, truncateBefore } = stream.retention;
    let first = Math.max(stream.first, truncateBefore, last - maxCount + 1);
    if (maxAgeMs !== Infinity)
      while (first <= last && (eventAt(stream, first)?.createdMs ?? 0) <= this.#now() - maxAgeMs) first += 1;
    return { tombstone: false, first, last };
  }

  ofStream(name: string, revision: number): StoredEvent | undefined {
    return eventAt(this.#streams.get(name), revision);
  }

  #isKept(stream: Stream, event: StoredEvent): boolean {
    const { maxCount, maxAgeMs, truncateBefore } = stream.retention;
    return (
      event.revision >= truncateBefore &&
      event.revision > lastRevision(stream) - maxCount &&
      event.createdMs > this.#now() - maxAgeMs
    );
  }

  /** Returns the visible event at `index` in the whole log. */
  at(index: number): StoredEvent | undefined {
    return index < this.#visible ? this.#all[index] : undefined;
  }

  get visible(): number {
    return this.#visible;
  }

  /** Returns the number of events before `position`. */
  countBefore(position: number): number {
    let [low, high] = [0, this.#visible];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#all[middle]?.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Whether a reader may name `position`: a record begins there, or the position is beyond the end or before the last
   * scavenge.
   */
  isAligned(position: number): boolean {
    if (position >= this.end || position < this.#scavengedTo) return true;
    return this.#all[this.countBefore(position)]?.position === position;
  }

  /**
   * Deletes all events that retention hides, in this turn of the event loop. Resolves when they are deleted from the
   * disk.
   */
  scavenge(): Promise<void> {
    const scavenged = this.#all.filter((event, index) => {
      const stream = this.#streams.get(event.stream);
      return (
        index < this.#visible &&
        stream !== undefined &&
        event.revision !== tombstoneRevision &&
        (isSoftDeleted(stream) || !this.#isKept(stream, event)) &&
        event !== stream.events.at(-1)
      );
    });
    const positions = new Set(scavenged.map(({ position }) => position));
    this.#all = this.#all.filter(({ position }) => !positions.has(position));
    this.#visible -= positions.size;
    for (const stream of this.#streams.values()) {
      const kept = stream.events.filter(({ position }) => !positions.has(position));
      stream.first = kept[0]?.revision ?? stream.first;
      stream.events.splice(0, stream.events.length, ...kept);
    }
    return this.#flushed([this.#place(scavengePoints, metadataEvent({}, '$scavengePoint'))], positions);
  }
}

function eventAt(stream: Stream | undefined, revision: number): StoredEvent | undefined {
  if (stream === undefined) return undefined;
  const event = stream.events[revision - stream.first];
  return event?.revision === revision ? event : undefined;
}

function lastRevision(stream: Stream | undefined): number {
  return stream?.events.at(-1)?.revision ?? -1;
}

function isSoftDeleted(stream: Stream | undefined): boolean {
  return stream?.retention.truncateBefore === Infinity;
}

function wrong(current: number): Decision {
  return { kind: 'wrong-version', actual: current === -1 ? undefined : current };
}

export function metadataEvent(metadata: object, type = '$metadata'): Proposed {
  const data = Buffer.from(JSON.stringify(metadata).replace(`"${softDeleted}"`, softDeleted));
  return { id: randomUUID(), type, isJson: true, data, metadata: Buffer.alloc(0) };
}

function objectOf(json: string): object {
  try {
    const parsed: unknown = JSON.parse(json);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

function retentionOf(metadata: object): Retention {
  const { $maxCount, $maxAge, $tb } = metadata as Record<string, number | undefined>;
  return {
    maxCount: $maxCount ?? Infinity,
    maxAgeMs: $maxAge === undefined ? Infinity : $maxAge * 1_000,
    truncateBefore: $tb === undefined ? 0 : $tb > Number.MAX_SAFE_INTEGER ? Infinity : $tb,
  };
}
