import { foldedCategories } from '../../../projections/fold-event.ts';
import { logPosition, logStart, streamRevision } from '../../../src/log/log.ts';
import type {
  AppendOutcome,
  ExpectedRevision,
  LogPosition,
  ProposedEvent,
  RecordedEvent,
  StreamName,
} from '../../../src/log/log.ts';

/**
 * The truth that all nodes share: appended events, their order and time. It forgets nothing and makes no mistakes; the
 * connections to it do.
 */
export class SharedLog {
  readonly events: RecordedEvent[] = [];
  /** When each event landed. */
  readonly landed: number[] = [];
  /** Appends that will arrive, whether or not anybody waits for them. */
  onTheirWay = 0;
  readonly #streams = new Map<StreamName, RecordedEvent[]>();
  readonly #places = new Map<LogPosition, number>();
  readonly #now: () => number;
  /** Positions have gaps, as in a log that others write to as well. */
  readonly #gap: () => number;
  #waiting: (() => void)[] = [];

  constructor(now: () => number, gap: () => number) {
    this.#now = now;
    this.#gap = gap;
  }

  append(stream: StreamName, proposed: readonly ProposedEvent[], expected: ExpectedRevision): AppendOutcome {
    const recorded = this.stream(stream);
    const first = expected === 'absent' ? 0 : expected + 1;
    if (recorded.length === first) this.#land(stream, proposed);
    const standing = recorded[first + proposed.length - 1];
    if (standing !== undefined && this.#isStored(recorded, proposed, first))
      return { ok: true, revision: standing.revision, position: standing.position };
    return { ok: false, reason: 'conflict', actual: recorded.at(-1)?.revision ?? 'absent' };
  }

  /** What a writer finds where its append should be: itself, another, or nothing yet. */
  settle(stream: StreamName, proposed: readonly ProposedEvent[], expected: ExpectedRevision): AppendOutcome {
    const recorded = this.stream(stream);
    const first = expected === 'absent' ? 0 : expected + 1;
    if (recorded.length <= first) return { ok: false, reason: 'unknown', cause: new Error('nothing stands there yet') };
    return this.append(stream, proposed, expected);
  }

  stream(stream: StreamName): RecordedEvent[] {
    let recorded = this.#streams.get(stream);
    if (recorded === undefined) this.#streams.set(stream, (recorded = []));
    return recorded;
  }

  get streams(): ReadonlyMap<StreamName, readonly RecordedEvent[]> {
    return this.#streams;
  }

  get head(): LogPosition {
    return this.events.at(-1)?.position ?? logStart;
  }

  /**
   * From place `first` up to `end`, or to the end of the append that begins before it: no reader gets a part of one.
   */
  wholeAppends(first: number, end: number): readonly RecordedEvent[] {
    let last = Math.min(end, this.events.length);
    while (last > first && this.events[last - 1]?.endsAppend === false) last += 1;
    return this.events.slice(first, last);
  }

  /** What read models are made of. */
  get folded(): readonly RecordedEvent[] {
    return this.events.filter(({ stream }) => foldedCategories.includes(stream.slice(0, stream.indexOf(':'))));
  }

  /** How many events there are up to `position`; undefined where no event stands at it. */
  placeAfter(position: LogPosition): number | undefined {
    if (position === logStart) return 0;
    const place = this.#places.get(position);
    return place === undefined ? undefined : place + 1;
  }

  at(position: LogPosition): RecordedEvent | undefined {
    const place = this.#places.get(position);
    return place === undefined ? undefined : this.events[place];
  }

  placeOf({ position }: RecordedEvent): number {
    const place = this.#places.get(position);
    if (place === undefined) throw new Error('it never landed');
    return place;
  }

  landedAt(event: RecordedEvent): number {
    return this.landed[this.placeOf(event)]!;
  }

  /** How many events there are up to `position`, whether or not one stands at it. */
  placesUpTo(position: LogPosition): number {
    const place = this.#places.get(position);
    return place === undefined ? this.events.filter((event) => event.position <= position).length : place + 1;
  }

  /** Calls `listener` once, when the next event lands. */
  onLanded(listener: () => void): void {
    this.#waiting.push(listener);
  }

  #land(stream: StreamName, proposed: readonly ProposedEvent[]): void {
    const recorded = this.stream(stream);
    for (const [index, { id, type, data, metadata }] of proposed.entries()) {
      const position = logPosition(this.head + 1n + BigInt(this.#gap()));
      // The bytes are copied: only the node that wrote them has the decoded instances.
      const [copied, revision] = [
        { data: Buffer.from(data), metadata: Buffer.from(metadata) },
        streamRevision(recorded.length),
      ];
      const event: RecordedEvent = {
        id,
        type,
        ...copied,
        stream,
        revision,
        position,
        endsAppend: index === proposed.length - 1,
      };
      recorded.push(event);
      this.#places.set(position, this.events.length);
      this.events.push(event);
      this.landed.push(this.#now());
    }
    const woken = this.#waiting;
    this.#waiting = [];
    for (const listener of woken) listener();
  }

  #isStored(recorded: readonly RecordedEvent[], proposed: readonly ProposedEvent[], first: number): boolean {
    return proposed.every(({ id }, index) => recorded[first + index]?.id === id);
  }
}
