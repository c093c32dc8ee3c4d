import { randomUUID } from 'node:crypto';

import type { EventDisk } from './event-disk.ts';
import { decodeStored, storedEvent, tombstoneRevision } from './stored-event.ts';
import type { Proposed, StoredEvent } from './stored-event.ts';

/** What the writer says of the stream it appends to. */
export type Expected = number | 'no_stream' | 'any' | 'stream_exists';

export type Decision =
  /**
   * `position` is undefined for an append of nothing, and for a repeated one with a last event that is no longer
   * readable.
   */
  | { readonly kind: 'appended'; readonly revision: number | undefined; readonly position: number | undefined }
  | { readonly kind: 'wrong-version'; readonly actual: number | undefined }
  | { readonly kind: 'deleted' };

/** Retention of a stream, by its metadata stream's last event. */
type Retention = { readonly maxCount: number; readonly maxAgeMs: number; readonly truncateBefore: number };
/** What `$tb` says of a stream that was deleted: more than JSON can hold, so it travels as text. */
const softDeleted = '9223372036854775807';
const keepAll: Retention = { maxCount: Infinity, maxAgeMs: Infinity, truncateBefore: 0 };
/** Of metadata only the last one counts. */
const keepLast: Retention = { ...keepAll, maxCount: 1 };
/** Where a scavenge stands in the log: it ends the chunk it is in. */
const scavengePoints = '$scavengePoints';
const chunkBytes = 268_435_456;

type Stream = {
  readonly events: StoredEvent[];
  /** Revision of `events[0]`: earlier events are scavenged. */ first: number;
  retention: Retention;
  metadata: object;
};

/**
 * The log as EventStoreDB keeps it: positions are byte offsets, a repeated append is recognised by its ids and its
 * expected revision, and a deleted stream continues its numbering. An append is decided at once and becomes visible
 * when it is flushed, together with all other pending ones.
 */
export class ServerLog {
  readonly #disk: EventDisk;
  readonly #now: () => number;
  #all: StoredEvent[] = [];
  /** How many of `#all` are flushed. */
  #visible = 0;
  readonly #streams = new Map<string, Stream>();
  /**
   * Revision of every event by stream and id, as the server's cache of committed ids: for appends with any expected
   * revision.
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
   * Before it everything was scavenged once: whatever stood there, a reader may name it and is given what comes next.
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

  /** The server's process has ended: unflushed appends are lost, and none of them is answered. */
  /** Resolves once nothing more of it can reach the disk, where the next server would not know of it. */
  async halt(): Promise<void> {
    this.#halted = true;
    for (const { failed } of this.#pending) failed(new Error('the server is gone'));
    this.#pending = [];
    await this.#flushingDone;
  }

  get end(): number {
    return this.#all[this.#visible - 1]?.end ?? 0;
  }

  /** Called after each flush. */
  onGrown(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** @param early - answer a conflict at once, though the conflicting append may not be flushed. */
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

  /** The ids of scavenged events are remembered until the server restarts. */
  #isAt(name: string, revision: number, id: string): boolean {
    const known = this.#ids.get(id);
    return (
      eventAt(this.#streams.get(name), revision)?.id === id || (known?.stream === name && known.revision === revision)
    );
  }

  /** With any expected revision: all ids known in this stream are a repetition, some of them a conflict. */
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
      // Written again: earlier events stay hidden, and the revisions continue.
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

  /** A soft delete hides all events; a tombstone ends the stream for good. */
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
    // Appends of one turn of the event loop share one flush.
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
   * What a reader of the stream sees, as revisions from `first` to `last`. Undefined: there is no such stream, or it
   * was deleted.
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

  /** The visible event at `index` of the whole log. */
  at(index: number): StoredEvent | undefined {
    return index < this.#visible ? this.#all[index] : undefined;
  }

  get visible(): number {
    return this.#visible;
  }

  /** How many events stand before `position`. */
  countBefore(position: number): number {
    let [low, high] = [0, this.#visible];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#all[middle]?.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether a record begins at `position`, or none can as the log ends before it. */
  isAligned(position: number): boolean {
    if (position >= this.end || position < this.#scavengedTo) return true;
    return this.#all[this.countBefore(position)]?.position === position;
  }

  /** Takes away for good what retention hides, in this turn. Resolves when it is gone from the disk too. */
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
