import { logPosition, streamRevision, type LogPosition } from '../../src/log/log.ts';
import type { VersionReader } from '../../src/read/versions.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import type { PositionCursor, PositionOrder } from './position-cursors.ts';

type ObjectPlace = {
  readonly type: TypeKey;
  readonly name: string;
  readonly order: PositionOrder;
  /** The position after which the cursor ignores events. */
  readonly head: LogPosition;
  /** The offset that the epoch adds to positions (`epochShift`). */
  readonly shift: bigint;
};

/**
 * The positions of an object's events. For a name without an object, the positions may belong to another object,
 * because the version index stores digests instead of names.
 */
export class ObjectCursor implements PositionCursor {
  readonly size: number;
  readonly #versions: VersionReader;
  readonly #place: ObjectPlace;

  constructor(versions: VersionReader, place: ObjectPlace) {
    this.#versions = versions;
    this.#place = place;
    this.size = this.#countUpTo(place.head);
  }

  seek(from: number): number | undefined {
    const { type, name, order, shift } = this.#place;
    const revision =
      order === 'newest' ? this.#countUpTo(this.#at(from)) - 1 : from === 0 ? 0 : this.#countUpTo(this.#at(from - 1));
    if (revision < 0 || revision >= this.size) return undefined;
    const position = this.#versions.positionOf(type, name, streamRevision(revision));
    return position === undefined ? undefined : Number(position - shift);
  }

  #at(within: number): LogPosition {
    return logPosition(this.#place.shift + BigInt(within));
  }

  /** The number of the object's events at or before a position. */
  #countUpTo(position: LogPosition): number {
    const last = this.#versions.lastAt(this.#place.type, this.#place.name, position);
    return last === undefined ? 0 : last + 1;
  }
}
