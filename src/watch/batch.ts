import { watchJoinedWriteBytesMax } from '../limits/watches.ts';
import type { FrameEncoding, WatchEvent } from './frame.ts';
import { Frames } from './frames.ts';
import { lastSelected, type ShownChange } from './selected-change.ts';

/**
 * Consecutive frames in one buffer. `begun`: the same frames, with the first frame in the form for the start of a
 * stream. Each buffer is made on first use.
 */
type Run = {
  readonly frames: Frames;
  readonly begun: Frames;
};

/**
 * The frames of one batch of changes. Each event is encoded once in each form. Audiences with the same events share
 * buffers, because one user may open watches with thousands of selections.
 */
export class Batch {
  readonly #encodings = new Map<string, EncodedBatch>();
  readonly #left = new Map<ShownChange, Uint8Array>();

  /**
   * Returns an empty selection, to which the caller adds events. Must be called when an audience receives its first
   * event of the batch.
   */
  selected(encoding: FrameEncoding): SelectedFrames {
    let encoded = this.#encodings.get(encoding.name);
    if (encoded === undefined) {
      encoded = new EncodedBatch();
      this.#encodings.set(encoding.name, encoded);
    }
    return new SelectedFrames(encoded, encoding);
  }

  /** Returns the last selected state of an object that leaves a selection: the same bytes for all watchers. */
  readonly lastSelected = (change: ShownChange): Uint8Array => {
    const made = this.#left.get(change) ?? lastSelected(change);
    this.#left.set(change, made);
    return made;
  };
}

/** The frames of a batch that one audience receives. */
export class SelectedFrames {
  readonly #encoded: EncodedBatch;
  readonly #encoding: FrameEncoding;
  readonly #runs: Run[] = [];
  #run: SmallRun;

  constructor(encoded: EncodedBatch, encoding: FrameEncoding) {
    this.#encoded = encoded;
    this.#encoding = encoding;
    this.#run = encoded.start;
  }

  add(event: WatchEvent): void {
    const encoded = this.#encoded.event(event, this.#encoding);
    if (!encoded.isLarge) {
      this.#run = this.#run.then(encoded);
      return;
    }
    this.#endRun();
    this.#runs.push(encoded);
  }

  /** Returns the frames in the order of the changes. If `begun` is true, the first frame starts a stream. */
  frames(begun: boolean): readonly Frames[] {
    this.#endRun();
    return this.#runs.map((run, index) => (begun && index === 0 ? run.begun : run.frames));
  }

  #endRun(): void {
    if (this.#run !== this.#encoded.start) this.#runs.push(this.#run);
    this.#run = this.#encoded.start;
  }
}

/** The events of a batch in one encoding. */
class EncodedBatch {
  /** The empty run. */
  readonly start = new SmallRun();
  /**
   * The events by the buffer of the object's state. One state may be in two events: ADDED for some audiences, and
   * MODIFIED for others.
   */
  readonly #events = new Map<Uint8Array, EncodedEvent[]>();

  event(event: WatchEvent, encoding: FrameEncoding): EncodedEvent {
    const ofObject = this.#events.get(event.object) ?? [];
    const present = ofObject.find(({ type }) => type === event.type);
    if (present !== undefined) return present;
    const made = new EncodedEvent(event, encoding);
    ofObject.push(made);
    this.#events.set(event.object, ofObject);
    return made;
  }
}

/** One event in one encoding. A large event has its own buffer, so that no run copies the event. */
class EncodedEvent implements Run {
  readonly parts: readonly Uint8Array[];
  readonly isLarge: boolean;
  readonly #event: WatchEvent;
  readonly #encoding: FrameEncoding;
  #begunParts: readonly Uint8Array[] | undefined;
  #frames: Frames | undefined;
  #begun: Frames | undefined;

  constructor(event: WatchEvent, encoding: FrameEncoding) {
    const parts: Uint8Array[] = [];
    encoding.encode(event, parts);
    this.parts = parts;
    this.isLarge = parts.reduce((sum, { length }) => sum + length, 0) > watchJoinedWriteBytesMax;
    this.#event = event;
    this.#encoding = encoding;
  }

  get type(): WatchEvent['type'] {
    return this.#event.type;
  }

  get begunParts(): readonly Uint8Array[] {
    if (this.#begunParts !== undefined) return this.#begunParts;
    const parts: Uint8Array[] = [];
    this.#encoding.encodeFirst?.(this.#event, parts);
    this.#begunParts = parts;
    return parts;
  }

  get frames(): Frames {
    return (this.#frames ??= new Frames(join(this.parts)));
  }

  get begun(): Frames {
    return (this.#begun ??= new Frames(join(this.begunParts)));
  }
}

type RunStart = {
  readonly previous: SmallRun;
  readonly last: EncodedEvent;
};

/** Small events in one buffer. Runs form a tree, in which audiences with the same events share a run. */
class SmallRun implements Run {
  /** The run consists of the events of `previous`, followed by `last`; undefined for the empty run. */
  readonly #step: { readonly previous: SmallRun; readonly last: EncodedEvent } | undefined;
  readonly #next = new Map<EncodedEvent, SmallRun>();
  #frames: Frames | undefined;
  #begun: Frames | undefined;

  constructor(step?: RunStart) {
    this.#step = step;
  }

  then(event: EncodedEvent): SmallRun {
    const present = this.#next.get(event);
    if (present !== undefined) return present;
    const made = new SmallRun({ previous: this, last: event });
    this.#next.set(event, made);
    return made;
  }

  get frames(): Frames {
    return (this.#frames ??= new Frames(join(this.#events().flatMap(({ parts }) => parts))));
  }

  get begun(): Frames {
    return (this.#begun ??= new Frames(
      join(this.#events().flatMap((event, index) => (index === 0 ? event.begunParts : event.parts))),
    ));
  }

  #events(): readonly EncodedEvent[] {
    const events: EncodedEvent[] = [];
    for (let step = this.#step; step !== undefined; step = step.previous.#step) events.push(step.last);
    return events.reverse();
  }
}

/** Joins parts into one buffer. A single part is returned without a copy. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
