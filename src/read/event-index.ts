import type { LogPosition } from '../log/log.ts';

/** A condition on an indexed field of events: one of the field's values must be among `values`. */
export type EventClause = {
  readonly field: 'type' | 'name' | 'actor' | 'onBehalfOf' | 'user';
  readonly values: readonly string[];
};

/**
 * A step of a walk. If `found` is true, `at` is the position of an event; otherwise, the position for the next step.
 */
export type WalkStep = {
  readonly found: boolean;
  readonly at: LogPosition;
};

/** The positions of the events that meet all conditions of a walk, in the order of the walk. */
export type EventWalk = {
  /** Makes one step from `from`, which takes about a dozen microseconds. Returns undefined after the last position. */
  step(from: LogPosition): WalkStep | undefined;
};

type CursorOptions = {
  readonly order: 'oldest' | 'newest';
  readonly head: LogPosition;
};

/** The index of all events in the log, except for events of leases. */
export type EventIndex = {
  /**
   * Returns undefined if the index cannot check any condition faster than a read of the log. `head` is a folded
   * position of the current epoch.
   */
  walk(clauses: readonly EventClause[], options: CursorOptions): EventWalk | undefined;
  /** Returns the position of the last event before `place` in the current epoch; undefined without such an event. */
  before(place: LogPosition): LogPosition | undefined;
  /** Returns the position of the first event after `place`; undefined without such an event. */
  after(place: LogPosition): LogPosition | undefined;
  /** Returns the keys of all types that ever had objects in this log. */
  objectTypes(): readonly string[];
};
