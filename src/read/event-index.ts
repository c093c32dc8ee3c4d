import type { LogPosition } from '../log/log.ts';

/** A condition on an indexed field of events: one of the field's values must be one of `values`. */
export type EventClause = {
  readonly field: 'type' | 'name' | 'actor' | 'onBehalfOf' | 'user';
  readonly values: readonly string[];
};

/** A step of a walk: `at` is the position of an event if `found`, else the place of the next step. */
export type WalkStep = { readonly found: boolean; readonly at: LogPosition };

/** The positions of events that meet all conditions of a walk, in its order. */
export type EventWalk = {
  /**
   * Makes one step from `from` on, which takes a dozen microseconds. A caller makes as many steps as it has time for.
   * Undefined after the last position.
   */
  step(from: LogPosition): WalkStep | undefined;
};

/** Port of the index over all events of the log except leases. */
export type EventIndex = {
  /** `head`: a folded position of the present epoch. Undefined if the index cannot narrow the conditions. */
  walk(
    clauses: readonly EventClause[],
    options: { readonly order: 'oldest' | 'newest'; readonly head: LogPosition },
  ): EventWalk | undefined;
  /** The position of the last event before a place of the present epoch; undefined if no event is before the place. */
  before(place: LogPosition): LogPosition | undefined;
  /** The position of the first event after a place; undefined if no event is after the place. */
  after(place: LogPosition): LogPosition | undefined;
  /** The types of all objects in the history of the log. */
  objectTypes(): readonly string[];
};
