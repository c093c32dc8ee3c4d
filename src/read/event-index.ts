import type { LogPosition } from '../log/log.ts';

/** A condition on an indexed field of events: any of its values. */
export type EventClause = { readonly field: 'type' | 'name' | 'actor'; readonly values: readonly string[] };

/** A step of a walk: an event's position, or a place before it at which to go on. */
export type WalkStep = { readonly found: boolean; readonly at: LogPosition };

/** The positions of events that meet all conditions of a walk, in its order. */
export type EventWalk = {
  /**
   * One step from `from` on, which takes a dozen microseconds: a caller takes as many as it has time for. Undefined
   * after the last position.
   */
  step(from: LogPosition): WalkStep | undefined;
};

/** Port of the index over all events of the log but leases. */
export type EventIndex = {
  /** `head`: a position of the log's present epoch, which the index has folded. Undefined if the index has no help. */
  walk(
    clauses: readonly EventClause[],
    options: { readonly order: 'oldest' | 'newest'; readonly head: LogPosition },
  ): EventWalk | undefined;
  /** The last position before a place of the present epoch; undefined if it is before all events. */
  before(place: LogPosition): LogPosition | undefined;
  /** The first position after a place. */
  after(place: LogPosition): LogPosition | undefined;
  /** The types of all objects that ever were. */
  objectTypes(): readonly string[];
};
