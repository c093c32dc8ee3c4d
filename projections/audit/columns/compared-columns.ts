import type { IndexEntry, TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { ColumnLayout } from './segment/column-layout.ts';
import type { Segments } from './segment/segment.ts';

/**
 * A row in memory: the values of an object after a change. `entry` is undefined for a deletion. `name` is undefined for
 * a deletion that was read from the tables. `ordinal` is undefined until the name has an ordinal.
 */
export type LatestRow = {
  readonly position: number;
  readonly name: string | undefined;
  readonly ordinal: number | undefined;
  readonly entry: IndexEntry | undefined;
};

type NumberedName = {
  readonly name: string;
  readonly ordinal: number | undefined;
};

/**
 * The state of a type's columns in one turn, for a comparison with the log. Positions are within the epoch. A read of
 * dropped columns throws NotServedError.
 */
export type ComparedColumns = {
  readonly type: ResourceType;
  readonly layout: readonly ColumnLayout[];
  /** The position up to which no change is missing. */
  readonly through: number;
  /** The full segments of changes, which are never modified. */
  readonly sealed: Segments;
  /** The stored segment that is not full; undefined if there is none. `latest` contains its rows too. */
  readonly open: { readonly rows: number; readonly bytes: Buffer } | undefined;
  /** The rows in memory: all rows after the full segments. */
  readonly latest: readonly LatestRow[];
  readonly snapshots: readonly {
    readonly position: number;
    /** The number of full segments of changes before the snapshot. */
    readonly from: number;
    readonly stored: Segments;
    /**
     * Yields the segments of a correct snapshot, computed from the previous snapshot and the later changes. Yields
     * undefined for a pause.
     */
    readonly expected: () => Generator<Buffer | undefined, undefined, undefined>;
  }[];
  /** The number of objects at `through`. */
  readonly objects: number;
  /** The number of rows in full segments since the last snapshot. */
  readonly changed: number;
  /** The position of the last row in full segments. */
  readonly sealedThrough: number;
  /** Whether the type still has these columns, which new columns may replace. */
  readonly isCurrent: () => boolean;
  /** The number of ordinals. The ordinals begin with 0 and have no gaps. */
  readonly ordinals: number;
  readonly ordinal: (name: string) => number | undefined;
  /** Up to `limit` names after a name, with their ordinals. An ordinal is undefined in a damaged entry. */
  readonly names: (after: string | undefined, limit: number) => readonly NumberedName[];
};

/** `columns`: the columns that can be compared now. `others`: the other types with columns, each with the reason. */
export type ComparedTypes = {
  readonly columns: readonly ComparedColumns[];
  readonly others: readonly { readonly type: TypeKey; readonly reason: string }[];
};
