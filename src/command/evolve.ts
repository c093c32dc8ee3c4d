import type { HeldValue } from '../resource/type/held-values.ts';
import { unreachable } from '../base/unreachable.ts';
import type { ExpectedRevision, LogPosition, StreamRevision } from '../log/log.ts';
import type { ResourceObject } from '../resource/object/object.ts';
import type { ObjectEvent } from './event.ts';

/** The state of one object's stream. */
export type State =
  | { readonly kind: 'absent' }
  /** The object was deleted, or the last event is a fence for a name without an object. */
  | { readonly kind: 'deleted'; readonly revision: StreamRevision }
  | {
      readonly kind: 'live';
      readonly revision: StreamRevision;
      readonly position: LogPosition;
      readonly object: ResourceObject;
      /** The unique values of the object; undefined for a state from a row, because rows do not contain the values. */
      readonly values?: readonly HeldValue[];
    };

export type LiveState = State & { readonly kind: 'live' };

export const initialState: State = { kind: 'absent' };

/** Returns the expected revision of an append that is decided by this state. */
export function expectedOf(state: State): ExpectedRevision {
  return state.kind === 'absent' ? 'absent' : state.revision;
}

type EventPlace = {
  readonly revision: StreamRevision;
  readonly position: LogPosition;
};

/**
 * Returns the state after `event`. Accepts every event that `decide` returns.
 *
 * @throws Error if the event does not have the next revision.
 */
export function evolve(state: State, event: ObjectEvent, at: EventPlace): State {
  const expected = state.kind === 'absent' ? 0 : state.revision + 1;
  if (at.revision !== expected)
    throw new Error(`the next event must have revision ${String(expected)}, has ${String(at.revision)}`);
  switch (event.type) {
    case 'ObjectCreated':
    case 'ObjectUpdated':
    case 'ObjectDeletionRequested':
      return { kind: 'live', ...at, object: event.object, values: event.values };
    case 'NameFenced':
      return event.object === undefined
        ? { kind: 'deleted', revision: at.revision }
        : { kind: 'live', ...at, object: event.object, values: event.values };
    case 'ObjectDeleted':
      return { kind: 'deleted', revision: at.revision };
    default:
      return unreachable(event);
  }
}
