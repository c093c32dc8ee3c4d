import type { LogPosition } from '../log/log.ts';

/** A condition on an indexed field of events: one of the field's values must be one of `values`. */
export type EventClause = {
  readonly field: 'type' | 'name' | 'actor' | 'onBehalfOf' | 'user';
  readonly values: readonly string[];
};

/** A step of a walk. `at`: the position of an event if `found` is true, otherwise the position of the next step. */
export type WalkStep = {
  readonly found: boolean;
  readonly at: LogPosition;
};

/** The positions of the events that meet all conditions of a walk, in the order of the walk. */
export type EventWalk = {
  /**
   * Makes one step that begins at `from` and takes about a dozen microseconds. A caller makes as many steps as the time
   * in its turn allows. Returns undefined after the last position.
   */
  step(from: LogPosition): WalkStep | undefined;
};

type CursorOptions = {
  readonly order: 'oldest' | 'newest';
  readonly head: LogPosition;
};

/** The index of all events in the log, except those of leases. */
export type EventIndex = {
  /**
   * Returns undefined if the index cannot check any condition faster than a read of the log. `head`: a folded position
   * of the current epoch.
   */
  walk(clauses: readonly EventClause[], options: CursorOptions): EventWalk | undefined;
  /** The position of the last event before `place` in the current epoch; undefined if there is no such event. */
  before(place: LogPosition): LogPosition | undefined;
  /** The position of the first event after `place`; undefined if there is no such event. */
  after(place: LogPosition): LogPosition | undefined;
  /** The keys of all types that ever had objects in this log. */
  objectTypes(): readonly string[];
};
