import type { LogPosition, RecordedEvent } from '../../../src/log/log.ts';
import { valuesOfEvent } from './changed-values.ts';
import type { KeptType } from './kept-types.ts';
import type { TypeColumns } from './type-columns.ts';

/** Adds the values of logged events to the columns of their types. */
export class AddedEvents {
  readonly #within: (position: LogPosition) => number;
  readonly #byStream: ReadonlyMap<string, TypeColumns>;

  /** `within` converts a position of the log to a position within the epoch. */
  constructor(types: readonly KeptType[], within: (position: LogPosition) => number) {
    this.#within = within;
    this.#byStream = new Map(types.map(({ columns }) => [`object:${columns.type.key}`, columns]));
  }

  /** Ignores events of other types, and events that the columns already contain. */
  add(event: RecordedEvent): void {
    const { stream } = event;
    const columns = this.#byStream.get(stream.slice(0, Math.max(0, stream.indexOf('/'))));
    const position = this.#within(event.position);
    if (columns === undefined || position <= columns.through) return;
    const values = valuesOfEvent(event, columns.type, position);
    if (values !== undefined) columns.add(values);
  }
}
