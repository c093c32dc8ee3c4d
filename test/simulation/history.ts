import type { EventMetadata, ObjectEvent } from '../../src/command/event.ts';
import { evolve, initialState, type State } from '../../src/command/evolve.ts';
import { answerBytes, decodeEvent, decodeMetadata, isObjectEvent } from '../../src/log/event-codec.ts';
import type { LogPosition, RecordedEvent, StreamName } from '../../src/log/log.ts';
import { type } from './world.ts';
import type { SharedLog } from './log/shared-log.ts';

/** One event of an object, between the state it was decided on and the one after it. */
export type Step = {
  readonly recorded: RecordedEvent;
  readonly event: ObjectEvent;
  readonly metadata: EventMetadata;
  /** Of the event before it. */
  readonly previous: EventMetadata | undefined;
  readonly previousLanded: number | undefined;
  readonly landed: number;
  readonly before: State;
  readonly after: State;
  /** As it is answered; undefined without an object. */
  readonly bytes: Buffer | undefined;
};

/** What the log says happened to each object, reckoned from the log alone. */
export class History {
  readonly #shared: SharedLog;
  readonly #streams = new Map<StreamName, Step[]>();
  #recorded = 0;

  constructor(shared: SharedLog) {
    this.#shared = shared;
  }

  get streams(): ReadonlyMap<StreamName, readonly Step[]> {
    this.#catchUp();
    return this.#streams;
  }

  steps(stream: StreamName): readonly Step[] {
    this.#catchUp();
    return this.#streams.get(stream) ?? [];
  }

  /** The last step of an object up to a position of the log. */
  at(stream: StreamName, position: LogPosition): Step | undefined {
    return this.steps(stream).findLast(({ recorded }) => recorded.position <= position);
  }

  /** Every state the object was in at some instant from `since` to `until`. */
  statesBetween(stream: StreamName, since: number, until: number): readonly State[] {
    // Nobody is ever shown a part of an append.
    const steps = this.steps(stream).filter(({ recorded }) => recorded.endsAppend);
    const states = steps
      .filter(({ landed }, index) => landed <= until && (steps[index + 1]?.landed ?? Infinity) >= since)
      .map(({ after }) => after);
    return (steps[0]?.landed ?? Infinity) >= since ? [initialState, ...states] : states;
  }

  #catchUp(): void {
    const { events, landed } = this.#shared;
    for (; this.#recorded < events.length; this.#recorded += 1) {
      const recorded = events[this.#recorded]!;
      if (recorded.stream.startsWith(`object:${type.key}/`)) this.#take(recorded, landed[this.#recorded] ?? 0);
    }
  }

  #take(recorded: RecordedEvent, landed: number): void {
    const decoded = decodeEvent(recorded);
    const { event } = decoded;
    if (!isObjectEvent(event)) throw new Error(`${recorded.stream} holds a ${event.type}`);
    let steps = this.#streams.get(recorded.stream);
    if (steps === undefined) this.#streams.set(recorded.stream, (steps = []));
    const last = steps.at(-1);
    const before = last?.after ?? initialState;
    const after = evolve(before, event, recorded);
    const bytes =
      decoded.objectStart === -1 ? undefined : answerBytes(decoded, recorded.data, recorded.position.toString());
    steps.push({
      recorded,
      event,
      metadata: decodeMetadata(recorded),
      previous: last?.metadata,
      previousLanded: last?.landed,
      landed,
      before,
      after,
      bytes,
    });
  }
}

export function nameOfStream(stream: string): string {
  return stream.slice(stream.lastIndexOf('/') + 1);
}
